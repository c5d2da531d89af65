/*
 * The helper's scheduler.
 *
 * Each endpoint has a backlog of deliveries.  Each tenant has a ring of those
 * backlogs that may start an attempt, and the tenants with such backlogs are
 * in a ring themselves: a round robin over tenants, and over the endpoints of
 * each.  A backlog that is long or stuck does not delay others, and costs
 * nothing to pass over.
 */

#include "ngx_svc_webhook_deliver.h"
#include "ngx_svc_outbound_target.h"
#include "ngx_svc_webhook_ack.h"
#include "ngx_svc_webhook_drain.h"
#include "ngx_svc_webhook_inflight.h"
#include "ngx_svc_webhook_job.h"
#include "ngx_svc_webhook_note.h"
#include "ngx_svc_webhook_outcome.h"
#include "ngx_svc_webhook_started.h"

#include "ngx_svc_metrics.h"


#define NGX_SVC_WEBHOOK_STEPS     16    /* in an iteration of the event loop */
#define NGX_SVC_WEBHOOK_RESUBMIT  1000  /* ms until the next try, if we lack
                                           something */


typedef struct {
    ngx_uint_t       nactive;
    ngx_event_t      pump;              /* posted */
    unsigned         paused:1;
    unsigned         draining:1;
} ngx_svc_webhook_deliver_t;


static void ngx_svc_webhook_deliver_loaded(ngx_str_t *tenant);
static void ngx_svc_webhook_deliver_wake(void);
static void ngx_svc_webhook_deliver_pump(ngx_event_t *ev);
static void ngx_svc_webhook_deliver_step(ngx_svc_webhook_tenant_t *tenant);
static void ngx_svc_webhook_deliver_prepare(ngx_svc_webhook_job_t *job,
    ngx_svc_webhook_endpoint_t *endpoint);
static void ngx_svc_webhook_deliver_recorded(void *data, ngx_uint_t recorded);
static void ngx_svc_webhook_deliver_start(ngx_svc_webhook_job_t *job);
static void ngx_svc_webhook_deliver_left(ngx_svc_webhook_job_t *job);
static void ngx_svc_webhook_deliver_ended(void *data,
    ngx_svc_outbound_result_t *result);


static ngx_svc_webhook_deliver_t  ngx_svc_webhook_d;


