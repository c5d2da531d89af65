/*
 * Outbound SCIM: the operations that make a user of what is there.
 */

#ifndef _NGX_SVC_PUSH_PATCH_H_INCLUDED_
#define _NGX_SVC_PUSH_PATCH_H_INCLUDED_


#include "ngx_svc_push.h"


/*
 * The operations (RFC 7644, 3.5.2) that make a user of what is there; all of
 * them when that is NULL.  What was never sent is not taken away, and of an
 * inactive user it is "active" alone.  NGX_OK; NGX_DECLINED: nothing differs;
 * NGX_ERROR: memory.  The body is of the pool.
 */
ngx_int_t ngx_svc_push_patch(ngx_pool_t *pool, const ngx_svc_push_want_t *want,
    const cJSON *there, ngx_str_t *body);


#endif /* _NGX_SVC_PUSH_PATCH_H_INCLUDED_ */
