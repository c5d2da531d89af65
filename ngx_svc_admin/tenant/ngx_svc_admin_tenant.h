/*
 * What the statements about a tenant share.
 */

#ifndef _NGX_SVC_ADMIN_TENANT_H_INCLUDED_
#define _NGX_SVC_ADMIN_TENANT_H_INCLUDED_


#include "ngx_svc_base_url.h"
#include "ngx_svc_cache.h"
#include "ngx_svc_schema.h"


/* SQL: where a tenant's public resources are; $1: ngx_svc_param_base_url(). */

#define NGX_SVC_ADMIN_LOGO_URL(slug, etag)                                    \
    " CASE WHEN " etag " IS NULL THEN '{}'"                                   \
    " ELSE jsonb_build_object('logoUrl', " NGX_SVC_BASE_URL("$1")             \
        " || '/v1/tenants/' || " slug " || '/logo?v=' || " etag ") END"

/* SQL: the version in an entity tag, and whether If-Match names it. */

#define NGX_SVC_ADMIN_TENANT_VERSION(time)                                    \
    "(extract(epoch from " time ") * 1000)::int8"

#define NGX_SVC_ADMIN_TENANT_MATCHES(versions)                                \
    NGX_SVC_IF_MATCH(versions, NGX_SVC_ADMIN_TENANT_VERSION("updated_at"))

/* SQL: what a branding has when nothing else is stored. */

#define NGX_SVC_ADMIN_SWITCHES                                                \
    "'{\"allowSelfSignup\":false,\"allowPasswordless\":false}'::jsonb"

/* SQL: a tenant as its administrators see it. */

#define NGX_SVC_ADMIN_TENANT_COLUMNS(t)                                       \
    t ".id, " t ".name, " t ".slug,"                                          \
    " " NGX_SVC_ADMIN_SWITCHES " || " t ".branding || "                       \
    NGX_SVC_ADMIN_LOGO_URL(t ".slug", t ".logo_etag") " AS branding, "        \
    t ".created_at AS \"createdAt\", " t ".updated_at AS \"updatedAt\", "     \
    NGX_SVC_ADMIN_TENANT_VERSION(t ".updated_at") " AS _version"


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
