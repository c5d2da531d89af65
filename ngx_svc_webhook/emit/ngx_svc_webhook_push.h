/*
 * In a worker: an event's deliveries go to the queue in Redis.
 */

#ifndef _NGX_SVC_WEBHOOK_PUSH_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_PUSH_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* The arguments of the script before the first event, and those before an
   event's entries. */
#define NGX_SVC_WEBHOOK_PUSH_HEAD   4
#define NGX_SVC_WEBHOOK_PUSH_EVENT  2


/*
 * rc: NGX_OK: Redis has answered, and what it had no place for is counted;
 * NGX_DECLINED: it has not taken the delivery, as far as is known.
 */
typedef void (*ngx_svc_webhook_pushed_pt)(ngx_int_t rc, void *data);

/* A call of ngx_svc_webhook_push_one() that is not answered. */
typedef struct ngx_svc_webhook_push_s  ngx_svc_webhook_push_t;


/*
 * Deliveries of one event, all of one tenant, are queued at once, or none of
 * them when there is no room for all.  Never waits.  What Redis does not take
 * is left to the outbox.
 */
void ngx_svc_webhook_push(ngx_pool_t *pool,
    ngx_svc_webhook_delivery_t *deliveries, ngx_uint_t n);

/*
 * One that no outbox has.  NGX_OK: the handler will be called, once, and never
 * from within this call, unless ngx_svc_webhook_push_cancel() is called before
 * it.  NGX_DECLINED: Redis is down, or does not answer; NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_webhook_push_one(ngx_pool_t *pool,
    ngx_svc_webhook_delivery_t *d, ngx_svc_webhook_pushed_pt handler,
    void *data, ngx_svc_webhook_push_t **push);
void ngx_svc_webhook_push_cancel(ngx_svc_webhook_push_t *push);

/*
 * For arguments of the script: the first NGX_SVC_WEBHOOK_PUSH_HEAD of them; and
 * a delivery's entry, of the pool.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_webhook_push_head(ngx_str_t *args, ngx_pool_t *pool);
ngx_int_t ngx_svc_webhook_push_entry(ngx_str_t *entry, ngx_pool_t *pool,
    const ngx_svc_webhook_delivery_t *d);


#endif /* _NGX_SVC_WEBHOOK_PUSH_H_INCLUDED_ */
