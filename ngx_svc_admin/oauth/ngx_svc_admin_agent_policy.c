/*
 * /v1/admin/agents/{clientId}/policy: the kill switch, and the ceilings.
 */

#include "ngx_svc_agent.h"
#include "ngx_svc_etag.h"


#define NGX_SVC_ADMIN_AGENT_POLICY_COLUMNS(t)                                 \
    t ".enabled, " t ".max_token_ttl, " t ".allowed_scopes, "                 \
    t ".allowed_audiences, " t ".allowed_audience_keys"

#define NGX_SVC_ADMIN_AGENT_POLICY_CHANGED                                    \
    NGX_SVC_AUDIT_CHANGED(                                                    \
        NGX_SVC_DIFFERS("enabled", "enabled") ", "                            \
        NGX_SVC_DIFFERS("max_token_ttl", "maxTokenTtlSeconds") ", "           \
        NGX_SVC_DIFFERS("allowed_scopes", "allowedScopes") ", "               \
        NGX_SVC_DIFFERS("allowed_audiences", "allowedAudiences"))

/*
 * From o to n: what the agent may, and did not.  A ceiling that is NULL is
 * none.
 */

#define NGX_SVC_ADMIN_AGENT_POLICY_GROWS(column)                              \
    "coalesce(NOT n." column " <@ o." column ","                              \
        " n." column " IS NULL AND o." column " IS NOT NULL)"

#define NGX_SVC_ADMIN_AGENT_POLICY_LOOSENS                                    \
    "(n.enabled AND NOT o.enabled"                                            \
    " OR coalesce(n.max_token_ttl > o.max_token_ttl,"                         \
        " n.max_token_ttl IS NULL AND o.max_token_ttl IS NOT NULL)"           \
    " OR " NGX_SVC_ADMIN_AGENT_POLICY_GROWS("allowed_scopes")                 \
    " OR " NGX_SVC_ADMIN_AGENT_POLICY_GROWS("allowed_audience_keys") ")"

/*
 * Behind the lock of the row: what becomes of "o" by "n".  set: the time since
 * which it is not the default; or: what is a change besides; match: the
 * parameter that is If-Match.
 */

#define NGX_SVC_ADMIN_AGENT_POLICY_STORE(set, or, match, action)              \
    ", c AS ("                                                                \
        "SELECT CASE WHEN " NGX_SVC_ADMIN_AGENT_POLICY_LOOSENS                \
                " AND " NGX_SVC_CALLER_STALE " THEN 'stale'"                  \
            " WHEN NOT " NGX_SVC_IF_MATCH(match,                              \
                NGX_SVC_APPLICATION_VERSION("o")) " THEN 'precondition'"      \
            " END AS verdict FROM o, n"                                       \
    "), u AS ("                                                               \
        "UPDATE svc.application a SET enabled = n.enabled,"                   \
            " max_token_ttl = n.max_token_ttl,"                               \
            " allowed_scopes = n.allowed_scopes,"                             \
            " allowed_audiences = n.allowed_audiences,"                       \
            " allowed_audience_keys = n.allowed_audience_keys,"               \
            " policy_set_at = " set ","                                       \
            " tokens_valid_after = "                                          \
                NGX_SVC_APPLICATION_CUT_OFF("n.enabled") ","                  \
            " updated_at = " NGX_SVC_CHANGED_AT("a")                          \
        " FROM n, c WHERE a.tenant_id = " NGX_SVC_TENANT                      \
            " AND a.client_id = $1 AND c.verdict IS NULL"                     \
            " AND (ROW(" NGX_SVC_ADMIN_AGENT_POLICY_COLUMNS("n") ")"          \
                " IS DISTINCT FROM"                                           \
                " ROW(" NGX_SVC_ADMIN_AGENT_POLICY_COLUMNS("a") ")"           \
                or ")"                                                        \
        " RETURNING a.*"                                                      \
    "), e AS ("                                                               \
        NGX_SVC_AUDIT(action, "u.client_id", "u.name",                        \
                      NGX_SVC_ADMIN_AGENT_POLICY_CHANGED, "FROM u, o")        \
    ")"                                                                       \
    " SELECT c.verdict AS _verdict FROM c"

#define ngx_svc_admin_agent_policy_verdicts                                   \
    ngx_svc_verdict_precondition,                                             \
    { "stale", NGX_SVC_E_STEP_UP,                                             \
      "What an agent may do more by this needs a fresh second factor:"        \
      " POST /v1/mfa/step-up." }


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agent_policy_put = {
    .name = "admin_agent_policy_put",
    .text =
        "WITH " NGX_SVC_AGENT_POLICY
        NGX_SVC_ADMIN_AGENT_POLICY_STORE("coalesce(a.policy_set_at, now())",
                                         "", "$10",
                                         NGX_SVC_A_AGENT_POLICY_UPDATED),
    NGX_SVC_PARAMS(ngx_svc_agent_policy_params,
                   ngx_svc_param_if_match()),
    NGX_SVC_VERDICTS(ngx_svc_admin_agent_policy_verdicts)
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agent_policy_reset = {
    .name = "admin_agent_policy_reset",
    .text =
        "WITH o AS ("
            NGX_SVC_AGENT_NAMED
        "), n AS ("
            "SELECT true AS enabled, NULL::int4 AS max_token_ttl,"
                " NULL::text[] AS allowed_scopes,"
                " NULL::text[] AS allowed_audiences,"
                " NULL::text[] AS allowed_audience_keys FROM o"
        ")"
        NGX_SVC_ADMIN_AGENT_POLICY_STORE("NULL",
                                         " OR a.policy_set_at IS NOT NULL",
                                         "$2", NGX_SVC_A_AGENT_POLICY_RESET),
    NGX_SVC_PARAMS(ngx_svc_param_application(0),
                   ngx_svc_param_if_match()),
    NGX_SVC_VERDICTS(ngx_svc_admin_agent_policy_verdicts)
};


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