ngx_int_t
ngx_svc_webhook_deliver_init(ngx_cycle_t *cycle)
{
    ngx_svc_webhook_deliver_t  *wd;

    wd = &ngx_svc_webhook_d;

    ngx_memzero(wd, sizeof(ngx_svc_webhook_deliver_t));

    wd->pump.handler = ngx_svc_webhook_deliver_pump;
    wd->pump.data = wd;
    wd->pump.log = cycle->log;

    ngx_svc_webhook_drain_init(cycle);

    ngx_svc_webhook_backlogs_init(ngx_svc_webhook_deliver_wake);
    ngx_svc_webhook_jobs_init(ngx_svc_webhook_deliver_wake);

    ngx_svc_webhook_notes_init(cycle);

    if (ngx_svc_webhook_endpoint_init(cycle, ngx_svc_webhook_deliver_loaded)
        != NGX_OK
        || ngx_svc_webhook_record_init(cycle) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_webhook_attempt_init(cycle);
}


void
ngx_svc_webhook_deliver_exit(void)
{
    ngx_svc_webhook_deliver_t  *wd;

    wd = &ngx_svc_webhook_d;

    ngx_svc_webhook_jobs_exit();

    if (wd->pump.posted) {
        ngx_delete_posted_event(&wd->pump);
    }

    ngx_svc_webhook_drain_exit();

    ngx_svc_webhook_backlogs_exit();
    ngx_svc_webhook_attempt_exit();
    ngx_svc_webhook_record_exit();
    ngx_svc_webhook_notes_exit();
    ngx_svc_webhook_endpoint_exit();
}


void
ngx_svc_webhook_deliver(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_job_t  *job;

    static const ngx_str_t  fatal = ngx_string("the process that delivers "
                                               "ended in each attempt");

    if (ngx_svc_webhook_d.draining) {
        ngx_svc_webhook_ack_requeue(d);
        return;
    }

    job = ngx_svc_webhook_job_create(d);
    if (job == NULL) {
        ngx_svc_webhook_inflight_refuse(d);
        return;
    }

    if (d->attempts >= NGX_SVC_WEBHOOK_ATTEMPTS) {
        ngx_svc_webhook_job_give_up(job, NGX_SVC_OUTBOUND_FATAL, &fatal);

    } else if (d->attempts) {

        /* another helper's attempt, which ended at an unknown time */

        ngx_svc_webhook_job_rest(job, ngx_svc_webhook_pause(d));

    } else {
        ngx_svc_webhook_backlog_wait(job);
        ngx_svc_webhook_job_overflow(job->backlog);
        ngx_svc_webhook_deliver_wake();
    }
}


void
ngx_svc_webhook_deliver_confirmed(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_backlog_t  *backlog;

    backlog = d->backlog;

    if (backlog) {
        d->backlog = NULL;
        ngx_svc_webhook_backlog_confirmed(backlog);
        ngx_svc_webhook_deliver_wake();
    }
}


void
ngx_svc_webhook_deliver_pause(ngx_uint_t pause)
{
    ngx_svc_webhook_d.paused = pause;

    if (!pause) {
        ngx_svc_webhook_deliver_wake();
    }
}


void
ngx_svc_webhook_deliver_forget(void)
{
    ngx_svc_webhook_jobs_forget();
}


void
ngx_svc_webhook_deliver_drain(void (*done)(void))
{
    ngx_svc_webhook_d.draining = 1;

    ngx_svc_webhook_jobs_drain();

    ngx_svc_webhook_drain(done);

    if (ngx_svc_webhook_d.nactive == 0) {
        ngx_svc_webhook_drain_idle();
    }
}


static void
ngx_svc_webhook_deliver_loaded(ngx_str_t *tenant)
{
    ngx_svc_webhook_tenant_loaded(tenant);
    ngx_svc_webhook_deliver_wake();
}


static void
ngx_svc_webhook_deliver_wake(void)
{
    ngx_post_event(&ngx_svc_webhook_d.pump, &ngx_posted_events);
}


/* Makes some steps; then sockets and timers are looked at. */

static void
ngx_svc_webhook_deliver_pump(ngx_event_t *ev)
{
    ngx_uint_t                  i, limit;
    ngx_svc_webhook_tenant_t   *tenant;
    ngx_svc_webhook_deliver_t  *wd;

    wd = &ngx_svc_webhook_d;
    limit = ngx_svc_webhook_conf()->concurrency;

    for (i = 0; i < NGX_SVC_WEBHOOK_STEPS; i++) {

        if (wd->paused || wd->draining || wd->nactive >= limit) {
            break;
        }

        tenant = ngx_svc_webhook_tenant_next(limit - wd->nactive);
        if (tenant == NULL) {
            break;
        }

        ngx_svc_webhook_deliver_step(tenant);
    }

    ngx_svc_webhook_started_flush();

    if (i == NGX_SVC_WEBHOOK_STEPS) {
        ngx_post_event(ev, &ngx_posted_next_events);
    }

    ngx_svc_gauge_set(NGX_SVC_G_IN_FLIGHT, wd->nactive);
}


static void
ngx_svc_webhook_deliver_step(ngx_svc_webhook_tenant_t *tenant)
{
    ngx_int_t                    rc;
    ngx_svc_webhook_job_t       *job;
    ngx_svc_webhook_delivery_t  *d;
    ngx_svc_webhook_endpoint_t  *endpoint;

    job = ngx_svc_webhook_tenant_job(tenant);
    d = job->delivery;

    rc = ngx_svc_webhook_endpoint(&d->tenant, &d->endpoint, job->since,
                                  &endpoint);

    switch (rc) {

    case NGX_OK:
        ngx_svc_webhook_backlog_unwait(job);
        ngx_svc_webhook_deliver_prepare(job, endpoint);
        return;

    case NGX_DECLINED:
        ngx_svc_metric_add(NGX_SVC_M_CANCELLED, 1);
        ngx_svc_webhook_job_final(job);
        return;

    case NGX_AGAIN:
        ngx_svc_webhook_tenant_load(tenant);
        return;

    default: /* NGX_ERROR */
        ngx_svc_webhook_job_rest(job, NGX_SVC_WEBHOOK_RESUBMIT);
        return;
    }
}


static void
ngx_svc_webhook_deliver_prepare(ngx_svc_webhook_job_t *job,
    ngx_svc_webhook_endpoint_t *endpoint)
{
    static const ngx_str_t   sealed = ngx_string("the secret cannot be opened");

    ngx_str_t                why;
    ngx_svc_error_t          err;
    ngx_svc_webhook_conf_t  *wcf;

    if (endpoint->sealed) {
        ngx_svc_webhook_job_give_up(job, NGX_SVC_OUTBOUND_PERMANENT, &sealed);
        return;
    }

    /* the URL may not be allowed any more; a proxy would not know that */

    wcf = ngx_svc_webhook_conf();
    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_outbound_url(&endpoint->url, &wcf->allow, 0, "url", &err)
        != NGX_OK)
    {
        why.data = err.detail;
        why.len = err.len;
        ngx_svc_webhook_job_give_up(job, NGX_SVC_OUTBOUND_REFUSED, &why);
        return;
    }

    /* this may call ngx_svc_webhook_deliver_recorded() at once */

    job->starting = 1;
    ngx_svc_webhook_backlog_enter(job->backlog);
    ngx_svc_webhook_d.nactive++;

    if (ngx_svc_webhook_started(job->delivery,
                                ngx_svc_webhook_deliver_recorded, job)
        != NGX_OK)
    {
        job->starting = 0;
        ngx_svc_webhook_deliver_left(job);
        ngx_svc_webhook_job_rest(job, NGX_SVC_WEBHOOK_RESUBMIT);
    }
}


