/*
 * Outbound SCIM: the targets that this helper holds, and the work for each.
 */

#include "ngx_svc_push_work.h"
#include "ngx_svc_lane.h"
#include "ngx_svc_push_ask.h"
#include "ngx_svc_push_inflight.h"
#include "ngx_svc_push_items.h"
#include "ngx_svc_push_list.h"
#include "ngx_svc_push_next.h"
#include "ngx_svc_push_tenant.h"
#include "ngx_svc_push_when.h"


typedef struct {
    ngx_queue_t          works;
    ngx_uint_t           n;
    ngx_uint_t           listens;
    void               (*drained)(void);
    unsigned             draining:1;
} ngx_svc_push_works_t;


static void ngx_svc_push_work_woken(ngx_svc_push_work_t *work);
static void ngx_svc_push_work_free(ngx_svc_push_work_t *work);
static void ngx_svc_push_work_timer(ngx_event_t *ev);
static void ngx_svc_push_work_step(ngx_svc_push_work_t *work);
static void ngx_svc_push_work_stop(ngx_svc_push_work_t *work);
static void ngx_svc_push_work_polled(ngx_svc_push_work_t *work, ngx_int_t rc);
static void ngx_svc_push_work_fail(ngx_svc_push_work_t *work);
static void ngx_svc_push_work_stored(ngx_svc_push_work_t *work, ngx_int_t rc);
static void ngx_svc_push_work_pace(ngx_svc_push_work_t *work);
static void ngx_svc_push_work_idled(void);


static ngx_svc_push_works_t  ngx_svc_push_works;


void
ngx_svc_push_work_init(void)
{
    ngx_svc_push_works_t  *all;

    all = &ngx_svc_push_works;

    ngx_queue_init(&all->works);
    ngx_svc_push_tenant_init();
    ngx_svc_push_inflight_init(ngx_svc_push_work_step);
    ngx_svc_push_ask_init(ngx_svc_push_work_step);
    ngx_svc_push_list_init(ngx_svc_push_work_step);
    ngx_svc_push_next_init(ngx_svc_push_work_polled, ngx_svc_push_work_stored);
}


/* --- the targets ------------------------------------------------------- */

ngx_int_t
ngx_svc_push_work_add(const ngx_str_t *tenant, const ngx_str_t *id)
{
    ngx_svc_push_work_t    *work;
    ngx_svc_push_tenant_t  *of;

    of = ngx_svc_push_tenant_find(tenant);

    if (of && ngx_svc_push_tenant_work(of, id)) {
        return NGX_OK;
    }

    work = ngx_calloc(sizeof(ngx_svc_push_work_t), ngx_cycle->log);
    if (work == NULL) {
        return NGX_ERROR;
    }

    /* made last: a tenant is freed with its last work, so not without any */

    of = ngx_svc_push_tenant(tenant);
    if (of == NULL) {
        ngx_free(work);
        return NGX_ERROR;
    }

    work->tenant = of;
    work->id.str.data = work->id.text;
    work->id.str.len = ngx_min(id->len, NGX_SVC_UUID_TEXT_LEN);
    ngx_memcpy(work->id.text, id->data, work->id.str.len);

    work->timer.handler = ngx_svc_push_work_timer;
    work->timer.data = work;
    work->timer.log = ngx_cycle->log;

    ngx_queue_init(&work->waiting);
    ngx_queue_init(&work->ready);
    ngx_queue_init(&work->inflight);
    ngx_queue_init(&work->results);
    ngx_queue_init(&work->recording);

    work->poll = ngx_current_msec;
    work->polled = ngx_current_msec;
    work->counted = ngx_current_msec;
    work->kept = ngx_current_msec + ngx_random() % NGX_SVC_PUSH_KEEP;
    work->backoff = NGX_SVC_PUSH_PACE;

    ngx_queue_insert_tail(&ngx_svc_push_works.works, &work->all);
    ngx_svc_push_tenant_join(work);
    ngx_svc_push_works.n++;

    ngx_svc_push_when_next(work, ngx_svc_push_works.draining);

    return NGX_OK;
}


ngx_uint_t
ngx_svc_push_work_count(void)
{
    return ngx_svc_push_works.n;
}


ngx_uint_t
ngx_svc_push_work_inflight(void)
{
    return ngx_svc_push_inflight_count();
}


