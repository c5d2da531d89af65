/*
 * Outbound SCIM: users on their way to targets.
 */

#include "ngx_svc_push_fly.h"
#include "ngx_svc_push_probe.h"
#include "ngx_svc_push_user.h"
#include "ngx_svc_webhook.h"

#include "ngx_svc_log_limit.h"
#include "ngx_svc_metrics.h"


#define NGX_SVC_PUSH_NODE     64        /* at a time */
#define NGX_SVC_PUSH_TENANT   8
#define NGX_SVC_PUSH_ONE      4         /* of a target */

#define NGX_SVC_PUSH_REST       60000       /* ms, when it does not say */
#define NGX_SVC_PUSH_REST_MAX   3600000
#define NGX_SVC_PUSH_FAIL       900000      /* doubled with each failure */
#define NGX_SVC_PUSH_FAIL_MAX   86400000

#define NGX_SVC_PUSH_LINES    10        /* in the log */
#define NGX_SVC_PUSH_MINUTE   60000     /* ms, in which there are so many */


typedef struct {
    ngx_uint_t             n;
    ngx_queue_t            waiting;     /* works, for a place */
    void                 (*step)(ngx_svc_push_work_t *work);
    ngx_svc_log_limit_t    lines;
} ngx_svc_push_flights_t;


static ngx_uint_t ngx_svc_push_fly_may(ngx_svc_push_work_t *work);
static void ngx_svc_push_fly_fill(ngx_svc_push_work_t *work);
static ngx_int_t ngx_svc_push_fly_start(ngx_svc_push_work_t *work,
    ngx_svc_push_item_t *item);
static void ngx_svc_push_flown(ngx_svc_push_t *push);
static void ngx_svc_push_fly_result(ngx_svc_push_work_t *work,
    ngx_svc_push_item_t *item);
static void ngx_svc_push_fly_outcome(ngx_svc_push_work_t *work,
    ngx_svc_push_outcome_e outcome, ngx_msec_t delay, ngx_uint_t status,
    const ngx_str_t *error);
static void ngx_svc_push_fly_failing(ngx_svc_push_work_t *work,
    ngx_uint_t status, const ngx_str_t *error);
static void ngx_svc_push_fly_log(ngx_svc_push_work_t *work,
    const ngx_svc_push_t *push);
static void ngx_svc_push_fly_next(void);
static void ngx_svc_push_probed(ngx_svc_push_probe_t *probe);


static ngx_svc_push_flights_t  ngx_svc_push_flights;


void
ngx_svc_push_fly_init(void (*step)(ngx_svc_push_work_t *work))
{
    ngx_queue_init(&ngx_svc_push_flights.waiting);
    ngx_svc_push_flights.step = step;
}


ngx_uint_t
ngx_svc_push_fly_count(void)
{
    return ngx_svc_push_flights.n;
}


/* --- places, and the rate ---------------------------------------------- */

void
ngx_svc_push_fly(ngx_svc_push_work_t *work)
{
    ngx_queue_t          *q;
    ngx_svc_push_item_t  *item;

    ngx_queue_remove(&work->waiting);
    ngx_queue_init(&work->waiting);

    while (!ngx_queue_empty(&work->ready)
           && work->nflying < NGX_SVC_PUSH_ONE)
    {
        q = ngx_queue_head(&work->ready);
        item = ngx_queue_data(q, ngx_svc_push_item_t, queue);

        if (!item->same && !ngx_svc_push_fly_may(work)) {
            return;
        }

        ngx_queue_remove(q);
        work->nready--;

        if (item->same) {
            item->push.outcome = NGX_SVC_PUSH_DONE;
            ngx_svc_push_fly_result(work, item);

        } else if (ngx_svc_push_fly_start(work, item) != NGX_OK) {
            item->push.outcome = NGX_SVC_PUSH_RETRY;
            ngx_svc_push_fly_result(work, item);
        }
    }
}


static ngx_uint_t
ngx_svc_push_fly_may(ngx_svc_push_work_t *work)
{
    if (ngx_svc_push_flights.n >= NGX_SVC_PUSH_NODE
        || work->tenant->nflying >= NGX_SVC_PUSH_TENANT)
    {
        ngx_queue_insert_tail(&ngx_svc_push_flights.waiting, &work->waiting);
        return 0;
    }

    ngx_svc_push_fly_fill(work);

    return ngx_svc_webhook_conf()->push.rate == 0 || work->tokens >= 1000;
}


/* As much as a second lets is kept. */

static void
ngx_svc_push_fly_fill(ngx_svc_push_work_t *work)
{
    ngx_int_t   rate;
    ngx_msec_t  elapsed;

    rate = ngx_svc_webhook_conf()->push.rate;
    elapsed = ngx_min(ngx_current_msec - work->filled, 60000);

    work->filled = ngx_current_msec;
    work->tokens = ngx_min(work->tokens + (ngx_int_t) elapsed * rate,
                           1000 * rate);
}


