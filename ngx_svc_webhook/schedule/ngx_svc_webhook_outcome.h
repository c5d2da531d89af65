/*
 * The outcomes of deliveries, after an attempt or without one.
 */

#ifndef _NGX_SVC_WEBHOOK_OUTCOME_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_OUTCOME_H_INCLUDED_


#include "ngx_svc_webhook_record.h"


/*
 * Counts and records an outcome.  All but NGX_SVC_WEBHOOK_R_RETRIED are final.
 */
ngx_svc_webhook_record_e ngx_svc_webhook_attempt_ended(
    ngx_svc_webhook_delivery_t *d, ngx_svc_outbound_result_t *result);

/* Sets the result of a delivery that is given up without an attempt. */
void ngx_svc_webhook_no_attempt(ngx_svc_outbound_result_t *result,
    ngx_svc_outbound_outcome_e outcome, const ngx_str_t *why);

/* Returns ms until the next attempt, at random within a fifth more or less. */
ngx_msec_t ngx_svc_webhook_pause(ngx_svc_webhook_delivery_t *d);


#endif /* _NGX_SVC_WEBHOOK_OUTCOME_H_INCLUDED_ */
