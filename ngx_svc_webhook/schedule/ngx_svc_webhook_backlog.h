/*
 * In the helper: the backlogs of endpoints, which are deliveries that wait;
 * see the scheduler (ngx_svc_webhook_deliver.c).
 */

#ifndef _NGX_SVC_WEBHOOK_BACKLOG_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_BACKLOG_H_INCLUDED_


#include "ngx_svc_webhook_attempt.h"
#include "ngx_svc_webhook_deliver.h"
#include "ngx_svc_webhook_record.h"


typedef struct ngx_svc_webhook_tenant_s  ngx_svc_webhook_tenant_t;
typedef struct ngx_svc_webhook_backlog_s  ngx_svc_webhook_backlog_t;


/*
 * A delivery in the helper: it waits in its backlog, is attempted, or rests
 * until its timer fires.
 */

typedef struct {
    ngx_queue_t                  all;       /* in the list of all jobs */
    ngx_queue_t                  queue;     /* in the backlog, while it waits */
    ngx_svc_webhook_delivery_t  *delivery;
    ngx_svc_webhook_backlog_t   *backlog;
    ngx_svc_webhook_attempt_t   *attempt;   /* under way, or NULL */
    ngx_msec_t                   since;     /* when the delivery came */
    ngx_event_t                  timer;
    unsigned                     waiting:1;
    unsigned                     starting:1;    /* Redis is recording the
                                                   attempt */
    unsigned                     forgotten:1;
} ngx_svc_webhook_job_t;


/* Called at the helper's start.  wake: a backlog may be ready. */
void ngx_svc_webhook_backlogs_init(void (*wake)(void));

/* Called at the helper's end. */
void ngx_svc_webhook_backlogs_exit(void);

/*
 * Returns the backlog of a delivery's endpoint, which stays until it is
 * released.  NULL: no memory.
 */
ngx_svc_webhook_backlog_t *ngx_svc_webhook_backlog(
    ngx_svc_webhook_delivery_t *d);

/* Releases a backlog, once for each job. */
void ngx_svc_webhook_backlog_release(ngx_svc_webhook_backlog_t *backlog);

/* Adds a job at the end of its backlog. */
void ngx_svc_webhook_backlog_wait(ngx_svc_webhook_job_t *job);

/* Removes a job from its backlog, if it waits there. */
void ngx_svc_webhook_backlog_unwait(ngx_svc_webhook_job_t *job);

/* Counts an attempt that starts. */
void ngx_svc_webhook_backlog_enter(ngx_svc_webhook_backlog_t *backlog);

/* Counts off an attempt that has ended. */
void ngx_svc_webhook_backlog_leave(ngx_svc_webhook_backlog_t *backlog);

/* Notes the result of an attempt. */
void ngx_svc_webhook_backlog_result(ngx_svc_webhook_backlog_t *backlog,
    ngx_svc_outbound_result_t *result);

/*
 * A receiver has acknowledged a delivery: the backlog stays, even if it is
 * released, until Redis has confirmed that.
 */
void ngx_svc_webhook_backlog_acked(ngx_svc_webhook_backlog_t *backlog);

/* Redis has confirmed that, or never will. */
void ngx_svc_webhook_backlog_confirmed(ngx_svc_webhook_backlog_t *backlog);

/*
 * Returns the last job of a backlog that has more than it may, else NULL.
 * Endpoints that have not answered for a while may have fewer.
 */
ngx_svc_webhook_job_t *ngx_svc_webhook_backlog_overflow(
    ngx_svc_webhook_backlog_t *backlog);

/* Returns 1 if the endpoint's last answer was complete, and in time. */
ngx_uint_t ngx_svc_webhook_backlog_connected(
    ngx_svc_webhook_backlog_t *backlog);

/* Returns 1 if the endpoint did not answer several attempts in a row. */
ngx_uint_t ngx_svc_webhook_backlog_failing(ngx_svc_webhook_backlog_t *backlog);

/*
 * Returns the tenant whose turn it is, NULL: none; it moves to the end of the
 * ring.  nfree: number of attempts that may start.  A tenant never has more
 * attempts under way than are left to all others.
 */
ngx_svc_webhook_tenant_t *ngx_svc_webhook_tenant_next(ngx_uint_t nfree);

/*
 * Returns the job that is next of a tenant, which stays in its backlog; the
 * backlog moves to the end of the tenant's ring.
 */
ngx_svc_webhook_job_t *ngx_svc_webhook_tenant_job(
    ngx_svc_webhook_tenant_t *tenant);

/* The tenant has no turn until its endpoints have been loaded. */
void ngx_svc_webhook_tenant_load(ngx_svc_webhook_tenant_t *tenant);

/* The endpoints of a tenant have been loaded. */
void ngx_svc_webhook_tenant_loaded(ngx_str_t *tenant);


#endif /* _NGX_SVC_WEBHOOK_BACKLOG_H_INCLUDED_ */