ngx_msec_t
ngx_svc_push_fly_when(ngx_svc_push_work_t *work)
{
    ngx_int_t  rate, lacks;

    rate = ngx_svc_webhook_conf()->push.rate;
    lacks = 1000 - work->tokens;

    if (rate == 0 || lacks <= 0 || work->nflying >= NGX_SVC_PUSH_ONE) {
        return ngx_current_msec + 1000;
    }

    return ngx_current_msec + lacks / rate + 1;
}


/* Who has waited longest has the place that has become free. */

static void
ngx_svc_push_fly_next(void)
{
    ngx_uint_t            n;
    ngx_queue_t          *q, *waiting;
    ngx_svc_push_work_t  *work;

    waiting = &ngx_svc_push_flights.waiting;

    for (n = 0; n < NGX_SVC_PUSH_NODE && !ngx_queue_empty(waiting)
                && ngx_svc_push_flights.n < NGX_SVC_PUSH_NODE; n++)
    {
        q = ngx_queue_head(waiting);
        ngx_queue_remove(q);
        ngx_queue_init(q);

        work = ngx_queue_data(q, ngx_svc_push_work_t, waiting);
        ngx_svc_push_flights.step(work);
    }
}


/* --- a user ------------------------------------------------------------ */

static ngx_int_t
ngx_svc_push_fly_start(ngx_svc_push_work_t *work, ngx_svc_push_item_t *item)
{
    item->push.target = &work->conf->target;
    item->push.handler = ngx_svc_push_flown;

    if (ngx_svc_push_user(&item->push) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_queue_insert_tail(&work->flying, &item->queue);

    work->nflying++;
    work->tenant->nflying++;
    work->tokens -= 1000;
    ngx_svc_push_flights.n++;

    return NGX_OK;
}


static void
ngx_svc_push_flown(ngx_svc_push_t *push)
{
    ngx_svc_push_item_t  *item;
    ngx_svc_push_work_t  *work;

    item = push->data;
    work = item->work;

    ngx_queue_remove(&item->queue);

    work->nflying--;
    work->tenant->nflying--;
    ngx_svc_push_flights.n--;

    if (push->requests > 1) {
        work->tokens -= 1000 * (ngx_int_t) (push->requests - 1);
    }

    /* what a version before this one has said is nothing of this one */

    if (work->conf->version == work->version) {

        if (push->no_patch) {
            work->no_patch = 1;
            work->conf->target.patch = 0;
        }

        ngx_svc_push_fly_outcome(work, push->outcome, push->delay,
                                 push->status, &push->error);
    }

    ngx_svc_push_fly_log(work, push);
    ngx_svc_push_fly_result(work, item);

    ngx_svc_push_flights.step(work);
    ngx_svc_push_fly_next();
}


static void
ngx_svc_push_fly_result(ngx_svc_push_work_t *work, ngx_svc_push_item_t *item)
{
    ngx_queue_insert_tail(&work->results, &item->queue);

    if (work->nresults++ == 0) {
        work->first = ngx_current_msec;
    }
}


/* What it says of the target; users on their way may say the same. */

static void
ngx_svc_push_fly_outcome(ngx_svc_push_work_t *work,
    ngx_svc_push_outcome_e outcome, ngx_msec_t delay, ngx_uint_t status,
    const ngx_str_t *error)
{
    if (outcome == NGX_SVC_PUSH_DONE) {

        if ((work->failures || work->trouble)
            && !(work->paused && !ngx_svc_push_due(work->not_before)))
        {
            work->failures = 0;
            work->trouble = 0;
            work->paused = 0;
            work->error.len = 0;
            work->state = 1;
        }

        return;
    }

    if (outcome != NGX_SVC_PUSH_PAUSE && outcome != NGX_SVC_PUSH_FAILING
        && outcome != NGX_SVC_PUSH_REFUSED)
    {
        return;
    }

    if (work->paused && !ngx_svc_push_due(work->not_before)) {
        return;
    }

    work->error.data = work->error_text;
    work->error.len = ngx_min(error->len, NGX_SVC_PUSH_ERROR);
    ngx_memcpy(work->error_text, error->data, work->error.len);

    if (outcome == NGX_SVC_PUSH_PAUSE) {
        work->delay = ngx_min(delay ? delay : NGX_SVC_PUSH_REST,
                              NGX_SVC_PUSH_REST_MAX);

    } else {
        ngx_svc_push_fly_failing(work, status, error);
    }

    work->paused = 1;
    work->state = 1;
    work->not_before = ngx_current_msec + work->delay;
}


static void
ngx_svc_push_fly_failing(ngx_svc_push_work_t *work, ngx_uint_t status,
    const ngx_str_t *error)
{
    work->delay = (ngx_msec_t) NGX_SVC_PUSH_FAIL << ngx_min(work->failures, 8);
    work->delay = ngx_min(work->delay, NGX_SVC_PUSH_FAIL_MAX);
    work->failures = ngx_min(work->failures + 1, 100);

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "SCIM target %V of tenant %V fails, it is tried again in "
                  "%T min: %V, status %ui", &work->id.str,
                  &work->tenant->node.str, (time_t) (work->delay / 60000),
                  error, status);
}


