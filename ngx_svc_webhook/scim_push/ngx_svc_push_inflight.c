/*
 * Outbound SCIM: the pushes under way.
 */

#include "ngx_svc_push_inflight.h"
#include "ngx_svc_push_lookup.h"
#include "ngx_svc_push_outcome.h"
#include "ngx_svc_push_owner.h"
#include "ngx_svc_push_user.h"
#include "ngx_svc_webhook.h"


#define NGX_SVC_PUSH_NODE     64        /* pushes at a time, of the node */
#define NGX_SVC_PUSH_TENANT   8
#define NGX_SVC_PUSH_ONE      4         /* pushes at a time, of a target */


typedef struct {
    ngx_uint_t             n;
    ngx_queue_t            waiting;     /* targets that wait for a place */
    void                 (*step)(ngx_svc_push_work_t *work);
} ngx_svc_push_inflight_t;


static void ngx_svc_push_inflight_look(ngx_svc_push_work_t *work);
static void ngx_svc_push_inflight_looked(ngx_svc_push_work_t *work);
static void ngx_svc_push_inflight_place(ngx_svc_push_work_t *work, ngx_int_t n);
static ngx_uint_t ngx_svc_push_inflight_may(ngx_svc_push_work_t *work);
static void ngx_svc_push_inflight_fill(ngx_svc_push_work_t *work);
static ngx_int_t ngx_svc_push_inflight_start(ngx_svc_push_work_t *work,
    ngx_svc_push_item_t *item);
static void ngx_svc_push_inflight_done(ngx_svc_push_t *push);
static void ngx_svc_push_inflight_result(ngx_svc_push_work_t *work,
    ngx_svc_push_item_t *item);


static ngx_svc_push_inflight_t  ngx_svc_push_inflight;


void
ngx_svc_push_inflight_init(void (*step)(ngx_svc_push_work_t *work))
{
    ngx_queue_init(&ngx_svc_push_inflight.waiting);
    ngx_svc_push_inflight.step = step;

    ngx_svc_push_lookup_init(ngx_svc_push_inflight_looked);
}


ngx_uint_t
ngx_svc_push_inflight_count(void)
{
    return ngx_svc_push_inflight.n;
}


/* --- places, and the rate ---------------------------------------------- */

void
ngx_svc_push_inflight_add(ngx_svc_push_work_t *work)
{
    ngx_queue_t          *q, *next;
    ngx_svc_push_item_t  *item;

    ngx_queue_remove(&work->waiting);
    ngx_queue_init(&work->waiting);

    ngx_svc_push_inflight_look(work);

    for (q = ngx_queue_head(&work->ready);
         q != ngx_queue_sentinel(&work->ready)
         && work->ninflight < NGX_SVC_PUSH_ONE;
         q = next)
    {
        next = ngx_queue_next(q);
        item = ngx_queue_data(q, ngx_svc_push_item_t, queue);

        if (ngx_svc_push_lookup_waits(work, item)) {
            continue;
        }

        if (!item->same && !ngx_svc_push_inflight_may(work)) {
            return;
        }

        ngx_queue_remove(q);
        work->nready--;

        if (item->same) {
            item->push.answer.outcome = NGX_SVC_PUSH_DONE;
            ngx_svc_push_inflight_result(work, item);

        } else if (ngx_svc_push_inflight_start(work, item) != NGX_OK) {
            item->push.answer.outcome = NGX_SVC_PUSH_RETRY;
            ngx_svc_push_inflight_result(work, item);
        }
    }
}


/* A look-up of many takes one place, as a user's push does. */

static void
ngx_svc_push_inflight_look(ngx_svc_push_work_t *work)
{
    if (ngx_svc_push_lookup_due(work) && work->ninflight < NGX_SVC_PUSH_ONE
        && ngx_svc_push_inflight_may(work)
        && ngx_svc_push_lookup(work) == NGX_OK)
    {
        ngx_svc_push_inflight_place(work, 1);
    }
}


static void
ngx_svc_push_inflight_looked(ngx_svc_push_work_t *work)
{
    ngx_svc_push_inflight_place(work, -1);

    ngx_svc_push_inflight.step(work);
    ngx_svc_push_inflight_next();
}


static void
ngx_svc_push_inflight_place(ngx_svc_push_work_t *work, ngx_int_t n)
{
    work->ninflight += n;
    work->tenant->ninflight += n;
    ngx_svc_push_inflight.n += n;
}


static ngx_uint_t
ngx_svc_push_inflight_may(ngx_svc_push_work_t *work)
{
    if (ngx_svc_push_inflight.n >= NGX_SVC_PUSH_NODE
        || work->tenant->ninflight >= NGX_SVC_PUSH_TENANT)
    {
        ngx_queue_remove(&work->waiting);
        ngx_queue_insert_tail(&ngx_svc_push_inflight.waiting, &work->waiting);
        return 0;
    }

    return ngx_svc_push_inflight_rate(work) == NGX_OK;
}


