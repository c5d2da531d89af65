/*
 * Passwords that threads verify and hash: a queue of ngx_svc_work.h.
 *
 *     job = ngx_svc_password_create(r->pool, &password);
 *     if (job == NULL) { 500 }
 *
 *     if (ngx_svc_password_add(job, &stored) != NGX_OK) {
 *         ngx_svc_password_cancel(job); 500
 *     }
 *
 *     job->work.make = NGX_SVC_PASSWORD_RENEW;
 *     job->handler = handler;
 *     job->data = sr;
 *
 *     switch (ngx_svc_password_post(job)) {
 *     case NGX_OK:    r->main->count++;
 *                     r->read_event_handler = ngx_http_test_reading;
 *                     return NGX_DONE;
 *     case NGX_BUSY:  503, "Retry-After: 1"
 *     default:        500
 *     }
 *
 * and in handler(job):
 *
 *     ngx_http_set_log_request(c->log, r);
 *
 *     if (job->rc == NGX_BUSY) 503; if (job->rc != NGX_OK) 500;
 *     if (job->work.refused != -1) an alert: a stored string is damaged
 *     if (job->work.matched == -1) 401; ...
 *     ngx_http_finalize_request(r, ...); ngx_http_run_posted_requests(c);
 *
 * For a user that does not exist, or has no password, no string is added, and
 * job->work.dummy is set; all the rest is the same.
 *
 * For a new password the strings that must not be used again are added, the
 * current one, too, and work.make is NGX_SVC_PASSWORD_NEW; job->work.check is
 * the caller's own function for checks that take long, with data of
 * job->task.pool.
 */

#ifndef _NGX_SVC_PASSWORD_QUEUE_H_INCLUDED_
#define _NGX_SVC_PASSWORD_QUEUE_H_INCLUDED_


#include "ngx_svc_admin_conf.h"
#include "ngx_svc_password_work.h"
#include "ngx_svc_work.h"


typedef struct ngx_svc_password_job_s  ngx_svc_password_job_t;

typedef void (*ngx_svc_password_handler_pt)(ngx_svc_password_job_t *job);


struct ngx_svc_password_job_s {

    /*
     * The queue's part.  What check() gets is allocated from its pool, which is
     * the job's own.  Secrets are wiped by a cleanup handler of that pool,
     * which runs in the event loop.
     */
    ngx_svc_work_t                task;

    /*
     * The caller's, until the job is posted.  After that it is a thread's, and
     * the results may only be read in the handler, and only if rc is NGX_OK.
     */
    ngx_svc_password_work_t       work;

    /*
     * Called in the event loop, once, not from within ngx_svc_password_post().
     */
    ngx_svc_password_handler_pt   handler;
    void                         *data;

    /*
     * NGX_OK: done; NGX_BUSY: it waited too long, or a thread still has it;
     * NGX_ERROR: there was no memory.
     */
    ngx_int_t                     rc;

    ngx_array_t                   strings;  /* work's strings */
};


/*
 * Makes a job with a copy of the password, as ngx_svc_password_text() made it,
 * which is wiped when the job is freed, and with the configured cost in work.
 * Returns NULL when there is no memory.
 *
 * When owner, such as a request's pool, is destroyed, the job is cancelled.
 */
ngx_svc_password_job_t *ngx_svc_password_create(ngx_pool_t *owner,
    const ngx_str_t *password);

/*
 * Adds a copy of a stored string to those that are verified, in order.  Returns
 * NGX_OK; NGX_ERROR when there is no memory, and the job is still the caller's.
 */
ngx_int_t ngx_svc_password_add(ngx_svc_password_job_t *job,
    const ngx_str_t *string);

/*
 * Posts a job.  Returns NGX_OK: the handler will be called, unless the job is
 * cancelled, and the job is freed when the handler returns; NGX_BUSY: too many
 * jobs wait; NGX_ERROR: no thread takes it.  After NGX_BUSY and NGX_ERROR the
 * job is freed.
 *
 * A job of several hashes takes as many places to wait, but a single job always
 * has a place if "queue" is not 0.
 */
ngx_int_t ngx_svc_password_post(ngx_svc_password_job_t *job);

/*
 * Cancels a job whose handler has not been called; it will not be.  A job that
 * waits leaves the queue; a thread ends what it does, and until then it counts
 * as one of "concurrency".  The caller must not use the job any more.  Within
 * the handler this does nothing.
 */
void ngx_svc_password_cancel(ngx_svc_password_job_t *job);


#endif /* _NGX_SVC_PASSWORD_QUEUE_H_INCLUDED_ */
