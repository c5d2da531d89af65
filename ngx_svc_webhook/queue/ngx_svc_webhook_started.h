/*
 * Started attempts: Redis records each attempt before it starts.
 *
 * A receiver may make this process crash.  The helper that takes over has to
 * know which deliveries had a started attempt, or the same receiver would end
 * one helper after the other.
 */

#ifndef _NGX_SVC_WEBHOOK_STARTED_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_STARTED_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* recorded: 1 if Redis has recorded the attempt; 0: it must not start. */
typedef void (*ngx_svc_webhook_started_pt)(void *data, ngx_uint_t recorded);


/*
 * Records that the next attempt of d is to start.  The handler is called once,
 * from within this call, from within the flush, or later; d must live until it
 * returns.  NGX_ERROR: no memory, and the handler will not be called.
 */
ngx_int_t ngx_svc_webhook_started(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_started_pt handler, void *data);

/* Sends the attempts that were added. */
void ngx_svc_webhook_started_flush(void);


#endif /* _NGX_SVC_WEBHOOK_STARTED_H_INCLUDED_ */
