/*
 * What the statements about a tenant share.
 */

#ifndef _NGX_SVC_ADMIN_TENANT_H_INCLUDED_
#define _NGX_SVC_ADMIN_TENANT_H_INCLUDED_


#include "ngx_svc_cache.h"
#include "ngx_svc_schema.h"


/* SQL: where a tenant's public resources are; $1: the base URL. */

#define NGX_SVC_ADMIN_LOGO_URL(slug, etag)                                    \
    " CASE WHEN " etag " IS NULL THEN '{}'"                                   \
    " ELSE jsonb_build_object('logoUrl', $1::text || '/v1/tenants/' || "      \
    slug " || '/logo?v=' || " etag ") END"

/* SQL: the version in an entity tag, and whether If-Match names it. */

#define NGX_SVC_ADMIN_TENANT_VERSION(time)                                    \
    "(extract(epoch from " time ") * 1000)::int8::text"

#define NGX_SVC_ADMIN_TENANT_MATCHES(versions)                                \
    "(" versions "::text IS NULL OR "                                         \
    NGX_SVC_ADMIN_TENANT_VERSION("updated_at")                                \
    " = ANY (" versions "::text::text[]))"

/* SQL: each change has a time of its own. */

#define NGX_SVC_ADMIN_TENANT_MOVED                                            \
    "greatest(now(), t.updated_at + interval '1 millisecond')"

/* SQL: what a branding has when nothing else is stored. */

#define NGX_SVC_ADMIN_SWITCHES                                                \
    "'{\"allowSelfSignup\":false,\"allowPasswordless\":false}'::jsonb"

/* SQL: what ngx_svc_admin_tenant_reply() reads, but for the first two. */

#define NGX_SVC_ADMIN_TENANT_COLUMNS_OF(t)                                    \
    t ".id, " t ".name, " t ".slug,"                                          \
    " " NGX_SVC_ADMIN_SWITCHES " || " t ".branding || "                       \
    NGX_SVC_ADMIN_LOGO_URL(t ".slug", t ".logo_etag") ", "                    \
    t ".created_at, " t ".updated_at, "                                       \
    NGX_SVC_ADMIN_TENANT_VERSION(t ".updated_at")

#define NGX_SVC_ADMIN_TENANT_COLUMNS                                          \
    NGX_SVC_ADMIN_TENANT_COLUMNS_OF("tenant")


extern const ngx_svc_member_t  ngx_svc_admin_branding_members[];

/* Adds a statement with the base URL as its first parameter; or NULL. */
ngx_svc_pg_call_t *ngx_svc_admin_tenant_call(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *statement);

/* For the op of a write of what the public sees. */
void ngx_svc_admin_tenant_committed(PGresult **results);


#endif /* _NGX_SVC_ADMIN_TENANT_H_INCLUDED_ */
