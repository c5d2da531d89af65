/*
 * Outbound SCIM: looks for the user here whom a target's resource belongs to.
 */

#ifndef _NGX_SVC_PUSH_OWNER_H_INCLUDED_
#define _NGX_SVC_PUSH_OWNER_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* push->owner and push->owner_cancel of the push in an item. */
ngx_int_t ngx_svc_push_owner(ngx_svc_push_t *push, const ngx_str_t *id);
void ngx_svc_push_owner_cancel(ngx_svc_push_t *push);


#endif /* _NGX_SVC_PUSH_OWNER_H_INCLUDED_ */
