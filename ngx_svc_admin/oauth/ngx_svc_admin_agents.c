/*
 * GET /v1/admin/agents.
 */

#include "ngx_svc_admin_user.h"
#include "ngx_svc_agent.h"


static const char *const  ngx_svc_admin_agent_states[] = {
    NGX_SVC_AGENT_STATES, NULL
};


/* $1 is "q", $2 and $3 "status" and "ownerId".  A tenant has some hundreds. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agents_list = {
    .name = "admin_agents_list",
    .text =
        "WITH s AS MATERIALIZED ("
            "SELECT a.client_id, a.created_at FROM svc.application a"
            NGX_SVC_AGENT_OWNER
            " WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.type = 'agent'"
                " AND ($1::text IS NULL"
                    " OR strpos(lower(a.name), lower($1)) > 0"
                    " OR strpos(a.client_id, $1) > 0)"
                " AND ($2::text IS NULL OR $2 = "
                    NGX_SVC_AGENT_STATE("a", "o.status") ")"
                " AND ($3::text IS NULL OR a.owner_id::text = $3)"
        "), p AS MATERIALIZED ("
            "SELECT s.client_id FROM s"
            " ORDER BY s.created_at DESC, s.client_id DESC"
            " LIMIT $4::int4 OFFSET $5::int4"
        ")"
        " SELECT t.total AS _total, r.*"
        " FROM (SELECT count(*) AS total FROM s) t LEFT JOIN ("
            "SELECT " NGX_SVC_AGENT_COLUMNS
            " FROM p CROSS JOIN LATERAL ("
                "SELECT k.* FROM svc.application k"
                " WHERE k.tenant_id = " NGX_SVC_TENANT
                    " AND k.client_id BETWEEN p.client_id AND p.client_id"
                " ORDER BY k.client_id LIMIT 1"
            ") a" NGX_SVC_AGENT_JOINS
        ") r ON true ORDER BY r.\"createdAt\" DESC, r.\"clientId\" DESC",
    NGX_SVC_PARAMS(ngx_svc_param_query("q", NGX_SVC_ADMIN_QUERY),
                   ngx_svc_param_query_word("status",
                                            ngx_svc_admin_agent_states),
                   ngx_svc_param_query("ownerId", NGX_SVC_ADMIN_QUERY),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};


const ngx_svc_route_t  ngx_svc_admin_agents[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/agents"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_agents_list },
      .list = "agents" },

    ngx_svc_null_route
};
