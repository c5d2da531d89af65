/*
 * PUT /v1/admin/agents/{clientId}/identity: who answers for an agent, and until
 * when it is one.
 */

#include "ngx_svc_agent.h"
#include "ngx_svc_check.h"
#include "ngx_svc_etag.h"


typedef struct {
    ngx_svc_value_t  owner_id;
    ngx_svc_value_t  expires_at;
} ngx_svc_admin_agent_identity_t;


static const ngx_svc_member_t  ngx_svc_admin_agent_identity_members[] = {

    { .name = ngx_string("ownerId"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_application_check_owner,
      .offset = offsetof(ngx_svc_admin_agent_identity_t, owner_id) },

    { .name = ngx_string("expiresAt"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_check_expiry,
      .offset = offsetof(ngx_svc_admin_agent_identity_t, expires_at) },

    ngx_svc_read_only_member("owner"),

    ngx_svc_null_member
};


/* Behind the lock of the row. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agent_identity_put = {
    .name = "admin_agent_identity_put",
    .text =
        "WITH o AS ("
            NGX_SVC_AGENT_NAMED
        "), n AS ("
            "SELECT CASE WHEN $2 THEN $3::uuid ELSE o.owner_id END AS owner_id,"
                " CASE WHEN $4 THEN " NGX_SVC_TIME("$5")
                    " ELSE o.expires_at END AS expires_at"
            " FROM o"
        "), c AS ("
            "SELECT CASE WHEN $3::uuid IS NOT NULL AND ("
                    NGX_SVC_ROW("k.status = 'active'", "svc.user_account",
                                "$3::uuid") ") IS NOT TRUE THEN 'owner'"
                " WHEN NOT " NGX_SVC_IF_MATCH("$6",
                    NGX_SVC_APPLICATION_VERSION("o")) " THEN 'precondition'"
                " END AS verdict FROM o"
        "), u AS ("
            "UPDATE svc.application a SET owner_id = n.owner_id,"
                " expires_at = n.expires_at,"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " FROM n, c WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.client_id = $1 AND c.verdict IS NULL"
                " AND ROW(n.owner_id, n.expires_at::timestamptz(3))"
                    " IS DISTINCT FROM ROW(a.owner_id, a.expires_at)"
            " RETURNING a.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_AGENT_IDENTITY_UPDATED, "u.client_id",
                "u.name",
                NGX_SVC_AUDIT_CHANGED(
                    NGX_SVC_DIFFERS("owner_id", "ownerId") ", "
                    NGX_SVC_DIFFERS("expires_at", "expiresAt")),
                "FROM u, o")
        ")"
        " SELECT c.verdict AS _verdict FROM c",
    NGX_SVC_PARAMS(ngx_svc_param_application(0),
                   ngx_svc_param_given(ngx_svc_admin_agent_identity_t,
                                       owner_id),
                   ngx_svc_param_id(ngx_svc_admin_agent_identity_t, owner_id),
                   ngx_svc_param_given(ngx_svc_admin_agent_identity_t,
                                       expires_at),
                   ngx_svc_param_time(ngx_svc_admin_agent_identity_t,
                                      expires_at),
                   ngx_svc_param_if_match()),
    NGX_SVC_VERDICTS(
        ngx_svc_application_verdict_owner,
        ngx_svc_verdict_precondition)
};


const ngx_svc_route_t  ngx_svc_admin_agent_identity[] = {

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/agents/*/identity"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_agent_identity_members,
      .body_size = sizeof(ngx_svc_admin_agent_identity_t),
      .statements = { &ngx_svc_sql_admin_application_lock,
                      &ngx_svc_sql_admin_agent_identity_put,
                      &ngx_svc_sql_admin_agent_get } },

    ngx_svc_null_route
};
