/*
 * What the statements about a tenant share.
 */

#ifndef _NGX_SVC_ADMIN_TENANT_H_INCLUDED_
#define _NGX_SVC_ADMIN_TENANT_H_INCLUDED_


#include "ngx_svc_base_url.h"
#include "ngx_svc_cache.h"
#include "ngx_svc_schema.h"


/* What a PATCH may have. */

typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  branding;
    ngx_svc_value_t  any;           /* in it: looked at by its check alone */
} ngx_svc_admin_tenant_t;


extern const ngx_svc_member_t  ngx_svc_admin_branding_members[];

/* Of a write of what the public sees. */
void ngx_svc_admin_tenant_committed(const ngx_svc_pg_results_t *results);


#endif /* _NGX_SVC_ADMIN_TENANT_H_INCLUDED_ */
