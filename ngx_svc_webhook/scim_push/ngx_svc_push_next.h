/*
 * Outbound SCIM: chooses what is done next for a target.  A target has one op
 * under way at a time.
 */

#ifndef _NGX_SVC_PUSH_NEXT_H_INCLUDED_
#define _NGX_SVC_PUSH_NEXT_H_INCLUDED_


#include "ngx_svc_push_store.h"


#define NGX_SVC_PUSH_KEEP     3600000   /* ms between notes of the log's
                                           position */


/* The type of work->stored in ngx_svc_push_store.h. */

typedef void (*ngx_svc_push_next_pt)(ngx_svc_push_work_t *work, ngx_int_t rc);


/*
 * Called at the helper's start: sets what is called after a poll, and after
 * any other op.
 */
void ngx_svc_push_next_init(ngx_svc_push_next_pt polled,
    ngx_svc_push_next_pt stored);

/*
 * Begins the next op; there must be none under way.  draining: only outcomes
 * of pushes are recorded.  NGX_OK: it has begun; NGX_DECLINED: there is
 * nothing to do; NGX_ERROR: it failed.
 */
ngx_int_t ngx_svc_push_next(ngx_svc_push_work_t *work, ngx_uint_t draining);


#endif /* _NGX_SVC_PUSH_NEXT_H_INCLUDED_ */
