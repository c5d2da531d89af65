/*
 * Outbound SCIM: pushes one user.
 */

#ifndef _NGX_SVC_PUSH_USER_H_INCLUDED_
#define _NGX_SVC_PUSH_USER_H_INCLUDED_


#include "ngx_svc_push.h"


/*
 * Makes the requests.  The handler is called once, never from within this
 * call.  NGX_ERROR: no memory, and the handler will not be called.
 */
ngx_int_t ngx_svc_push_user(ngx_svc_push_t *push);

/* Takes the answer to push->owner(); never called from within that. */
void ngx_svc_push_user_owned(ngx_svc_push_t *push, ngx_svc_push_owner_e owner);

/* Breaks off what is under way: the handler will not be called. */
void ngx_svc_push_user_cancel(ngx_svc_push_t *push);


#endif /* _NGX_SVC_PUSH_USER_H_INCLUDED_ */
