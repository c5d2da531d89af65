/*
 * Outbound SCIM: the PATCH that changes a target's resource to what is wanted.
 */

#ifndef _NGX_SVC_PUSH_PATCH_H_INCLUDED_
#define _NGX_SVC_PUSH_PATCH_H_INCLUDED_


#include "ngx_svc_push.h"


/*
 * Writes the operations (RFC 7644, 3.5.2) that change the resource there to
 * what is wanted; there == NULL: the resource is not known, and all are
 * written.  Attributes that were never sent are not removed, and for an
 * inactive user there is only "active".  NGX_OK; NGX_DECLINED: nothing
 * differs; NGX_ERROR: no memory.  The body is in the pool.
 */
ngx_int_t ngx_svc_push_patch(ngx_pool_t *pool, const ngx_svc_push_want_t *want,
    const cJSON *there, ngx_str_t *body);


#endif /* _NGX_SVC_PUSH_PATCH_H_INCLUDED_ */
