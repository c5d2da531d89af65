/*
 * /v1/admin/agents/{clientId}/policy: the kill switch, and the ceilings.
 */

#include "ngx_svc_agent.h"
#include "ngx_svc_etag.h"


#define ngx_svc_admin_agent_policy_verdicts                                   \
    ngx_svc_verdict_precondition,                                             \
    { "stale", NGX_SVC_E_STEP_UP,                                             \
      "What an agent may do more by this needs a fresh second factor:"        \
      " POST /v1/mfa/step-up." }


#include "ngx_svc_admin_agent_policy.sql.h"


const ngx_svc_route_t  ngx_svc_admin_agent_policy[] = {

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/agents/*/policy"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_agent_policy_members,
      .body_size = sizeof(ngx_svc_agent_policy_t),
      .check = ngx_svc_agent_policy_check,
      .statements = { &ngx_svc_sql_admin_application_lock,
                      &ngx_svc_sql_admin_agent_policy_put,
                      &ngx_svc_sql_admin_agent_get } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/agents/*/policy"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_application_lock,
                      &ngx_svc_sql_admin_agent_policy_reset,
                      &ngx_svc_sql_admin_agent_get } },

    ngx_svc_null_route
};
