/*
 * Outbound SCIM: a target is asked what it can do, or tested.
 */

#ifndef _NGX_SVC_PUSH_ASK_H_INCLUDED_
#define _NGX_SVC_PUSH_ASK_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* step: is called when it has answered. */
void ngx_svc_push_ask_init(void (*step)(ngx_svc_push_work_t *work));

/*
 * Asks; when it has answered, work->answered is set, and the latter stores it
 * as of ngx_svc_push_store.h: to whom asked for a test, too, unless the target
 * is another one by then.  NGX_OK, or NGX_ERROR.
 */
ngx_int_t ngx_svc_push_ask(ngx_svc_push_work_t *work, ngx_uint_t test);
ngx_int_t ngx_svc_push_ask_answer(ngx_svc_push_work_t *work);

/* Breaks it off. */
void ngx_svc_push_ask_cancel(ngx_svc_push_work_t *work);


#endif /* _NGX_SVC_PUSH_ASK_H_INCLUDED_ */
