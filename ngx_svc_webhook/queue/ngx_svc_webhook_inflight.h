/*
 * The in-flight set of this helper: deliveries that it has taken from the
 * queue, and whose end Redis has not confirmed yet.  In Redis it is a hash.
 */

#ifndef _NGX_SVC_WEBHOOK_INFLIGHT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_INFLIGHT_H_INCLUDED_


#include "ngx_svc_webhook_queue.h"
#include "ngx_svc_webhook_script.h"


/*
 * Called at the helper's start.  hash: the set's name in Redis, which may
 * change.
 */
void ngx_svc_webhook_inflight_init(ngx_log_t *log, ngx_str_t *hash,
    const ngx_svc_webhook_queue_handlers_t *handlers);

/*
 * Adds an entry from Redis, and gives it to the handler deliver, unless the
 * set has it already.  An entry that is damaged is dropped.  started: number
 * of the delivery's attempt that had started, as Redis says; or 0.  NGX_ERROR:
 * no memory.
 */
ngx_int_t ngx_svc_webhook_inflight_add(redisReply *entry, ngx_uint_t started);

/*
 * Called by the handler deliver if it has no memory: frees the delivery, which
 * will come again.
 */
void ngx_svc_webhook_inflight_refuse(ngx_svc_webhook_delivery_t *d);

/*
 * The deliveries belong to others now: sends the outcomes that wait, and
 * forgets the rest.  The scheduler frees its own.
 */
void ngx_svc_webhook_inflight_forget(void);

/* Returns the number of deliveries. */
ngx_uint_t ngx_svc_webhook_inflight_count(void);

/* Returns the name of the hash in Redis. */
const ngx_str_t *ngx_svc_webhook_inflight_hash(void);


#endif /* _NGX_SVC_WEBHOOK_INFLIGHT_H_INCLUDED_ */
