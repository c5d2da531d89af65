/*
 * The backlogs of endpoints, in the helper: deliveries that wait; see the
 * scheduler.
 */

#ifndef _NGX_SVC_WEBHOOK_BACKLOG_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_BACKLOG_H_INCLUDED_


#include "ngx_svc_webhook_attempt.h"
#include "ngx_svc_webhook_deliver.h"
#include "ngx_svc_webhook_record.h"


typedef struct ngx_svc_webhook_tenant_s  ngx_svc_webhook_tenant_t;
typedef struct ngx_svc_webhook_backlog_s  ngx_svc_webhook_backlog_t;


/* A delivery: waits in its backlog, is attempted, or rests until its timer. */

typedef struct {
    ngx_queue_t                  all;       /* the scheduler's */
    ngx_queue_t                  queue;     /* while it waits */
    ngx_svc_webhook_delivery_t  *delivery;
    ngx_svc_webhook_backlog_t   *backlog;
    ngx_svc_webhook_attempt_t   *attempt;   /* while under way */
    ngx_msec_t                   since;     /* when it came */
    ngx_event_t                  timer;
    unsigned                     waiting:1;
    unsigned                     starting:1;    /* Redis records its start */
    unsigned                     forgotten:1;
} ngx_svc_webhook_job_t;


/* At the helper's start and end.  wake: a backlog may be ready. */
void ngx_svc_webhook_backlogs_init(void (*wake)(void));
void ngx_svc_webhook_backlogs_exit(void);

/*
 * The backlog of a delivery's endpoint, which stays until it is released.  NULL
 * when memory runs out.
 */
ngx_svc_webhook_backlog_t *ngx_svc_webhook_backlog(
    ngx_svc_webhook_delivery_t *d);
void ngx_svc_webhook_backlog_release(ngx_svc_webhook_backlog_t *backlog);

/* A job goes to the end of its backlog; or leaves it, if it is in it. */
void ngx_svc_webhook_backlog_wait(ngx_svc_webhook_job_t *job);
void ngx_svc_webhook_backlog_unwait(ngx_svc_webhook_job_t *job);

/* An attempt starts; ends; and what became of it. */
void ngx_svc_webhook_backlog_enter(ngx_svc_webhook_backlog_t *backlog);
void ngx_svc_webhook_backlog_leave(ngx_svc_webhook_backlog_t *backlog);
void ngx_svc_webhook_backlog_result(ngx_svc_webhook_backlog_t *backlog,
    ngx_svc_webhook_result_t *result);

/*
 * A receiver has acknowledged a delivery; Redis has confirmed that.  In between
 * the backlog stays, whether or not it is released.
 */
void ngx_svc_webhook_backlog_acked(ngx_svc_webhook_backlog_t *backlog);
void ngx_svc_webhook_backlog_confirmed(ngx_svc_webhook_backlog_t *backlog);

/*
 * The last job that waits in a backlog with more than it may hold, or NULL.  An
 * endpoint that has not answered for a while may hold few.
 */
ngx_svc_webhook_job_t *ngx_svc_webhook_backlog_overflow(
    ngx_svc_webhook_backlog_t *backlog);

/* 1: its endpoint's last answer was whole, and came in time. */
ngx_uint_t ngx_svc_webhook_backlog_connected(
    ngx_svc_webhook_backlog_t *backlog);

/* 1: attempts of the backlog's endpoint get no answer, one after the other. */
ngx_uint_t ngx_svc_webhook_backlog_failing(ngx_svc_webhook_backlog_t *backlog);

/*
 * Whose turn it is, NULL: nobody's; and the job, which stays in its backlog.
 * Both the tenant and the backlog go to the end.  nfree: how many attempts may
 * start.
 * A tenant never has more under way than are left to all others.
 */
ngx_svc_webhook_tenant_t *ngx_svc_webhook_tenant_next(ngx_uint_t nfree);
ngx_svc_webhook_job_t *ngx_svc_webhook_tenant_job(
    ngx_svc_webhook_tenant_t *tenant);

/* It is nobody's turn of this tenant until its endpoints have been loaded. */
void ngx_svc_webhook_tenant_load(ngx_svc_webhook_tenant_t *tenant);
void ngx_svc_webhook_tenant_loaded(ngx_str_t *tenant);


#endif /* _NGX_SVC_WEBHOOK_BACKLOG_H_INCLUDED_ */
