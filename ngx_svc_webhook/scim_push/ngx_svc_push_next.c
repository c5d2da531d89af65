/*
 * Outbound SCIM: chooses what is done next for a target.
 */

#include "ngx_svc_push_next.h"
#include "ngx_svc_push_ask.h"
#include "ngx_svc_push_inflight.h"
#include "ngx_svc_push_items.h"
#include "ngx_svc_push_list.h"
#include "ngx_svc_push_poll.h"
#include "ngx_svc_push_record.h"
#include "ngx_svc_push_when.h"


#define NGX_SVC_PUSH_BATCH    32        /* results that are recorded at once */


/* What is called after a poll, and after any other op. */

typedef struct {
    ngx_svc_push_next_pt   polled;
    ngx_svc_push_next_pt   stored;
} ngx_svc_push_next_t;


static ngx_int_t ngx_svc_push_next_log(ngx_svc_push_work_t *work);
static ngx_int_t ngx_svc_push_next_list(ngx_svc_push_work_t *work);
static ngx_int_t ngx_svc_push_next_users(ngx_svc_push_work_t *work);
static ngx_int_t ngx_svc_push_next_rest(ngx_svc_push_work_t *work);
static ngx_int_t ngx_svc_push_next_poll(ngx_svc_push_work_t *work);


static ngx_svc_push_next_t  ngx_svc_push_next_ended;


void
ngx_svc_push_next_init(ngx_svc_push_next_pt polled, ngx_svc_push_next_pt stored)
{
    ngx_svc_push_next_ended.polled = polled;
    ngx_svc_push_next_ended.stored = stored;
}


ngx_int_t
ngx_svc_push_next(ngx_svc_push_work_t *work, ngx_uint_t draining)
{
    ngx_uint_t  record;

    work->stored = ngx_svc_push_next_ended.stored;

    record = work->nresults >= NGX_SVC_PUSH_BATCH
             || (work->nresults
                 && (work->nready + work->ninflight == 0
                     || ngx_svc_push_due(work->first + NGX_SVC_PUSH_SOON)));

    if (record || work->state || work->no_patch) {
        work->took = 0;
        return ngx_svc_push_record(work);
    }

    if (draining) {
        return NGX_DECLINED;
    }

    if (work->answered) {
        return ngx_svc_push_ask_answer(work);
    }

    if (!work->known
        || (ngx_svc_push_due(work->poll)
            && !(work->enabled && (work->relevant || work->begin))))
    {
        return ngx_svc_push_next_poll(work);
    }

    if (work->test.str.len && work->probe == NULL) {
        if (work->conf && work->conf->version == work->version) {
            return ngx_svc_push_ask(work, 1) == NGX_OK ? NGX_DECLINED
                                                       : NGX_ERROR;
        }

        if (ngx_svc_push_due(work->polled + NGX_SVC_PUSH_LATER)) {
            return ngx_svc_push_next_poll(work);
        }
    }

    return work->enabled ? ngx_svc_push_next_log(work) : NGX_DECLINED;
}


static ngx_int_t
ngx_svc_push_next_log(ngx_svc_push_work_t *work)
{
    ngx_int_t   rc;
    ngx_uint_t  took;

    took = work->took;
    work->took = 0;

    if (work->begin) {
        return ngx_svc_push_store_begin(work);
    }

    if (work->relevant) {
        return ngx_svc_push_store_follow(work);
    }

    if (work->hold) {
        return ngx_svc_push_store_hold(work);
    }

    if (work->list) {
        rc = ngx_svc_push_next_list(work);

        if (rc != NGX_DECLINED) {
            return rc;
        }

    } else if (work->looking && took) {
        return ngx_svc_push_store_look(work);
    }

    rc = ngx_svc_push_next_users(work);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    return (work->looking && !work->list) ? ngx_svc_push_store_look(work)
                                          : ngx_svc_push_next_rest(work);
}


/*
 * The target's list is read before a look at all users; meanwhile everything
 * goes on as before.
 */

static ngx_int_t
ngx_svc_push_next_list(ngx_svc_push_work_t *work)
{
    if (work->listed) {
        return ngx_svc_push_list_compare(work);
    }

    if (work->page || work->held || work->probe
        || !ngx_svc_push_due(work->relist)
        || (work->paused && !ngx_svc_push_due(work->not_before)))
    {
        return NGX_DECLINED;
    }

    if (work->conf == NULL || work->conf->version != work->version) {
        return work->ninflight ? NGX_DECLINED : ngx_svc_push_next_poll(work);
    }

    if (ngx_svc_push_inflight_rate(work) == NGX_OK
        && ngx_svc_push_list(work) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_DECLINED;
}


/*
 * Users to be deactivated wait until all known events have been followed,
 * since their number decides whether the brake stops them.
 */

static ngx_int_t
ngx_svc_push_next_users(ngx_svc_push_work_t *work)
{
    if (work->idle || work->held || work->probe
        || work->nready >= NGX_SVC_PUSH_LOW
        || work->nresults >= 2 * NGX_SVC_PUSH_BATCH
        || !ngx_svc_push_due(work->due)
        || (work->paused && !ngx_svc_push_due(work->not_before)))
    {
        return NGX_DECLINED;
    }

    if (work->conf == NULL || work->conf->version != work->version) {
        return work->ninflight ? NGX_DECLINED : ngx_svc_push_next_poll(work);
    }

    if (work->config) {
        return ngx_svc_push_ask(work, 0) == NGX_OK ? NGX_DECLINED
                                                   : NGX_ERROR;
    }

    work->took = 1;

    return ngx_svc_push_items_take(work, (!work->looking || work->list)
                                         && !work->more);
}


static ngx_int_t
ngx_svc_push_next_rest(ngx_svc_push_work_t *work)
{
    ngx_uint_t  idle;

    idle = ngx_svc_push_when_idle(work);

    if (work->syncing && !work->left && !work->held && !work->more
        && !work->looking && !work->failures && idle)
    {
        work->left = 1;
        work->poll = ngx_current_msec;
        return ngx_svc_push_store_count(work, 1);
    }

    if (work->dirty
        && ngx_svc_push_due(work->counted
                            + (idle ? NGX_SVC_PUSH_LATER : NGX_SVC_PUSH_COUNT)))
    {
        work->dirty = 0;
        work->counted = ngx_current_msec;
        return ngx_svc_push_store_count(work, 0);
    }

    if (idle && work->final && !work->more && work->xid.str.len
        && ngx_svc_push_due(work->kept))
    {
        work->kept = ngx_current_msec + NGX_SVC_PUSH_KEEP;
        return ngx_svc_push_store_keep(work);
    }

    /* the token does not stay in memory without need */

    if (idle && work->conf && (work->idle || work->paused)) {
        ngx_destroy_pool(work->conf->pool);
        work->conf = NULL;
    }

    return NGX_DECLINED;
}


static ngx_int_t
ngx_svc_push_next_poll(ngx_svc_push_work_t *work)
{
    work->stored = ngx_svc_push_next_ended.polled;
    work->polled = ngx_current_msec;
    work->woken = 0;
    work->needs = work->test.str.len || work->list
                  || (!work->idle && ngx_svc_push_due(work->due));

    return ngx_svc_push_poll(work);
}
