/*
 * Outbound SCIM: when a target is to be looked at again.
 */

#ifndef _NGX_SVC_PUSH_WHEN_H_INCLUDED_
#define _NGX_SVC_PUSH_WHEN_H_INCLUDED_


#include "ngx_svc_push_store.h"


#define NGX_SVC_PUSH_PACE     50        /* ms, from a poll to the next */
#define NGX_SVC_PUSH_EACH     20        /* ms, so many polls of all targets */
#define NGX_SVC_PUSH_LATER    1000      /* after a failure */
#define NGX_SVC_PUSH_SOON     100       /* or after so many ms */
#define NGX_SVC_PUSH_LOW      24        /* users that are ready */
#define NGX_SVC_PUSH_COUNT    10000     /* ms, between counts */


/* Nobody is on the way, and nothing is to be recorded. */
ngx_uint_t ngx_svc_push_when_idle(ngx_svc_push_work_t *work);

/* When a target that is woken polls: none is far from its turn. */
ngx_msec_t ngx_svc_push_when_woken(ngx_svc_push_work_t *work);

/*
 * Behind a poll: sets when the next one is due.  Of many targets, n, each polls
 * less often; listens: who is woken polls less often, too.
 */
void ngx_svc_push_when_polled(ngx_svc_push_work_t *work, ngx_uint_t n,
    ngx_uint_t listens);

/* Sets the timer for what is due first, unless an op is under way. */
void ngx_svc_push_when_next(ngx_svc_push_work_t *work, ngx_uint_t draining);


#endif /* _NGX_SVC_PUSH_WHEN_H_INCLUDED_ */
