/*
 * /v1/admin/risk-policy.
 */

#include "ngx_svc_admin_governance.h"


static ngx_int_t ngx_svc_admin_risk_check(ngx_svc_request_t *sr, void *body);


#include "ngx_svc_admin_risk_policy.sql.h"


const ngx_svc_route_t  ngx_svc_admin_risk_policy[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/risk-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_risk_policy } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/risk-policy"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_risk_members,
      .body_size = sizeof(ngx_svc_admin_risk_t),
      .check = ngx_svc_admin_risk_check,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_risk_policy_put } },

    ngx_svc_null_route
};


/*
 * Checks a body with both thresholds; with one of them the statement knows the
 * other.
 */

static ngx_int_t
ngx_svc_admin_risk_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_risk_t  *risk = body;

    if (!risk->risk_mfa_threshold.set || !risk->risk_deny_threshold.set
        || risk->risk_mfa_threshold.integer < risk->risk_deny_threshold.integer)
    {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        NGX_SVC_ADMIN_RISK_ORDER);
}
