/*
 * An attempt to deliver to a webhook: a signed POST over HTTPS.
 */

#ifndef _NGX_SVC_WEBHOOK_ATTEMPT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ATTEMPT_H_INCLUDED_


#include "ngx_svc_curl.h"
#include "ngx_svc_outbound_result.h"
#include "ngx_svc_webhook_endpoint.h"


typedef struct ngx_svc_webhook_attempt_s  ngx_svc_webhook_attempt_t;

/* The attempt was freed; result lives until the handler returns. */
typedef void (*ngx_svc_webhook_attempt_pt)(void *data,
    ngx_svc_outbound_result_t *result);


/* Called at the helper's start. */
ngx_int_t ngx_svc_webhook_attempt_init(ngx_cycle_t *cycle);

/* Called at the helper's end, when no attempt is under way. */
void ngx_svc_webhook_attempt_exit(void);

/*
 * Sends d, which must outlive the attempt; nothing of the endpoint is kept.
 * connected: a kept connection is likely to be used.  The handler is called
 * once, never from within this call.  NULL: no memory.
 */
ngx_svc_webhook_attempt_t *ngx_svc_webhook_attempt(
    ngx_svc_webhook_delivery_t *d, ngx_svc_webhook_endpoint_t *endpoint,
    ngx_uint_t connected, ngx_svc_webhook_attempt_pt handler, void *data);

/* Breaks off an attempt: the handler will not be called. */
void ngx_svc_webhook_attempt_cancel(ngx_svc_webhook_attempt_t *attempt);


#endif /* _NGX_SVC_WEBHOOK_ATTEMPT_H_INCLUDED_ */
