/*
 * The helper's jobs, and what becomes of them.
 */

#include "ngx_svc_webhook_job.h"
#include "ngx_svc_webhook_ack.h"
#include "ngx_svc_webhook_note.h"
#include "ngx_svc_webhook_outcome.h"


typedef struct {
    ngx_queue_t      all;
    void           (*wake)(void);
    unsigned         draining:1;
} ngx_svc_webhook_jobs_t;


static void ngx_svc_webhook_job_rested(ngx_event_t *ev);


static ngx_svc_webhook_jobs_t  ngx_svc_webhook_jobs;


void
ngx_svc_webhook_jobs_init(void (*wake)(void))
{
    ngx_queue_init(&ngx_svc_webhook_jobs.all);

    ngx_svc_webhook_jobs.wake = wake;
    ngx_svc_webhook_jobs.draining = 0;
}


void
ngx_svc_webhook_jobs_exit(void)
{
    ngx_queue_t            *q;
    ngx_svc_webhook_job_t  *job;

    while (!ngx_queue_empty(&ngx_svc_webhook_jobs.all)) {
        q = ngx_queue_head(&ngx_svc_webhook_jobs.all);
        job = ngx_queue_data(q, ngx_svc_webhook_job_t, all);

        if (job->attempt) {
            ngx_svc_webhook_attempt_cancel(job->attempt);
            ngx_svc_webhook_backlog_leave(job->backlog);
        }

        ngx_svc_webhook_job_free(job);
    }
}


void
ngx_svc_webhook_jobs_forget(void)
{
    ngx_queue_t            *q, *next, *all;
    ngx_svc_webhook_job_t  *job;

    all = &ngx_svc_webhook_jobs.all;

    for (q = ngx_queue_head(all); q != ngx_queue_sentinel(all); q = next) {
        next = ngx_queue_next(q);
        job = ngx_queue_data(q, ngx_svc_webhook_job_t, all);

        if (job->attempt || job->starting) {
            job->forgotten = 1;

        } else {
            ngx_svc_webhook_job_free(job);
        }
    }
}


void
ngx_svc_webhook_jobs_drain(void)
{
    ngx_queue_t            *q, *next, *all;
    ngx_svc_webhook_job_t  *job;

    ngx_svc_webhook_jobs.draining = 1;
    all = &ngx_svc_webhook_jobs.all;

    for (q = ngx_queue_head(all); q != ngx_queue_sentinel(all); q = next) {
        next = ngx_queue_next(q);
        job = ngx_queue_data(q, ngx_svc_webhook_job_t, all);

        if (job->attempt == NULL && !job->starting) {
            ngx_svc_webhook_job_requeue(job);
        }
    }
}


ngx_svc_webhook_job_t *
ngx_svc_webhook_job_create(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_job_t  *job;

    job = ngx_calloc(sizeof(ngx_svc_webhook_job_t), ngx_cycle->log);
    if (job == NULL) {
        return NULL;
    }

    job->backlog = ngx_svc_webhook_backlog(d);
    if (job->backlog == NULL) {
        ngx_free(job);
        return NULL;
    }

    job->delivery = d;
    job->since = ngx_current_msec;
    job->timer.handler = ngx_svc_webhook_job_rested;
    job->timer.data = job;
    job->timer.log = ngx_cycle->log;
    job->timer.cancelable = 1;

    ngx_queue_insert_tail(&ngx_svc_webhook_jobs.all, &job->all);

    return job;
}


void
ngx_svc_webhook_job_overflow(ngx_svc_webhook_backlog_t *backlog)
{
    const ngx_str_t        *why;
    ngx_svc_webhook_job_t  *job;

    static const ngx_str_t  many = ngx_string("too many wait for the endpoint");
    static const ngx_str_t  failing = ngx_string("too many wait, and none is "
                                                 "answered");

    while ((job = ngx_svc_webhook_backlog_overflow(backlog)) != NULL) {
        why = ngx_svc_webhook_backlog_failing(backlog) ? &failing : &many;
        ngx_svc_webhook_job_give_up(job, NGX_SVC_OUTBOUND_OVERFLOW, why);
    }
}


void
ngx_svc_webhook_job_give_up(ngx_svc_webhook_job_t *job,
    ngx_svc_outbound_outcome_e outcome, const ngx_str_t *why)
{
    ngx_svc_outbound_result_t  result;

    ngx_svc_webhook_no_attempt(&result, outcome, why);
    ngx_svc_webhook_job_outcome(job, &result);
}


void
ngx_svc_webhook_job_outcome(ngx_svc_webhook_job_t *job,
    ngx_svc_outbound_result_t *result)
{
    ngx_svc_webhook_delivery_t  *d;

    d = job->delivery;

    if (ngx_svc_webhook_attempt_ended(d, result)
        != NGX_SVC_WEBHOOK_R_RETRIED)
    {
        ngx_svc_webhook_job_final(job);
        return;
    }

    if (ngx_svc_webhook_jobs.draining) {
        ngx_svc_webhook_job_requeue(job);
        return;
    }

    ngx_svc_webhook_ack_retry(d);

    ngx_svc_webhook_job_rest(job, ngx_svc_webhook_pause(d));
}


void
ngx_svc_webhook_job_rest(ngx_svc_webhook_job_t *job, ngx_msec_t ms)
{
    ngx_svc_webhook_backlog_unwait(job);
    ngx_add_timer(&job->timer, ms);
}


static void
ngx_svc_webhook_job_rested(ngx_event_t *ev)
{
    ngx_svc_webhook_backlog_wait(ev->data);
    ngx_svc_webhook_jobs.wake();
}


void
ngx_svc_webhook_job_final(ngx_svc_webhook_job_t *job)
{
    ngx_svc_webhook_delivery_t  *d;

    d = job->delivery;
    job->delivery = NULL;

    ngx_svc_webhook_job_free(job);
    ngx_svc_webhook_note(d);
    ngx_svc_webhook_ack_final(d);
}


void
ngx_svc_webhook_job_requeue(ngx_svc_webhook_job_t *job)
{
    ngx_svc_webhook_delivery_t  *d;

    d = job->delivery;
    job->delivery = NULL;

    ngx_svc_webhook_job_free(job);
    ngx_svc_webhook_ack_requeue(d);
}


void
ngx_svc_webhook_job_free(ngx_svc_webhook_job_t *job)
{
    ngx_svc_webhook_backlog_unwait(job);
    ngx_svc_webhook_backlog_release(job->backlog);

    if (job->timer.timer_set) {
        ngx_del_timer(&job->timer);
    }

    if (job->delivery) {
        ngx_free(job->delivery);
    }

    ngx_queue_remove(&job->all);

    ngx_free(job);
}
