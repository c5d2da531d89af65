/*
 * The common parts of the statements about a tenant.
 */

#ifndef _NGX_SVC_ADMIN_TENANT_H_INCLUDED_
#define _NGX_SVC_ADMIN_TENANT_H_INCLUDED_


#include "ngx_svc_base_url.h"
#include "ngx_svc_cache.h"
#include "ngx_svc_schema.h"


/* The members of a PATCH. */

typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  branding;
    ngx_svc_value_t  any;           /* in branding: only checked */
} ngx_svc_admin_tenant_t;


extern const ngx_svc_member_t  ngx_svc_admin_branding_members[];

/* The committed hook of a write that changes the tenant's public data. */
void ngx_svc_admin_tenant_committed(const ngx_svc_pg_results_t *results);


#endif /* _NGX_SVC_ADMIN_TENANT_H_INCLUDED_ */
