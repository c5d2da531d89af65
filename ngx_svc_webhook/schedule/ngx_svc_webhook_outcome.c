/*
 * The outcomes of deliveries.
 */

#include "ngx_svc_webhook_outcome.h"
#include "ngx_svc_metrics.h"


/* ms after so many attempts. */

static const ngx_msec_t  ngx_svc_webhook_pauses[NGX_SVC_WEBHOOK_ATTEMPTS] = {
    0, 1000, 5000
};


ngx_svc_webhook_record_e
ngx_svc_webhook_attempt_ended(ngx_svc_webhook_delivery_t *d,
    ngx_svc_outbound_result_t *result)
{
    ngx_svc_metric_e          metric;
    ngx_svc_webhook_record_e  outcome;

    d->attempts += (result->outcome != NGX_SVC_OUTBOUND_OVERFLOW
                    && result->outcome != NGX_SVC_OUTBOUND_FATAL);

    if (result->outcome == NGX_SVC_OUTBOUND_ACKNOWLEDGED) {
        metric = NGX_SVC_M_ACKNOWLEDGED;
        outcome = NGX_SVC_WEBHOOK_R_ACKNOWLEDGED;

    } else if (result->outcome == NGX_SVC_OUTBOUND_REFUSED) {
        metric = NGX_SVC_M_REFUSED;
        outcome = NGX_SVC_WEBHOOK_R_REFUSED;

    } else if (result->outcome == NGX_SVC_OUTBOUND_OVERFLOW) {
        metric = NGX_SVC_M_DROPPED_ENDPOINT;
        outcome = NGX_SVC_WEBHOOK_R_DROPPED;

    } else if (result->outcome == NGX_SVC_OUTBOUND_FAILED
               && d->attempts < NGX_SVC_WEBHOOK_ATTEMPTS)
    {
        metric = NGX_SVC_M_RETRIED;
        outcome = NGX_SVC_WEBHOOK_R_RETRIED;

    } else {
        metric = result->refused ? NGX_SVC_M_REFUSED : NGX_SVC_M_ABANDONED;
        outcome = NGX_SVC_WEBHOOK_R_ABANDONED;
    }

    ngx_svc_metric_add(metric, 1);
    ngx_svc_webhook_record(d, result, outcome);

    return outcome;
}


void
ngx_svc_webhook_no_attempt(ngx_svc_outbound_result_t *result,
    ngx_svc_outbound_outcome_e outcome, const ngx_str_t *why)
{
    ngx_time_t  *tp;

    ngx_memzero(result, sizeof(ngx_svc_outbound_result_t));

    tp = ngx_timeofday();

    result->outcome = outcome;
    result->began = (int64_t) tp->sec * 1000 + tp->msec;

    if (outcome == NGX_SVC_OUTBOUND_REFUSED) {
        result->refused = 1;
        ngx_svc_outbound_reason(result, "refused: \"url\" must have a public "
                                "host");
        ngx_svc_outbound_detail(result, "refused: %V", why);
        return;
    }

    ngx_svc_outbound_reason(result, "%V", why);
}


ngx_msec_t
ngx_svc_webhook_pause(ngx_svc_webhook_delivery_t *d)
{
    ngx_msec_t  pause;

    pause = ngx_svc_webhook_pauses[ngx_min(d->attempts,
                                           NGX_SVC_WEBHOOK_ATTEMPTS - 1)];

    return pause - pause / 5 + ngx_random() % (2 * pause / 5 + 1);
}
