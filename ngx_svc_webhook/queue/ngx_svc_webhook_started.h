/*
 * Started attempts: Redis records each of them before it starts.
 *
 * A receiver may make this process crash.  Whoever takes its deliveries over
 * has to know of which of them an attempt had started, or the same receiver
 * would end one helper after the other.
 */

#ifndef _NGX_SVC_WEBHOOK_STARTED_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_STARTED_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* recorded: Redis counts the attempt; 0: it must not start. */
typedef void (*ngx_svc_webhook_started_pt)(void *data, ngx_uint_t recorded);


/*
 * The attempt of d behind those that have ended is to start.  The handler is
 * called once, from within either of these or later; d must last until that
 * returns.  NGX_ERROR: memory, it will not be called.
 */
ngx_int_t ngx_svc_webhook_started(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_started_pt handler, void *data);

/* Sends what has been added. */
void ngx_svc_webhook_started_flush(void);


#endif /* _NGX_SVC_WEBHOOK_STARTED_H_INCLUDED_ */