static void
ngx_svc_webhook_deliver_recorded(void *data, ngx_uint_t recorded)
{
    ngx_svc_webhook_job_t *job = data;

    ngx_svc_webhook_deliver_t  *wd;

    wd = &ngx_svc_webhook_d;

    job->starting = 0;

    if (job->forgotten) {
        ngx_svc_webhook_deliver_left(job);
        ngx_svc_webhook_job_free(job);

    } else if (wd->draining) {
        ngx_svc_webhook_deliver_left(job);
        ngx_svc_webhook_job_requeue(job);

    } else if (recorded && !wd->paused) {
        ngx_svc_webhook_deliver_start(job);

    } else {
        ngx_svc_webhook_deliver_left(job);
        ngx_svc_webhook_job_rest(job, NGX_SVC_WEBHOOK_RESUBMIT);
    }

    ngx_svc_webhook_deliver_wake();

    if (wd->draining && wd->nactive == 0) {
        ngx_svc_webhook_drain_idle();
    }
}


/*
 * Starts the attempt.  The endpoint may have changed meanwhile, or may have to
 * be loaded again.
 */

static void
ngx_svc_webhook_deliver_start(ngx_svc_webhook_job_t *job)
{
    ngx_uint_t                   connected;
    ngx_svc_webhook_delivery_t  *d;
    ngx_svc_webhook_endpoint_t  *endpoint;

    d = job->delivery;

    if (ngx_svc_webhook_endpoint(&d->tenant, &d->endpoint, job->since,
                                 &endpoint)
        != NGX_OK)
    {
        ngx_svc_webhook_deliver_left(job);
        ngx_svc_webhook_backlog_wait(job);
        return;
    }

    connected = ngx_svc_webhook_backlog_connected(job->backlog);

    job->attempt = ngx_svc_webhook_attempt(d, endpoint, connected,
                                           ngx_svc_webhook_deliver_ended, job);
    if (job->attempt == NULL) {
        ngx_svc_webhook_deliver_left(job);
        ngx_svc_webhook_job_rest(job, NGX_SVC_WEBHOOK_RESUBMIT);
    }
}


static void
ngx_svc_webhook_deliver_left(ngx_svc_webhook_job_t *job)
{
    ngx_svc_webhook_backlog_leave(job->backlog);
    ngx_svc_webhook_d.nactive--;
}


static void
ngx_svc_webhook_deliver_ended(void *data, ngx_svc_outbound_result_t *result)
{
    ngx_svc_webhook_job_t *job = data;

    job->attempt = NULL;
    ngx_svc_webhook_deliver_left(job);

    if (result->outcome == NGX_SVC_OUTBOUND_ACKNOWLEDGED && !job->forgotten) {
        ngx_svc_webhook_backlog_acked(job->backlog);
        job->delivery->backlog = job->backlog;
    }

    if (result->outcome != NGX_SVC_OUTBOUND_POSTPONED) {
        ngx_svc_webhook_backlog_result(job->backlog, result);
    }

    ngx_svc_webhook_job_overflow(job->backlog);

    if (job->forgotten) {
        ngx_svc_webhook_job_free(job);

    } else if (result->outcome == NGX_SVC_OUTBOUND_POSTPONED) {
        ngx_svc_webhook_ack_retry(job->delivery);
        ngx_svc_webhook_job_rest(job, NGX_SVC_WEBHOOK_RESUBMIT);

    } else {
        ngx_svc_webhook_job_outcome(job, result);
    }

    ngx_svc_webhook_deliver_wake();

    if (ngx_svc_webhook_d.draining && ngx_svc_webhook_d.nactive == 0) {
        ngx_svc_webhook_drain_idle();
    }
}
