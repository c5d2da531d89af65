/*
 * /v1/admin/password-policy.
 */

#include "ngx_svc_admin_governance.h"
#include "ngx_svc_admin_tenant.h"


#include "ngx_svc_admin_password_policy.sql.h"


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
