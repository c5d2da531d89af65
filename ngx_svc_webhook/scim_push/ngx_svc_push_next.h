/*
 * Outbound SCIM: what is next for a target, of which one op at a time is under
 * way.
 */

#ifndef _NGX_SVC_PUSH_NEXT_H_INCLUDED_
#define _NGX_SVC_PUSH_NEXT_H_INCLUDED_


#include "ngx_svc_push_store.h"


#define NGX_SVC_PUSH_KEEP     3600000   /* ms, between notes of how far it is */


/* As work->stored of ngx_svc_push_store.h. */

typedef void (*ngx_svc_push_next_pt)(ngx_svc_push_work_t *work, ngx_int_t rc);


/* At the helper's start: what is called behind a poll, and behind other ops. */
void ngx_svc_push_next_init(ngx_svc_push_next_pt polled,
    ngx_svc_push_next_pt stored);

/*
 * Begins the next op, while there is none; draining: what came of pushes is
 * recorded, nothing else.  NGX_OK: it has begun; NGX_DECLINED: there is nothing
 * to do; NGX_ERROR.
 */
ngx_int_t ngx_svc_push_next(ngx_svc_push_work_t *work, ngx_uint_t draining);


#endif /* _NGX_SVC_PUSH_NEXT_H_INCLUDED_ */