ngx_int_t
ngx_svc_push_inflight_rate(ngx_svc_push_work_t *work)
{
    ngx_svc_push_inflight_fill(work);

    return (ngx_svc_webhook_conf()->push.rate == 0 || work->tokens >= 1000)
           ? NGX_OK : NGX_DECLINED;
}


/* Adds tokens for the time that has passed, up to those of one second. */

static void
ngx_svc_push_inflight_fill(ngx_svc_push_work_t *work)
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
ngx_svc_push_inflight_when(ngx_svc_push_work_t *work)
{
    ngx_int_t  rate, lacks;

    rate = ngx_svc_webhook_conf()->push.rate;
    lacks = 1000 - work->tokens;

    if (rate == 0 || lacks <= 0 || work->ninflight >= NGX_SVC_PUSH_ONE) {
        return ngx_current_msec + 1000;
    }

    return ngx_current_msec + lacks / rate + 1;
}


/* Gives a place that is free to the target that has waited longest. */

void
ngx_svc_push_inflight_next(void)
{
    ngx_uint_t            n;
    ngx_queue_t          *q, *waiting;
    ngx_svc_push_work_t  *work;

    waiting = &ngx_svc_push_inflight.waiting;

    for (n = 0; n < NGX_SVC_PUSH_NODE && !ngx_queue_empty(waiting)
                && ngx_svc_push_inflight.n < NGX_SVC_PUSH_NODE; n++)
    {
        q = ngx_queue_head(waiting);
        ngx_queue_remove(q);
        ngx_queue_init(q);

        work = ngx_queue_data(q, ngx_svc_push_work_t, waiting);
        ngx_svc_push_inflight.step(work);
    }
}


/* --- a user ------------------------------------------------------------ */

static ngx_int_t
ngx_svc_push_inflight_start(ngx_svc_push_work_t *work,
    ngx_svc_push_item_t *item)
{
    item->push.target = &work->conf->target;
    item->push.handler = ngx_svc_push_inflight_done;
    item->push.owner = ngx_svc_push_owner;
    item->push.owner_cancel = ngx_svc_push_owner_cancel;

    if (ngx_svc_push_user(&item->push) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_queue_insert_tail(&work->inflight, &item->queue);

    ngx_svc_push_lookup_forget(work, &item->push);
    ngx_svc_push_inflight_place(work, 1);
    work->tokens -= 1000;

    return NGX_OK;
}


static void
ngx_svc_push_inflight_done(ngx_svc_push_t *push)
{
    ngx_svc_push_item_t  *item;
    ngx_svc_push_work_t  *work;

    item = push->data;
    work = item->work;

    ngx_queue_remove(&item->queue);

    ngx_svc_push_inflight_place(work, -1);

    if (push->requests > 1) {
        work->tokens -= 1000 * (ngx_int_t) (push->requests - 1);
    }

    /* answers to an older version tell nothing about the current one */

    if (work->conf->version == work->version) {

        if (push->no_patch) {
            work->no_patch = 1;
            work->conf->target.patch = 0;
        }

        ngx_svc_push_lookup_known(work, push);
        ngx_svc_push_outcome(work, &push->answer);
    }

    ngx_svc_push_outcome_log(work, push);
    ngx_svc_push_inflight_result(work, item);

    ngx_svc_push_inflight.step(work);
    ngx_svc_push_inflight_next();
}


static void
ngx_svc_push_inflight_result(ngx_svc_push_work_t *work,
    ngx_svc_push_item_t *item)
{
    ngx_queue_insert_tail(&work->results, &item->queue);

    if (work->nresults++ == 0) {
        work->first = ngx_current_msec;
    }
}


void
ngx_svc_push_inflight_cancel(ngx_svc_push_work_t *work)
{
    ngx_queue_t          *q;
    ngx_svc_push_item_t  *item;

    ngx_queue_remove(&work->waiting);
    ngx_queue_init(&work->waiting);

    while (!ngx_queue_empty(&work->inflight)) {
        q = ngx_queue_head(&work->inflight);
        ngx_queue_remove(q);

        item = ngx_queue_data(q, ngx_svc_push_item_t, queue);
        ngx_svc_push_user_cancel(&item->push);
        ngx_destroy_pool(item->push.pool);

        ngx_svc_push_inflight_place(work, -1);
    }

    if (work->lookup) {
        ngx_svc_push_lookup_cancel(work);
        ngx_svc_push_inflight_place(work, -1);
    }
}


void
ngx_svc_push_inflight_stop(ngx_svc_push_work_t *work)
{
    ngx_queue_t          *q;
    ngx_svc_push_item_t  *item;

    for (q = ngx_queue_head(&work->inflight);
         q != ngx_queue_sentinel(&work->inflight);
         q = ngx_queue_next(q))
    {
        item = ngx_queue_data(q, ngx_svc_push_item_t, queue);
        item->push.stop = 1;
    }
}
