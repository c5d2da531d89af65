/*
 * Outbound SCIM: what an answer tells about the target itself.
 */

#include "ngx_svc_push_outcome.h"

#include "ngx_svc_log_limit.h"
#include "ngx_svc_metrics.h"


#define NGX_SVC_PUSH_REST       60000       /* ms, without Retry-After */
#define NGX_SVC_PUSH_REST_MAX   3600000
#define NGX_SVC_PUSH_FAIL       900000      /* ms, doubled with each failure */
#define NGX_SVC_PUSH_FAIL_MAX   86400000
#define NGX_SVC_PUSH_AWAY       1000        /* ms, doubled; the name leads
                                               nowhere */
#define NGX_SVC_PUSH_AWAY_MAX   600000
#define NGX_SVC_PUSH_AWAY_FAIL  60000       /* ms; from this delay on it
                                               fails */

#define NGX_SVC_PUSH_LINES    10        /* in the log, per minute */
#define NGX_SVC_PUSH_MINUTE   60000     /* ms */


static void ngx_svc_push_outcome_well(ngx_svc_push_work_t *work);
static void ngx_svc_push_outcome_failing(ngx_svc_push_work_t *work,
    const ngx_svc_push_answer_t *answer);
static ngx_msec_t ngx_svc_push_outcome_delay(ngx_uint_t failures,
    ngx_msec_t first, ngx_msec_t max);


static ngx_svc_log_limit_t  ngx_svc_push_outcome_lines;


void
ngx_svc_push_outcome(ngx_svc_push_work_t *work,
    const ngx_svc_push_answer_t *answer)
{
    if (work->paused && !ngx_svc_push_due(work->not_before)) {
        return;
    }

    switch (answer->outcome) {

    case NGX_SVC_PUSH_DONE:
        ngx_svc_push_outcome_well(work);
        return;

    case NGX_SVC_PUSH_PAUSE:
        work->delay = answer->delay ? answer->delay : NGX_SVC_PUSH_REST;
        work->delay = ngx_min(work->delay, NGX_SVC_PUSH_REST_MAX);
        work->failing = work->failures > 0;
        break;

    case NGX_SVC_PUSH_FAILING:
    case NGX_SVC_PUSH_REFUSED:
        ngx_svc_push_outcome_failing(work, answer);
        break;

    default:
        return;
    }

    work->error.data = work->error_text;
    work->error.len = ngx_min(answer->error.len, NGX_SVC_PUSH_ERROR);
    ngx_memcpy(work->error_text, answer->error.data, work->error.len);

    work->paused = 1;
    work->trouble = 1;
    work->state = 1;
    work->not_before = ngx_current_msec + work->delay;
}


static void
ngx_svc_push_outcome_well(ngx_svc_push_work_t *work)
{
    if (!work->failures && !work->trouble) {
        return;
    }

    work->failures = 0;
    work->failing = 0;
    work->trouble = 0;
    work->paused = 0;
    work->error.len = 0;
    work->state = 1;
}


/*
 * A name that leads nowhere may be due to a name server that is down, so it is
 * tried again soon.  A name that leads to a private address looks the same.
 */

static void
ngx_svc_push_outcome_failing(ngx_svc_push_work_t *work,
    const ngx_svc_push_answer_t *answer)
{
    ngx_uint_t  level;

    if (answer->nowhere) {
        work->delay = ngx_svc_push_outcome_delay(work->failures,
                                                 NGX_SVC_PUSH_AWAY,
                                                 NGX_SVC_PUSH_AWAY_MAX);
        work->failing = work->delay >= NGX_SVC_PUSH_AWAY_FAIL;

    } else {
        work->delay = ngx_svc_push_outcome_delay(work->failures,
                                                 NGX_SVC_PUSH_FAIL,
                                                 NGX_SVC_PUSH_FAIL_MAX);
        work->failing = 1;
    }

    work->failures = ngx_min(work->failures + 1, 100);

    level = work->failing ? NGX_LOG_ERR : NGX_LOG_WARN;

    ngx_log_error(level, ngx_cycle->log, 0,
                  "SCIM target %V of tenant %V fails, it is tried again in "
                  "%M s: %V, status %ui", &work->id.str,
                  &work->tenant->node.str, work->delay / 1000, &answer->error,
                  answer->status);
}


static ngx_msec_t
ngx_svc_push_outcome_delay(ngx_uint_t failures, ngx_msec_t first,
    ngx_msec_t max)
{
    return ngx_min(first << ngx_min(failures, 12), max);
}


void
ngx_svc_push_outcome_log(ngx_svc_push_work_t *work, const ngx_svc_push_t *push)
{
    ngx_uint_t                    level;
    const ngx_svc_push_answer_t  *answer;

    static const ngx_svc_metric_e  metrics[] = {
        NGX_SVC_M_SCIM_DONE, NGX_SVC_M_SCIM_RETRIED, NGX_SVC_M_SCIM_PAUSED,
        NGX_SVC_M_SCIM_FAILING, NGX_SVC_M_SCIM_REFUSED, NGX_SVC_M_SCIM_USER
    };

    answer = &push->answer;

    ngx_svc_metric_add(metrics[answer->outcome], 1);

    if (answer->outcome != NGX_SVC_PUSH_RETRY
        && answer->outcome != NGX_SVC_PUSH_USER)
    {
        return;
    }

    level = ngx_svc_log_limit_level(&ngx_svc_push_outcome_lines,
                                    NGX_SVC_PUSH_LINES, NGX_SVC_PUSH_MINUTE,
                                    NGX_LOG_WARN);

    ngx_log_error(level, ngx_cycle->log, 0,
                  "user %V is not pushed to SCIM target %V of tenant %V: %V, "
                  "status %ui", &push->want.id, &work->id.str,
                  &work->tenant->node.str, &answer->error, answer->status);
}
