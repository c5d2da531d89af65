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
 * Of a user that there is not, or who has no password: no string is added, but
 * job->work.dummy set, and all the rest is the same.
 *
 * Of a new password: what must not be used again is added (its own too), and
 * NGX_SVC_PASSWORD_NEW made; job->work.check is the caller's own function for
 * what takes long, with data of job->task.pool.
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
     * The queue's; of its pool, which is the job's own, is allocated what
     * check() gets.  Secrets are wiped by a cleanup handler of that pool, which
     * runs in the event loop.
     */
    ngx_svc_work_t                task;

    /*
     * The caller's, until it is posted.  From then on it is a thread's, and the
     * results may be read in the handler alone, and only if rc is NGX_OK.
     */
    ngx_svc_password_work_t       work;

    /* In the event loop, once, and not from within ngx_svc_password_post(). */
    ngx_svc_password_handler_pt   handler;
    void                         *data;

    /*
     * NGX_OK: done; NGX_BUSY: it waited too long, or a thread has it still;
     * NGX_ERROR: there was no memory.
     */
    ngx_int_t                     rc;

    ngx_array_t                   strings;  /* of work */
};


/*
 * With a copy of the password, as ngx_svc_password_text() made it, which is
 * wiped when the job is freed; and the configured cost in work.  NULL: there is
 * no memory.
 *
 * When owner, such as a request's pool, is destroyed, the job is cancelled.
 */
ngx_svc_password_job_t *ngx_svc_password_create(ngx_pool_t *owner,
    const ngx_str_t *password);

/*
 * Adds a copy of a stored string to those that are verified, in order.  NGX_OK,
 * or NGX_ERROR: there is no memory, and the job is still the caller's.
 */
ngx_int_t ngx_svc_password_add(ngx_svc_password_job_t *job,
    const ngx_str_t *string);

/*
 * NGX_OK: the handler will be called, unless the job is cancelled, and the job
 * is freed when the handler returns.  NGX_BUSY: too many wait; NGX_ERROR: no
 * thread takes it; in these cases the job is freed.
 *
 * One that takes several hashes waits as so many, but one alone always has a
 * place if queue is not 0.
 */
ngx_int_t ngx_svc_password_post(ngx_svc_password_job_t *job);

/*
 * Before the handler is called: it will not be.  What waits leaves the queue; a
 * thread ends what it does, and until then it counts as one of "concurrency".
 * The caller has the job no more.  Within the handler it does nothing.
 */
void ngx_svc_password_cancel(ngx_svc_password_job_t *job);


#endif /* _NGX_SVC_PASSWORD_QUEUE_H_INCLUDED_ */
