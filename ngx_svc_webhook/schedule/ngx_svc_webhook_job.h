/*
 * The jobs of the helper: each is a delivery, from when it comes until its
 * outcome is final, or another helper's.
 */

#ifndef _NGX_SVC_WEBHOOK_JOB_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_JOB_H_INCLUDED_


#include "ngx_svc_webhook_backlog.h"


/*
 * At the helper's start and end.  wake: a job has come back to its backlog.
 * The end breaks off attempts.
 */
void ngx_svc_webhook_jobs_init(void (*wake)(void));
void ngx_svc_webhook_jobs_exit(void);

/*
 * All belong to another helper: frees them, those with an attempt under way
 * when that has ended.
 */
void ngx_svc_webhook_jobs_forget(void);

/* Requeues all without an attempt under way, and from now on the others. */
void ngx_svc_webhook_jobs_drain(void);

/* Of a new delivery; not in its backlog yet.  NULL when memory runs out. */
ngx_svc_webhook_job_t *ngx_svc_webhook_job_create(
    ngx_svc_webhook_delivery_t *d);

/*
 * Each of these ends a job without an attempt under way, which is freed: its
 * outcome is final; it goes back to the queue, so that nobody has to wait for
 * the attempts here; nothing is acknowledged.
 */
void ngx_svc_webhook_job_final(ngx_svc_webhook_job_t *job);
void ngx_svc_webhook_job_requeue(ngx_svc_webhook_job_t *job);
void ngx_svc_webhook_job_free(ngx_svc_webhook_job_t *job);

/*
 * An attempt has ended: retries, or ends the job.  Gives up: no attempt is of
 * any use.
 */
void ngx_svc_webhook_job_outcome(ngx_svc_webhook_job_t *job,
    ngx_svc_webhook_result_t *result);
void ngx_svc_webhook_job_give_up(ngx_svc_webhook_job_t *job,
    ngx_svc_webhook_outcome_e outcome, const ngx_str_t *why);

/*
 * Gives up what is too much in a backlog: it must not take the places of what
 * is due to other endpoints of its tenant.
 */
void ngx_svc_webhook_job_overflow(ngx_svc_webhook_backlog_t *backlog);

/* Out of its backlog for so many ms: the next attempt is not due before. */
void ngx_svc_webhook_job_rest(ngx_svc_webhook_job_t *job, ngx_msec_t ms);


#endif /* _NGX_SVC_WEBHOOK_JOB_H_INCLUDED_ */
