/*
 * Outbound SCIM: the targets that this helper holds, and the work for each.
 *
 * One op of a target is under way at a time: whether there is something to do,
 * the next events of the log, a page of a look at all users, the next users,
 * the outcomes of pushes.  Users are pushed meanwhile.
 */

#ifndef _NGX_SVC_PUSH_WORK_H_INCLUDED_
#define _NGX_SVC_PUSH_WORK_H_INCLUDED_


#include "ngx_svc_common.h"


/* Called at the helper's start. */
void ngx_svc_push_work_init(void);

/*
 * Adds a target that the helper holds from now on.  NGX_OK, or NGX_ERROR: no
 * memory.
 */
ngx_int_t ngx_svc_push_work_add(const ngx_str_t *tenant, const ngx_str_t *id);

/* Returns how many targets there are. */
ngx_uint_t ngx_svc_push_work_count(void);

/* Returns how many pushes are under way. */
ngx_uint_t ngx_svc_push_work_inflight(void);

/* Called when something was written for a tenant; NULL: for any tenant. */
void ngx_svc_push_work_wake(const ngx_str_t *tenant);

/* Tells whether wake-ups arrive; otherwise targets are polled more often. */
void ngx_svc_push_work_listens(ngx_uint_t listens);

/*
 * Frees up to n targets that have nothing to do, and writes their ids to p,
 * each followed by a comma, as in the text of an array.  Returns the end.
 */
u_char *ngx_svc_push_work_give(u_char *p, ngx_uint_t n);

/* Frees all targets; what is under way is broken off. */
void ngx_svc_push_work_forget(void);

/*
 * Begins nothing new.  done() is called once, when the outcomes of what was
 * under way are recorded.
 */
void ngx_svc_push_work_drain(void (*done)(void));


#endif /* _NGX_SVC_PUSH_WORK_H_INCLUDED_ */