static void
ngx_svc_push_fly_log(ngx_svc_push_work_t *work, const ngx_svc_push_t *push)
{
    ngx_uint_t  level;

    static const ngx_svc_metric_e  metrics[] = {
        NGX_SVC_M_SCIM_DONE, NGX_SVC_M_SCIM_RETRIED, NGX_SVC_M_SCIM_PAUSED,
        NGX_SVC_M_SCIM_FAILING, NGX_SVC_M_SCIM_REFUSED, NGX_SVC_M_SCIM_USER
    };

    ngx_svc_metric_add(metrics[push->outcome], 1);

    if (push->outcome != NGX_SVC_PUSH_RETRY
        && push->outcome != NGX_SVC_PUSH_USER)
    {
        return;
    }

    level = ngx_svc_log_limit_level(&ngx_svc_push_flights.lines,
                                    NGX_SVC_PUSH_LINES, NGX_SVC_PUSH_MINUTE,
                                    NGX_LOG_WARN);

    ngx_log_error(level, ngx_cycle->log, 0,
                  "user %V is not pushed to SCIM target %V of tenant %V: %V, "
                  "status %ui", &push->want.id, &work->id.str,
                  &work->tenant->node.str, &push->error, push->status);
}


/* --- a probe ----------------------------------------------------------- */

ngx_int_t
ngx_svc_push_fly_probe(ngx_svc_push_work_t *work, ngx_uint_t test)
{
    ngx_pool_t            *pool;
    ngx_svc_push_probe_t  *probe;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    probe = ngx_pcalloc(pool, sizeof(ngx_svc_push_probe_t));
    if (probe == NULL) {
        goto failed;
    }

    probe->pool = pool;
    probe->target = &work->conf->target;
    probe->handler = ngx_svc_push_probed;
    probe->data = work;

    if (ngx_svc_push_probe(probe) != NGX_OK) {
        goto failed;
    }

    work->probe = probe;
    work->testing = test;

    return NGX_OK;

failed:

    ngx_destroy_pool(pool);

    return NGX_ERROR;
}


static void
ngx_svc_push_probed(ngx_svc_push_probe_t *probe)
{
    ngx_svc_push_work_t  *work;

    work = probe->data;
    work->answered = 1;

    if (!work->testing) {
        ngx_svc_push_fly_outcome(work, probe->outcome, probe->delay,
                                 probe->status, &probe->error);
    }

    ngx_svc_push_flights.step(work);
}


ngx_int_t
ngx_svc_push_fly_answer(ngx_svc_push_work_t *work)
{
    ngx_int_t              rc;
    ngx_svc_push_probe_t  *probe;

    probe = work->probe;

    work->answered = 0;
    work->probe = NULL;

    if (probe->outcome == NGX_SVC_PUSH_DONE && work->conf) {
        work->conf->target.patch = probe->patch;
    }

    work->config = 0;

    rc = ngx_svc_push_store_probe(work, probe, work->testing);

    work->test.str.len = 0;

    /* its error is bound to the op */

    if (rc == NGX_OK) {
        work->answer = probe->pool;

    } else {
        ngx_destroy_pool(probe->pool);
    }

    return rc;
}


void
ngx_svc_push_fly_cancel(ngx_svc_push_work_t *work)
{
    ngx_queue_t          *q;
    ngx_svc_push_item_t  *item;

    ngx_queue_remove(&work->waiting);
    ngx_queue_init(&work->waiting);

    while (!ngx_queue_empty(&work->flying)) {
        q = ngx_queue_head(&work->flying);
        ngx_queue_remove(q);

        item = ngx_queue_data(q, ngx_svc_push_item_t, queue);
        ngx_svc_push_user_cancel(&item->push);
        ngx_destroy_pool(item->push.pool);

        work->nflying--;
        work->tenant->nflying--;
        ngx_svc_push_flights.n--;
    }

    if (work->probe) {
        if (!work->answered) {
            ngx_svc_push_probe_cancel(work->probe);
        }

        ngx_destroy_pool(work->probe->pool);
        work->probe = NULL;
    }

    if (work->answer) {
        ngx_destroy_pool(work->answer);
        work->answer = NULL;
    }
}
