/*
 * Outbound SCIM: the tenants whose targets this helper has.
 */

#ifndef _NGX_SVC_PUSH_TENANT_H_INCLUDED_
#define _NGX_SVC_PUSH_TENANT_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* At the helper's start. */
void ngx_svc_push_tenant_init(void);

/* The one with that id: a new one if need be, NULL: memory; or NULL. */
ngx_svc_push_tenant_t *ngx_svc_push_tenant(const ngx_str_t *id);
ngx_svc_push_tenant_t *ngx_svc_push_tenant_find(const ngx_str_t *id);

/* One of its works, or NULL. */
ngx_svc_push_work_t *ngx_svc_push_tenant_work(ngx_svc_push_tenant_t *tenant,
    const ngx_str_t *id);

/* A work of work->tenant comes, or goes, the last one with its tenant. */
void ngx_svc_push_tenant_join(ngx_svc_push_work_t *work);
void ngx_svc_push_tenant_leave(ngx_svc_push_work_t *work);


#endif /* _NGX_SVC_PUSH_TENANT_H_INCLUDED_ */
