/*
 * /v1/admin/password-policy.
 */

#include "ngx_svc_admin_policy.h"
#include "ngx_svc_admin_tenant.h"


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_password_policy = {
    .name = "admin_password_policy",
    .text = NGX_SVC_ADMIN_POLICY_GET(NGX_SVC_ADMIN_PASSWORD_FIELDS,
                                     "password_version")
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_password_policy_put = {
    .name = "admin_password_policy_put",
    .text = NGX_SVC_ADMIN_POLICY_PUT(NGX_SVC_ADMIN_PASSWORD_FIELDS,
                "password_version", "$10", "", NGX_SVC_A_PASSWORD_UPDATED),
    NGX_SVC_PARAMS(NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field_param, ,
                                                 ngx_svc_admin_password_t)
                   ngx_svc_param_if_match()),
    NGX_SVC_VERDICTS(ngx_svc_verdict_precondition)
};


const ngx_svc_route_t  ngx_svc_admin_password_policy[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/password-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_password_policy } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/password-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_password_members,
      .body_size = sizeof(ngx_svc_admin_password_t),
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_password_policy_put },
      .committed = ngx_svc_admin_tenant_committed },

    ngx_svc_null_route
};