static void
ngx_svc_push_work_free(ngx_svc_push_work_t *work)
{
    ngx_svc_pg_drop(&work->op);

    if (work->timer.timer_set) {
        ngx_del_timer(&work->timer);
    }

    ngx_svc_push_inflight_cancel(work);
    ngx_svc_push_ask_cancel(work);
    ngx_svc_push_list_cancel(work);

    ngx_svc_push_items_free(&work->ready);
    ngx_svc_push_items_free(&work->results);
    ngx_svc_push_items_free(&work->recording);

    if (work->conf) {
        ngx_destroy_pool(work->conf->pool);
    }

    ngx_queue_remove(&work->all);
    ngx_svc_push_works.n--;

    ngx_svc_push_tenant_leave(work);
    ngx_free(work);
}


void
ngx_svc_push_work_forget(void)
{
    ngx_queue_t  *works;

    works = &ngx_svc_push_works.works;

    while (!ngx_queue_empty(works)) {
        ngx_svc_push_work_free(ngx_queue_data(ngx_queue_head(works),
                                              ngx_svc_push_work_t, all));
    }

    ngx_svc_push_work_idled();
}


u_char *
ngx_svc_push_work_give(u_char *p, ngx_uint_t n)
{
    ngx_queue_t          *q, *next;
    ngx_svc_push_work_t  *work;

    for (q = ngx_queue_head(&ngx_svc_push_works.works);
         q != ngx_queue_sentinel(&ngx_svc_push_works.works) && n > 0;
         q = next)
    {
        next = ngx_queue_next(q);
        work = ngx_queue_data(q, ngx_svc_push_work_t, all);

        if (work->op || !ngx_svc_push_when_idle(work)) {
            continue;
        }

        p = ngx_cpymem(p, work->id.text, NGX_SVC_UUID_TEXT_LEN);
        *p++ = ',';

        ngx_svc_push_work_free(work);
        n--;
    }

    return p;
}


/* --- waking ------------------------------------------------------------ */

void
ngx_svc_push_work_listens(ngx_uint_t listens)
{
    ngx_uint_t  before;

    before = ngx_svc_push_works.listens;
    ngx_svc_push_works.listens = listens;

    if (before && !listens) {
        ngx_svc_push_work_wake(NULL);
    }
}


/* When all tenants are woken, they do not poll all at once. */

void
ngx_svc_push_work_wake(const ngx_str_t *tenant)
{
    ngx_uint_t              i;
    ngx_queue_t            *q;
    ngx_svc_push_work_t    *work;
    ngx_svc_push_tenant_t  *of;

    if (tenant == NULL) {
        i = 0;

        for (q = ngx_queue_head(&ngx_svc_push_works.works);
             q != ngx_queue_sentinel(&ngx_svc_push_works.works);
             q = ngx_queue_next(q))
        {
            work = ngx_queue_data(q, ngx_svc_push_work_t, all);

            if (work->poll - ngx_current_msec > NGX_SVC_PUSH_EACH * i) {
                work->poll = ngx_current_msec + NGX_SVC_PUSH_EACH * i++;
                ngx_svc_push_when_next(work, ngx_svc_push_works.draining);
            }
        }

        return;
    }

    of = ngx_svc_push_tenant_find(tenant);
    if (of == NULL) {
        return;
    }

    for (q = ngx_queue_head(&of->works);
         q != ngx_queue_sentinel(&of->works);
         q = ngx_queue_next(q))
    {
        ngx_svc_push_work_woken(ngx_queue_data(q, ngx_svc_push_work_t, queue));
    }
}


static void
ngx_svc_push_work_woken(ngx_svc_push_work_t *work)
{
    ngx_svc_push_work_pace(work);

    if (work->op == NULL) {
        ngx_svc_push_when_next(work, ngx_svc_push_works.draining);
    }
}


static void
ngx_svc_push_work_pace(ngx_svc_push_work_t *work)
{
    ngx_msec_t  at;

    if (work->woken) {
        return;         /* the poll comes in turn */
    }

    work->woken = 1;

    at = ngx_svc_push_when_woken(work);

    if ((ngx_msec_int_t) (work->poll - at) > 0) {
        work->poll = at;
    }
}


/* --- one op after the other -------------------------------------------- */

static void
ngx_svc_push_work_timer(ngx_event_t *ev)
{
    ngx_svc_push_work_step(ev->data);
}


