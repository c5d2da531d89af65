/*
 * In the helper: one fetch, from its entry to its answer.
 */

#ifndef _NGX_SVC_FETCH_JOB_H_INCLUDED_
#define _NGX_SVC_FETCH_JOB_H_INCLUDED_


#include "ngx_svc_fetch_entry.h"
#include "ngx_svc_outbound.h"


typedef struct ngx_svc_fetch_tenant_s  ngx_svc_fetch_tenant_t;


/* A fetch, in its pool. */

typedef struct {
    ngx_pool_t               *pool;
    ngx_queue_t               all;      /* in the list of all jobs */
    ngx_queue_t               queue;    /* at its tenant, while it waits */
    ngx_svc_fetch_tenant_t   *tenant;   /* for the lane */
    ngx_svc_fetch_t           fetch;
    ngx_svc_outbound_t        request;  /* its handler is the lane's */
    ngx_msec_t                due;      /* when its time is up */
    ngx_event_t               timer;    /* for the lane */
    ngx_str_t                 answer;   /* sealed; ours to free */
    unsigned                  active:1; /* for the lane */
    unsigned                  overlong:1;   /* the answer is too long */
} ngx_svc_fetch_job_t;


/*
 * Makes a job of an entry with ms left.  Returns NULL, with a line in the log,
 * if that is no entry, or there is no memory.
 */
ngx_svc_fetch_job_t *ngx_svc_fetch_job(const ngx_str_t *entry, ngx_msec_t ms);

/*
 * Begins the request.  Returns NGX_OK, and its handler will be called; or
 * NGX_DECLINED: the result is set.
 */
ngx_int_t ngx_svc_fetch_job_begin(ngx_svc_fetch_job_t *job);

/* Sets the result, after the request. */
void ngx_svc_fetch_job_result(ngx_svc_fetch_job_t *job);

/* Seals the result, once.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_fetch_job_answer(ngx_svc_fetch_job_t *job);

/* Breaks the request off, if it is under way, and frees the job. */
void ngx_svc_fetch_job_free(ngx_svc_fetch_job_t *job);


#endif /* _NGX_SVC_FETCH_JOB_H_INCLUDED_ */
