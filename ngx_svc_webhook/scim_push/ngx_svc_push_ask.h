/*
 * Outbound SCIM: asks a target what it can do, or tests it.
 */

#ifndef _NGX_SVC_PUSH_ASK_H_INCLUDED_
#define _NGX_SVC_PUSH_ASK_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* Sets step(), which is called when a target has answered. */
void ngx_svc_push_ask_init(void (*step)(ngx_svc_push_work_t *work));

/*
 * Asks the target; test: for a test that somebody asked for.  When the target
 * has answered, work->answered is set.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_push_ask(ngx_svc_push_work_t *work, ngx_uint_t test);

/*
 * Stores the answer, by an op as in ngx_svc_push_store.h.  A test's answer is
 * stored, too, unless the target was changed meanwhile.
 */
ngx_int_t ngx_svc_push_ask_answer(ngx_svc_push_work_t *work);

/* Breaks off the request. */
void ngx_svc_push_ask_cancel(ngx_svc_push_work_t *work);


#endif /* _NGX_SVC_PUSH_ASK_H_INCLUDED_ */
