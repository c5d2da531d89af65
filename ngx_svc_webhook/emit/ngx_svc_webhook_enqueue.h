/*
 * In a worker: queues an event's deliveries in Redis.
 */

#ifndef _NGX_SVC_WEBHOOK_ENQUEUE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ENQUEUE_H_INCLUDED_


#include "ngx_svc_webhook.h"


/*
 * The number of the script's arguments before the first event, and of those
 * before an event's entries.
 */
#define NGX_SVC_WEBHOOK_ENQUEUE_HEAD   4
#define NGX_SVC_WEBHOOK_ENQUEUE_EVENT  2


/*
 * rc: NGX_OK: it is queued; NGX_BUSY: there is no place, which is counted;
 * NGX_DONE: it is known, as it is queued or in flight or has ended in the last
 * minute, and is not queued again; NGX_DECLINED: Redis has not taken it, as
 * far as is known.
 */
typedef void (*ngx_svc_webhook_enqueued_pt)(ngx_int_t rc, void *data);

/* A call of ngx_svc_webhook_enqueue_one() that is under way. */
typedef struct ngx_svc_webhook_enqueue_s  ngx_svc_webhook_enqueue_t;


/*
 * Queues the deliveries of one event, all of one tenant: all of them, or none
 * if there is not enough room.  Never waits.  What Redis does not take is left
 * to the outbox.
 */
void ngx_svc_webhook_enqueue(ngx_pool_t *pool,
    ngx_svc_webhook_delivery_t *deliveries, ngx_uint_t n);

/*
 * Queues a delivery that the outbox does not have.  NGX_OK: the handler will
 * be called once, and never from within this call, unless
 * ngx_svc_webhook_enqueue_cancel() is called.  NGX_DECLINED: Redis is down, or
 * does not answer; NGX_ERROR: no memory.
 */
ngx_int_t ngx_svc_webhook_enqueue_one(ngx_pool_t *pool,
    ngx_svc_webhook_delivery_t *d, ngx_svc_webhook_enqueued_pt handler,
    void *data, ngx_svc_webhook_enqueue_t **call);

/* The handler of the call will not be called. */
void ngx_svc_webhook_enqueue_cancel(ngx_svc_webhook_enqueue_t *call);

/*
 * Sets the first NGX_SVC_WEBHOOK_ENQUEUE_HEAD arguments of the script.  NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_webhook_enqueue_head(ngx_str_t *args, ngx_pool_t *pool);

/* Writes a delivery's entry, in the pool.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_webhook_enqueue_entry(ngx_str_t *entry, ngx_pool_t *pool,
    const ngx_svc_webhook_delivery_t *d);


#endif /* _NGX_SVC_WEBHOOK_ENQUEUE_H_INCLUDED_ */
