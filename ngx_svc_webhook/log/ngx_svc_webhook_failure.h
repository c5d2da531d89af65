/*
 * Failed deliveries in the error log.  Each endpoint has some lines a minute;
 * further failures become one line, and one audit event.
 */

#ifndef _NGX_SVC_WEBHOOK_FAILURE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_FAILURE_H_INCLUDED_


#include "ngx_svc_outbound_result.h"


typedef enum {
    NGX_SVC_WEBHOOK_R_ACKNOWLEDGED = 0,
    NGX_SVC_WEBHOOK_R_RETRIED,
    NGX_SVC_WEBHOOK_R_ABANDONED,
    NGX_SVC_WEBHOOK_R_REFUSED,
    NGX_SVC_WEBHOOK_R_DROPPED               /* without an attempt */
} ngx_svc_webhook_record_e;


/* n deliveries to the endpoint have failed without a line of their own. */
typedef void (*ngx_svc_webhook_failure_pt)(ngx_str_t *tenant,
    ngx_str_t *endpoint, ngx_uint_t n);


/* Called at the helper's start. */
ngx_int_t ngx_svc_webhook_failure_init(ngx_cycle_t *cycle,
    ngx_svc_webhook_failure_pt more);

/* Called at the helper's end. */
void ngx_svc_webhook_failure_exit(void);

/* Logs a failure; returns 1 if it has a line of its own. */
ngx_uint_t ngx_svc_webhook_failure(ngx_svc_webhook_delivery_t *d,
    ngx_svc_outbound_result_t *result, ngx_svc_webhook_record_e outcome);

/* Writes now the lines that are due at the end of the minute. */
void ngx_svc_webhook_failure_flush(void);


#endif /* _NGX_SVC_WEBHOOK_FAILURE_H_INCLUDED_ */