static void
ngx_svc_push_work_step(ngx_svc_push_work_t *work)
{
    if (work->conf
        && (work->conf->version != work->version || !work->enabled
            || work->held || ngx_svc_push_works.draining
            || (work->paused && !ngx_svc_push_due(work->not_before))))
    {
        ngx_svc_push_items_free(&work->ready);
        work->nready = 0;

    } else if (work->conf) {
        ngx_svc_push_inflight_add(work);
    }

    ngx_svc_push_work_stop(work);

    if (work->failed && ngx_svc_push_due(work->later)) {
        work->failed = 0;
    }

    if (work->op == NULL && !work->failed
        && ngx_svc_push_next(work, ngx_svc_push_works.draining) == NGX_ERROR)
    {
        ngx_svc_push_work_fail(work);
    }

    ngx_svc_push_when_next(work, ngx_svc_push_works.draining);
    ngx_svc_push_work_idled();
}


/*
 * Ends work for a version of the target that is not current any more.  The
 * page may be in use by an op, so it stays until that has ended.
 */

static void
ngx_svc_push_work_stop(ngx_svc_push_work_t *work)
{
    ngx_uint_t  changed;

    changed = work->conf && (work->conf->version != work->version
                             || !work->enabled);

    if (changed) {
        ngx_svc_push_inflight_stop(work);
    }

    if ((changed || ngx_svc_push_works.draining) && work->op == NULL) {
        ngx_svc_push_list_cancel(work);
    }
}


static void
ngx_svc_push_work_polled(ngx_svc_push_work_t *work, ngx_int_t rc)
{
    if (rc == NGX_DECLINED) {
        ngx_svc_push_work_free(work);
        ngx_svc_push_inflight_next();
        ngx_svc_push_work_idled();
        return;
    }

    if (rc == NGX_OK) {
        ngx_svc_push_when_polled(work, ngx_svc_push_works.n,
                                 ngx_svc_push_works.listens);

    } else {
        ngx_svc_push_work_fail(work);
    }

    ngx_svc_push_work_step(work);
}


/* Begins nothing for a second: the next op is likely to fail, too. */

static void
ngx_svc_push_work_fail(ngx_svc_push_work_t *work)
{
    work->failed = 1;
    work->later = ngx_current_msec + NGX_SVC_PUSH_LATER;
    work->poll = work->later;
}


/*
 * Goes on after any op but a poll; what the op changed is in memory, or is
 * read again.
 */

static void
ngx_svc_push_work_stored(ngx_svc_push_work_t *work, ngx_int_t rc)
{
    if (rc == NGX_ERROR) {
        ngx_svc_push_work_fail(work);
        work->known = 1;

    } else if (work->paced) {
        ngx_svc_push_work_pace(work);

    } else if (!work->took) {
        work->poll = ngx_current_msec;
    }

    work->paced = 0;

    if (rc == NGX_DECLINED) {
        work->poll = ngx_current_msec;
    }

    ngx_svc_push_work_step(work);
}


/* --- the end ----------------------------------------------------------- */

void
ngx_svc_push_work_drain(void (*done)(void))
{
    ngx_queue_t           *q, *next;
    ngx_svc_push_works_t  *all;

    all = &ngx_svc_push_works;

    all->draining = 1;

    for (q = ngx_queue_head(&all->works);
         q != ngx_queue_sentinel(&all->works);
         q = next)
    {
        next = ngx_queue_next(q);
        ngx_svc_push_work_step(ngx_queue_data(q, ngx_svc_push_work_t, all));
    }

    all->drained = done;

    ngx_svc_push_work_idled();
}


static void
ngx_svc_push_work_idled(void)
{
    ngx_queue_t           *q;
    ngx_svc_push_work_t   *work;
    ngx_svc_push_works_t  *all;

    all = &ngx_svc_push_works;

    if (all->drained == NULL) {
        return;
    }

    for (q = ngx_queue_head(&all->works);
         q != ngx_queue_sentinel(&all->works);
         q = ngx_queue_next(q))
    {
        work = ngx_queue_data(q, ngx_svc_push_work_t, all);

        if (work->ninflight || work->nresults || work->state
            || work->no_patch)
        {
            return;
        }
    }

    ngx_svc_lane_done(&all->drained);
}
