/*
 * Deliveries in Redis.
 */

#ifndef _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_


#include "ngx_svc_webhook.h"


/*
 * In a worker: deliveries of one event, all of one tenant, or none of them when
 * there is no room for all.  Never waits; the text is copied, and kept while
 * Redis is away.  What Redis does not take is counted and logged.  NGX_OK: it
 * is on its way; NGX_DECLINED: dropped, too much is kept already.
 */
ngx_int_t ngx_svc_webhook_queue_push(ngx_svc_webhook_delivery_t *deliveries,
    ngx_uint_t n);


/*
 * In the helper: begins to take deliveries, each of which goes to
 * ngx_svc_webhook_deliver(); and takes no more.  id: the helper's, of
 * NGX_SVC_WEBHOOK_ID digits.  before: of a helper that has ended, or empty.
 * renamed is told of another id that the helper has taken.
 */
ngx_int_t ngx_svc_webhook_queue_start(ngx_cycle_t *cycle, const u_char *id,
    const ngx_str_t *before, void (*renamed)(const u_char *id));
void ngx_svc_webhook_queue_stop(void);

/*
 * Tells Redis the last outcomes, and leaves what is still in hand to others;
 * calls left, once, when it is done, or when Redis is down.
 */
void ngx_svc_webhook_queue_leave(void (*left)(void));

/*
 * The outcome of a delivery is final: it leaves Redis, and is freed.  An
 * attempt has ended, another one is due: d->attempts is kept for a successor.
 */
void ngx_svc_webhook_queue_done(ngx_svc_webhook_delivery_t *d);
void ngx_svc_webhook_queue_retry(ngx_svc_webhook_delivery_t *d);

/*
 * What will not be attempted by this helper any more goes back to the queue,
 * with d->attempts, and is freed.
 */
void ngx_svc_webhook_queue_return(ngx_svc_webhook_delivery_t *d);

/* For ngx_svc_webhook_deliver(): no memory.  Frees it; it will come again. */
void ngx_svc_webhook_queue_refuse(ngx_svc_webhook_delivery_t *d);


#endif /* _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_ */
