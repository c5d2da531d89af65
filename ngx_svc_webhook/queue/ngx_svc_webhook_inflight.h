/*
 * The in-flight set of this helper: deliveries that it has taken from the
 * queue, and whose end Redis has not confirmed yet.  In Redis a hash.
 */

#ifndef _NGX_SVC_WEBHOOK_INFLIGHT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_INFLIGHT_H_INCLUDED_


#include "ngx_svc_webhook_queue.h"
#include "ngx_svc_webhook_script.h"


/* At the helper's start.  hash: name of the hash in Redis, which may change. */
void ngx_svc_webhook_inflight_init(ngx_log_t *log, ngx_str_t *hash,
    const ngx_svc_webhook_queue_handlers_t *handlers);

/*
 * An entry as it came from Redis: goes to the handler deliver, unless it is in
 * the set already.  What is damaged is dropped.  started: the number of its
 * attempt that had started, for all that Redis knows; or 0.  NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_webhook_inflight_add(redisReply *entry, ngx_uint_t started);

/* For the handler deliver: no memory.  Frees it; it will come again. */
void ngx_svc_webhook_inflight_refuse(ngx_svc_webhook_delivery_t *d);

/*
 * The deliveries belong to others: acknowledgements that wait are sent, the
 * rest is forgotten.  The scheduler frees what it has.
 */
void ngx_svc_webhook_inflight_forget(void);

/* How many there are. */
ngx_uint_t ngx_svc_webhook_inflight_count(void);

/* The name of the hash in Redis. */
const ngx_str_t *ngx_svc_webhook_inflight_hash(void);


#endif /* _NGX_SVC_WEBHOOK_INFLIGHT_H_INCLUDED_ */
