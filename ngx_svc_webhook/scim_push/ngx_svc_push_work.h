/*
 * Outbound SCIM: the targets that this helper has, and what it does for each.
 *
 * Of a target one thing after the other is asked of PostgreSQL: whether there
 * is something to do, the next events of the log, a page of a look at all
 * users, who is next, what came of it.  Meanwhile users are on their way.
 */

#ifndef _NGX_SVC_PUSH_WORK_H_INCLUDED_
#define _NGX_SVC_PUSH_WORK_H_INCLUDED_


#include "ngx_svc_common.h"


/* At the helper's start. */
void ngx_svc_push_work_init(void);

/* A target that the helper has from now on.  NGX_OK or NGX_ERROR: memory. */
ngx_int_t ngx_svc_push_work_add(const ngx_str_t *tenant, const ngx_str_t *id);

/* How many there are; how many users are on their way. */
ngx_uint_t ngx_svc_push_work_count(void);
ngx_uint_t ngx_svc_push_work_flying(void);

/* Something was written for a tenant; data: NULL: for any. */
void ngx_svc_push_work_wake(const ngx_str_t *tenant);

/* Whether somebody wakes; otherwise they look more often. */
void ngx_svc_push_work_listens(ngx_uint_t listens);

/*
 * Takes up to n that have nothing to do out of memory, and writes their ids to
 * p, as of an array's text, each with a comma behind it.  Returns its end.
 */
u_char *ngx_svc_push_work_give(u_char *p, ngx_uint_t n);

/* All go out of memory; what is under way is broken off. */
void ngx_svc_push_work_forget(void);

/* Begins nothing; done, once: what was under way is recorded. */
void ngx_svc_push_work_drain(void (*done)(void));


#endif /* _NGX_SVC_PUSH_WORK_H_INCLUDED_ */
