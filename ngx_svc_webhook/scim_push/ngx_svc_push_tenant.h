/*
 * Outbound SCIM: the tenants whose targets this helper holds.
 */

#ifndef _NGX_SVC_PUSH_TENANT_H_INCLUDED_
#define _NGX_SVC_PUSH_TENANT_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* Called at the helper's start. */
void ngx_svc_push_tenant_init(void);

/*
 * Returns the tenant of that id, which is added if need be.  NULL: no memory.
 */
ngx_svc_push_tenant_t *ngx_svc_push_tenant(const ngx_str_t *id);

/* Returns the tenant of that id, or NULL. */
ngx_svc_push_tenant_t *ngx_svc_push_tenant_find(const ngx_str_t *id);

/* Returns a target of the tenant, or NULL. */
ngx_svc_push_work_t *ngx_svc_push_tenant_work(ngx_svc_push_tenant_t *tenant,
    const ngx_str_t *id);

/* Adds a work to work->tenant. */
void ngx_svc_push_tenant_join(ngx_svc_push_work_t *work);

/* Removes a work from work->tenant, which is freed with its last work. */
void ngx_svc_push_tenant_leave(ngx_svc_push_work_t *work);


#endif /* _NGX_SVC_PUSH_TENANT_H_INCLUDED_ */
