/*
 * The admin API's tables: routes, constraints, statements.
 */

#include "ngx_svc_admin.h"


#define NGX_SVC_ADMIN_MANAGE  ngx_string("tenant:manage")


/* An empty permission: any live token will do. */

const ngx_svc_route_t  ngx_svc_admin_routes[] = {

    { NGX_HTTP_GET, ngx_string("/tenants/*/branding"), ngx_string(""),
      NGX_SVC_ROUTE_PUBLIC, ngx_svc_admin_public_branding_prepare,
      ngx_svc_admin_public_branding_reply },

    { NGX_HTTP_GET, ngx_string("/tenants/*/logo"), ngx_string(""),
      NGX_SVC_ROUTE_PUBLIC, ngx_svc_admin_public_logo_prepare,
      ngx_svc_admin_public_logo_reply },

    { NGX_HTTP_GET, ngx_string("/openapi.json"), ngx_string(""),
      NGX_SVC_ROUTE_PUBLIC, ngx_svc_admin_openapi_prepare, NULL },

    { NGX_HTTP_GET, ngx_string("/admin/tenant"), ngx_string(""), 0,
      ngx_svc_admin_tenant_get_prepare, ngx_svc_admin_tenant_reply },

    { NGX_HTTP_PATCH, ngx_string("/admin/tenant"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_tenant_patch_prepare, ngx_svc_admin_tenant_reply },

    { NGX_HTTP_PUT, ngx_string("/admin/tenant/logo"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_RAW, NULL, ngx_svc_admin_logo_put_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/tenant/logo"),
      NGX_SVC_ADMIN_MANAGE, NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_logo_delete_prepare, ngx_svc_admin_tenant_reply },

    { NGX_HTTP_GET, ngx_string("/admin/api-tokens"), NGX_SVC_ADMIN_MANAGE, 0,
      ngx_svc_admin_tokens_list_prepare, ngx_svc_admin_tokens_list_reply },

    { NGX_HTTP_POST, ngx_string("/admin/api-tokens"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE|NGX_SVC_ROUTE_CREATE,
      ngx_svc_admin_tokens_create_prepare,
      ngx_svc_admin_tokens_create_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/api-tokens/*"),
      NGX_SVC_ADMIN_MANAGE, NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_tokens_revoke_prepare,
      ngx_svc_admin_tokens_revoke_reply },

    { 0, ngx_null_string, ngx_null_string, 0, NULL, NULL }
};


const ngx_svc_constraint_t  ngx_svc_admin_constraints[] = {
    { NULL, NGX_SVC_E_NONE, NULL }
};


const ngx_svc_pg_statement_t *const  ngx_svc_admin_statements[] = {
    ngx_svc_admin_tenant_statements,
    ngx_svc_admin_logo_statements,
    ngx_svc_admin_public_statements,
    ngx_svc_admin_tokens_statements,
    NULL
};
