/*
 * Outbound SCIM: whose a resource of a target is, of the users here.
 */

#ifndef _NGX_SVC_PUSH_OWNER_H_INCLUDED_
#define _NGX_SVC_PUSH_OWNER_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* push->owner and push->owner_cancel of an item's push. */
ngx_int_t ngx_svc_push_owner(ngx_svc_push_t *push, const ngx_str_t *id);
void ngx_svc_push_owner_cancel(ngx_svc_push_t *push);


#endif /* _NGX_SVC_PUSH_OWNER_H_INCLUDED_ */
