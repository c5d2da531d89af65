/*
 * GET /v1/admin/agents and /v1/admin/agents/{clientId}.
 */

#include "ngx_svc_admin_user.h"
#include "ngx_svc_agent.h"


static const char *const  ngx_svc_admin_agent_states[] = {
    NGX_SVC_AGENT_STATES, NULL
};


#include "ngx_svc_admin_agents.sql.h"


const ngx_svc_route_t  ngx_svc_admin_agents[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/agents"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_agents_list },
      .list = "agents" },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/agents/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_agent_get } },

    ngx_svc_null_route
};
