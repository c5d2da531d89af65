/*
 * Outbound SCIM: when a target is to be looked at again.
 */

#include "ngx_svc_push_when.h"
#include "ngx_svc_push_inflight.h"


#define NGX_SVC_PUSH_BACKOFF  1000      /* ms at most, while events are not
                                           final */
#define NGX_SVC_PUSH_LISTENS  15000     /* ms between polls, though Redis wakes
                                           us */
#define NGX_SVC_PUSH_ALONE    2000
#define NGX_SVC_PUSH_SLOWEST  1000      /* ms, the longest wait of a woken
                                           target */
#define NGX_SVC_PUSH_GAP      40        /* ms between two woken targets */


static ngx_msec_t ngx_svc_push_when_list(ngx_svc_push_work_t *work);
static ngx_uint_t ngx_svc_push_when_due(ngx_svc_push_work_t *work,
    ngx_msec_t *at, ngx_uint_t n);


static ngx_msec_t  ngx_svc_push_when_earliest;  /* when the next woken target
                                                   polls */


ngx_uint_t
ngx_svc_push_when_idle(ngx_svc_push_work_t *work)
{
    return work->nready + work->ninflight + work->nresults == 0
           && !work->probe && !work->page && !work->state && !work->no_patch;
}


/* Woken targets poll in turn: the more there are, the less often each polls. */

ngx_msec_t
ngx_svc_push_when_woken(ngx_svc_push_work_t *work)
{
    ngx_msec_t  at, most;

    at = work->polled + NGX_SVC_PUSH_PACE;
    most = work->polled + NGX_SVC_PUSH_SLOWEST;

    if ((ngx_msec_int_t) (ngx_current_msec - at) > 0) {
        at = ngx_current_msec;
    }

    if ((ngx_msec_int_t) (most - at) <= 0) {
        return at;
    }

    if ((ngx_msec_int_t) (ngx_svc_push_when_earliest - at) > 0) {
        at = ngx_svc_push_when_earliest;
    }

    if ((ngx_msec_int_t) (at - most) > 0) {
        return most;
    }

    ngx_svc_push_when_earliest = at + NGX_SVC_PUSH_GAP;

    return at;
}


void
ngx_svc_push_when_polled(ngx_svc_push_work_t *work, ngx_uint_t n,
    ngx_uint_t listens)
{
    ngx_msec_t  ms, at;

    if (work->final) {
        work->backoff = NGX_SVC_PUSH_PACE;
    }

    if (work->more && work->enabled) {
        ms = 0;

    } else if (!work->final) {
        ms = work->backoff;
        work->backoff = ngx_min(2 * work->backoff, NGX_SVC_PUSH_BACKOFF);

    } else {
        ms = listens ? NGX_SVC_PUSH_LISTENS : NGX_SVC_PUSH_ALONE;
        ms = ngx_max(ms, n * NGX_SVC_PUSH_EACH);
    }

    work->poll = work->polled + ms;

    if (ms == 0 || (work->final && !work->woken)) {
        return;
    }

    /* a woken target, or one with transactions still open, polls in turn */

    at = ngx_svc_push_when_woken(work);

    if (work->final || (ngx_msec_int_t) (at - work->poll) > 0) {
        work->poll = at;
    }
}


/* Returns when the next page of the list may be asked for. */

static ngx_msec_t
ngx_svc_push_when_list(ngx_svc_push_work_t *work)
{
    ngx_msec_t  at, rate;

    at = work->relist;
    rate = ngx_svc_push_inflight_rate(work) == NGX_OK
           ? ngx_current_msec : ngx_svc_push_inflight_when(work);

    if (work->paused && (ngx_msec_int_t) (work->not_before - at) > 0) {
        at = work->not_before;
    }

    return (ngx_msec_int_t) (rate - at) > 0 ? rate : at;
}


void
ngx_svc_push_when_next(ngx_svc_push_work_t *work, ngx_uint_t draining)
{
    ngx_msec_t      at[8];
    ngx_uint_t      i, n;
    ngx_msec_int_t  ms, least;

    if (work->timer.timer_set) {
        ngx_del_timer(&work->timer);
    }

    if (work->op) {
        return;
    }

    if (work->failed) {
        ngx_add_timer(&work->timer, NGX_SVC_PUSH_LATER);
        return;
    }

    n = 0;

    if (work->nresults) {
        at[n++] = work->first + NGX_SVC_PUSH_SOON;
    }

    if (draining) {
        if (n) {
            ngx_add_timer(&work->timer, NGX_SVC_PUSH_SOON);
        }

        return;
    }

    n = ngx_svc_push_when_due(work, at, n);
    least = NGX_SVC_PUSH_LISTENS;

    for (i = 0; i < n; i++) {
        ms = at[i] - ngx_current_msec;
        least = ngx_min(least, ms);
    }

    ngx_add_timer(&work->timer, (ngx_msec_t) ngx_max(least, 5));
}


/* Adds the times at which there is work, and returns how many there are. */

static ngx_uint_t
ngx_svc_push_when_due(ngx_svc_push_work_t *work, ngx_msec_t *at, ngx_uint_t n)
{
    at[n++] = work->poll;

    if (!work->idle && work->nready < NGX_SVC_PUSH_LOW && work->probe == NULL
        && !work->held && work->enabled)
    {
        at[n++] = (work->paused
                   && (ngx_msec_int_t) (work->not_before - work->due) > 0)
                  ? work->not_before : work->due;
    }

    if (work->test.str.len && work->probe == NULL) {
        at[n++] = work->polled + NGX_SVC_PUSH_LATER;
    }

    if (work->list && work->page == NULL && work->probe == NULL && !work->held
        && work->enabled
        && !(work->ninflight && work->conf
             && work->conf->version != work->version))
    {
        at[n++] = ngx_svc_push_when_list(work);
    }

    if (work->dirty) {
        at[n++] = work->counted + (ngx_svc_push_when_idle(work)
                                   ? NGX_SVC_PUSH_LATER : NGX_SVC_PUSH_COUNT);
    }

    if (work->nready && ngx_queue_empty(&work->waiting)) {
        at[n++] = ngx_svc_push_inflight_when(work);
    }

    return n;
}
