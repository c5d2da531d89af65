/*
 * Deliveries in Redis.
 */

#ifndef _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_


#include "ngx_svc_webhook.h"


/*
 * In a worker: deliveries of one event, all of one tenant, or none of them when
 * there is no room for all.  Never waits; the text is copied.  What Redis does
 * not take is counted and logged.  NGX_OK: it is on its way; NGX_DECLINED:
 * Redis is down, dropped.
 */
ngx_int_t ngx_svc_webhook_queue_push(ngx_svc_webhook_delivery_t *deliveries,
    ngx_uint_t n);


/*
 * In the helper: begins to take deliveries, each of which goes to
 * ngx_svc_webhook_deliver(); and takes no more.
 */
ngx_int_t ngx_svc_webhook_queue_start(ngx_cycle_t *cycle);
void ngx_svc_webhook_queue_stop(void);

/*
 * The outcome of a delivery is final: it leaves Redis, and is freed.  An attempt
 * has ended, another one is due: d->attempts is kept for a successor.
 */
void ngx_svc_webhook_queue_done(ngx_svc_webhook_delivery_t *d);
void ngx_svc_webhook_queue_retry(ngx_svc_webhook_delivery_t *d);


#endif /* _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_ */
