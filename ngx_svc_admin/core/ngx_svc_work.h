/*
 * Work for threads: in each worker a limited number of jobs of a kind runs at a
 * time, in order, and a limited number waits, for a limited time.  Where
 * tenants have shares, a job waits until its tenant has room, and those of
 * others go before it.
 *
 *     job = ngx_svc_work_create(&queue, r->pool, sizeof(my_job_t));
 *     if (job == NULL) { 500 }
 *
 *     job->work.run = run;
 *     job->work.handler = handler;
 *
 *     switch (ngx_svc_work_post(&job->work)) {
 *     case NGX_OK:    r->main->count++; return NGX_DONE;
 *     case NGX_BUSY:  503
 *     default:        500
 *     }
 *
 * and handler() ends with ngx_svc_work_finalize().
 */

#ifndef _NGX_SVC_WORK_H_INCLUDED_
#define _NGX_SVC_WORK_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_http.h"

#include <ngx_thread_pool.h>


typedef struct ngx_svc_work_s  ngx_svc_work_t;

typedef void (*ngx_svc_work_pt)(ngx_svc_work_t *work);


/* The queue of a kind of jobs; static, made with ngx_svc_work_queue(). */

typedef struct ngx_svc_work_queue_s  ngx_svc_work_queue_t;

struct ngx_svc_work_queue_s {
    ngx_uint_t          concurrency;    /* 0: as many as there are cores */
    ngx_uint_t          share;          /* jobs of one tenant that run at a
                                           time; 0: any */
    ngx_uint_t          most;           /* places to wait; 0: none */
    ngx_msec_t          waits;          /* ms that a job may wait */
    ngx_msec_t          runs;           /* ms that it may run after that */

    /* Called in the event loop: others wait, or one has run; or NULL. */
    void              (*changed)(const ngx_svc_work_queue_t *in);

    ngx_queue_t         jobs;
    ngx_queue_t         running;
    ngx_uint_t          nwaiting;       /* the sum of their weights */
    ngx_uint_t          nrunning;
};

#define ngx_svc_work_queue(name, concurrency, most, timeout)                  \
    { concurrency, 0, most, timeout, timeout, NULL,                           \
      { &name.jobs, &name.jobs }, { &name.running, &name.running }, 0, 0 }


/* The first member of a job, which is the caller's until it is posted. */

struct ngx_svc_work_s {

    /* Runs in a thread, with the job and nothing of the request. */
    ngx_svc_work_pt        run;

    /*
     * Called in the event loop, once, and not from within ngx_svc_work_post().
     * The job is freed when it returns, unless a thread still has it.
     */
    ngx_svc_work_pt        handler;

    /* Called in the event loop before a thread gets the job; or NULL. */
    ngx_svc_work_pt        start;

    /* Called in the event loop before the job is freed; or NULL. */
    ngx_svc_work_pt        wipe;

    /* Whose share the job takes; zeros: nobody's. */
    u_char                 tenant[NGX_SVC_UUID_LEN];

    /* The places that the job takes to wait, all at most; 0: one. */
    ngx_uint_t             weight;

    /* NGX_OK: it has run; NGX_BUSY: it took too long; NGX_ERROR: no thread. */
    ngx_int_t              rc;

    /* The job's own: the request may end while a thread has the job. */
    ngx_pool_t            *pool;

    /* The queue's own. */

    ngx_svc_work_queue_t  *in;
    ngx_thread_task_t     *task;
    ngx_pool_cleanup_t    *cln;         /* of the owner's pool; or NULL */
    ngx_event_t            timer;       /* keeps a worker from quitting */
    ngx_queue_t            queue;       /* while waiting */
    ngx_queue_t            peers;       /* while running */
    unsigned               waiting:1;
    unsigned               running:1;
    unsigned               called:1;    /* 1: the handler was called */
};


/*
 * Creates a job of that size, zeroed.  When owner, such as a request's pool, is
 * destroyed, the job is cancelled; owner may be NULL.  Returns NULL when there
 * is no memory.
 */
void *ngx_svc_work_create(ngx_svc_work_queue_t *in, ngx_pool_t *owner,
    size_t size);

/*
 * Posts a job.  Returns NGX_OK: the handler will be called, unless the job is
 * cancelled; NGX_BUSY: too many jobs wait; NGX_ERROR: no thread takes it.
 * After NGX_BUSY and NGX_ERROR the job is freed.
 */
ngx_int_t ngx_svc_work_post(ngx_svc_work_t *work);

/*
 * Cancels a job whose handler has not been called; it will not be.  A job that
 * waits leaves the queue; a thread ends what it does.  The caller must not use
 * the job any more.
 */
void ngx_svc_work_cancel(ngx_svc_work_t *work);

/* Waits until the threads have ended, which nginx has told to. */
void ngx_svc_work_exit_worker(void);

/* Ends a handler: finalizes the request that has waited for the job. */
void ngx_svc_work_finalize(ngx_http_request_t *r, ngx_int_t rc);


#endif /* _NGX_SVC_WORK_H_INCLUDED_ */
