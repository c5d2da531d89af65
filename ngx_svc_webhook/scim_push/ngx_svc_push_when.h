/*
 * Outbound SCIM: when a target is to be looked at again.
 */

#ifndef _NGX_SVC_PUSH_WHEN_H_INCLUDED_
#define _NGX_SVC_PUSH_WHEN_H_INCLUDED_


#include "ngx_svc_push_store.h"


#define NGX_SVC_PUSH_PACE     50        /* ms between two polls of a target */
#define NGX_SVC_PUSH_EACH     20        /* ms between two polls of any
                                           targets */
#define NGX_SVC_PUSH_LATER    1000      /* ms after a failure */
#define NGX_SVC_PUSH_SOON     100       /* ms until results are recorded */
#define NGX_SVC_PUSH_LOW      24        /* users ready, below which more are
                                           taken */
#define NGX_SVC_PUSH_COUNT    10000     /* ms between counts */


/* Returns whether no push is under way and nothing is to be recorded. */
ngx_uint_t ngx_svc_push_when_idle(ngx_svc_push_work_t *work);

/* Returns when a woken target polls; many woken targets poll in turn. */
ngx_msec_t ngx_svc_push_when_woken(ngx_svc_push_work_t *work);

/*
 * Sets when the next poll is due, after a poll.  n: number of targets; the
 * more there are the less often each polls.  listens: Redis wakes us, so polls
 * can be rare.
 */
void ngx_svc_push_when_polled(ngx_svc_push_work_t *work, ngx_uint_t n,
    ngx_uint_t listens);

/* Sets the timer for what is due first, unless an op is under way. */
void ngx_svc_push_when_next(ngx_svc_push_work_t *work, ngx_uint_t draining);


#endif /* _NGX_SVC_PUSH_WHEN_H_INCLUDED_ */
