/*
 * What becomes of a delivery when an attempt has ended, or none is made.
 */

#ifndef _NGX_SVC_WEBHOOK_OUTCOME_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_OUTCOME_H_INCLUDED_


#include "ngx_svc_webhook_record.h"


/* Counts and records it.  NGX_SVC_WEBHOOK_R_RETRIED: the only one not final. */
ngx_svc_webhook_record_e ngx_svc_webhook_attempt_ended(
    ngx_svc_webhook_delivery_t *d, ngx_svc_webhook_result_t *result);

/* The result of no attempt: none is of any use, and why. */
void ngx_svc_webhook_no_attempt(ngx_svc_webhook_result_t *result,
    ngx_svc_webhook_outcome_e outcome, const ngx_str_t *why);

/* How long the next attempt is to wait, in ms, give or take a fifth. */
ngx_msec_t ngx_svc_webhook_pause(ngx_svc_webhook_delivery_t *d);


#endif /* _NGX_SVC_WEBHOOK_OUTCOME_H_INCLUDED_ */
