/*
 * The helper's jobs: each is a delivery, from when it is taken until its
 * outcome is final, or another helper has it.
 */

#ifndef _NGX_SVC_WEBHOOK_JOB_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_JOB_H_INCLUDED_


#include "ngx_svc_webhook_backlog.h"


/* Called at the helper's start.  wake: a job waits in its backlog again. */
void ngx_svc_webhook_jobs_init(void (*wake)(void));

/* Called at the helper's end: breaks off attempts. */
void ngx_svc_webhook_jobs_exit(void);

/*
 * Another helper has all deliveries: frees the jobs, those with an attempt
 * under way when it has ended.
 */
void ngx_svc_webhook_jobs_forget(void);

/*
 * Requeues all jobs without an attempt under way; from now on the others are
 * requeued when theirs has ended.
 */
void ngx_svc_webhook_jobs_drain(void);

/*
 * Makes a job of a new delivery, which is not in its backlog yet.  NULL: no
 * memory.
 */
ngx_svc_webhook_job_t *ngx_svc_webhook_job_create(
    ngx_svc_webhook_delivery_t *d);

/*
 * Each of the following ends and frees a job without an attempt under way.
 *
 * The outcome is final.
 */
void ngx_svc_webhook_job_final(ngx_svc_webhook_job_t *job);

/* The delivery goes back to the queue, and need not wait for attempts here. */
void ngx_svc_webhook_job_requeue(ngx_svc_webhook_job_t *job);

/* Nothing is acknowledged. */
void ngx_svc_webhook_job_free(ngx_svc_webhook_job_t *job);

/* An attempt has ended: retries later, or ends the job. */
void ngx_svc_webhook_job_outcome(ngx_svc_webhook_job_t *job,
    ngx_svc_outbound_result_t *result);

/* Ends a job, since no attempt is of any use.  why: its error. */
void ngx_svc_webhook_job_give_up(ngx_svc_webhook_job_t *job,
    ngx_svc_outbound_outcome_e outcome, const ngx_str_t *why);

/*
 * Gives up the surplus of a backlog: it must not take the place of deliveries
 * to other endpoints of the tenant.
 */
void ngx_svc_webhook_job_overflow(ngx_svc_webhook_backlog_t *backlog);

/* Takes a job from its backlog for ms, until its next attempt is due. */
void ngx_svc_webhook_job_rest(ngx_svc_webhook_job_t *job, ngx_msec_t ms);


#endif /* _NGX_SVC_WEBHOOK_JOB_H_INCLUDED_ */
