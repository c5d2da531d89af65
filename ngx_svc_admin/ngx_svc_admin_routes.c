/*
 * The admin API's tables: routes, constraints, statements.
 */

#include "ngx_svc_admin.h"


#define NGX_SVC_ADMIN_MANAGE  ngx_string("tenant:manage")
#define NGX_SVC_ADMIN_AUDIT   ngx_string("audit:view")


/* An empty permission: any live token will do. */

const ngx_svc_route_t  ngx_svc_admin_routes[] = {

    { NGX_HTTP_GET, ngx_string("/admin/tenant"), ngx_string(""), 0,
      ngx_svc_admin_tenant_get_prepare, ngx_svc_admin_tenant_reply },

    { NGX_HTTP_GET, ngx_string("/admin/api-tokens"), NGX_SVC_ADMIN_MANAGE, 0,
      ngx_svc_admin_tokens_list_prepare, ngx_svc_admin_tokens_list_reply },

    { NGX_HTTP_POST, ngx_string("/admin/api-tokens"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_tokens_create_prepare,
      ngx_svc_admin_tokens_create_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/api-tokens/*"),
      NGX_SVC_ADMIN_MANAGE, NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_tokens_revoke_prepare,
      ngx_svc_admin_tokens_revoke_reply },

    { NGX_HTTP_GET, ngx_string("/admin/audit"), NGX_SVC_ADMIN_AUDIT, 0,
      ngx_svc_admin_audit_list_prepare, ngx_svc_admin_audit_list_reply },

    { NGX_HTTP_GET, ngx_string("/admin/audit/export"), NGX_SVC_ADMIN_AUDIT, 0,
      ngx_svc_admin_audit_export_prepare, ngx_svc_admin_audit_export_reply },

    { NGX_HTTP_GET, ngx_string("/admin/audit/stream"), NGX_SVC_ADMIN_AUDIT,
      NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_audit_stream_prepare, ngx_svc_admin_audit_stream_reply },

    { 0, ngx_null_string, ngx_null_string, 0, NULL, NULL }
};


const ngx_svc_constraint_t  ngx_svc_admin_constraints[] = {
    { NULL, NGX_SVC_E_NONE, NULL }
};


const ngx_svc_pg_statement_t *const  ngx_svc_admin_statements[] = {
    ngx_svc_admin_tenant_statements,
    ngx_svc_admin_tokens_statements,
    ngx_svc_admin_audit_statements,
    ngx_svc_admin_audit_export_statements,
    ngx_svc_admin_audit_stream_statements,
    ngx_svc_admin_audit_follow_statements,
    NULL
};
