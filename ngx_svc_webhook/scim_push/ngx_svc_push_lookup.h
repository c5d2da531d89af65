/*
 * Outbound SCIM: one look-up of many users.
 *
 * Who is new is looked up before he is created.  Where many are, one request
 * asks for several of them by both their names and their ids: whom the target
 * does not show is created, and who is shown is looked up by himself, as if
 * nobody had been asked for.
 */

#ifndef _NGX_SVC_PUSH_LOOKUP_H_INCLUDED_
#define _NGX_SVC_PUSH_LOOKUP_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* ended: work->lookup has, and is gone. */
void ngx_svc_push_lookup_init(void (*ended)(ngx_svc_push_work_t *work));

/* Whether one is to be begun for those who are ready. */
ngx_uint_t ngx_svc_push_lookup_due(ngx_svc_push_work_t *work);

/* Begins it: work->lookup.  NGX_ERROR: memory, or nobody has room in it. */
ngx_int_t ngx_svc_push_lookup(ngx_svc_push_work_t *work);

/* Whether a user who is ready waits for what one says. */
ngx_uint_t ngx_svc_push_lookup_waits(ngx_svc_push_work_t *work,
    ngx_svc_push_item_t *item);

/* A user's requests begin: what the target has of him changes. */
void ngx_svc_push_lookup_forget(ngx_svc_push_work_t *work,
    const ngx_svc_push_t *push);

/* They have ended, and the target has him. */
void ngx_svc_push_lookup_known(ngx_svc_push_work_t *work,
    const ngx_svc_push_t *push);

/* Breaks off the one that is under way. */
void ngx_svc_push_lookup_cancel(ngx_svc_push_work_t *work);


#endif /* _NGX_SVC_PUSH_LOOKUP_H_INCLUDED_ */
