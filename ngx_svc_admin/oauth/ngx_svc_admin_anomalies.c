/*
 * /v1/admin/agents/anomalies: what an agent does not do usually.
 */

#include "ngx_svc_agent.h"
#include "ngx_svc_alert.h"


#define NGX_SVC_ADMIN_ANOMALIES     "svc.agent_anomaly"
#define NGX_SVC_ADMIN_ANOMALY_ALL   "coalesce($1, 'false') IN ('true', '1')"


static const char *const  ngx_svc_admin_anomaly_all[] = {
    "true", "1", "false", "0", NULL
};


/*
 * What an anomaly of a type is told as: with a detail of its in the place of
 * "%", and without, when there is none.
 */

#define NGX_SVC_ADMIN_ANOMALY_TYPES(_)                                        \
    _("token_burst", "tokens", "% token requests in a minute, many more than" \
                               " usual",                                      \
      "Many more token requests in a minute than usual")                      \
    _("new_ip", "ip", "First token request from %",                           \
      "First token request from another network")                             \
    _("new_country", "country", "First token request from %",                 \
      "First token request from another country")                             \
    _("scope_denied", "scopes", "Asked for %, which its policy does not allow",\
      "Asked for scopes that its policy does not allow")                      \
    _("audience_denied", "resource", "Asked for a token for %, which its"     \
                                     " policy does not allow",                \
      "Asked for a token for an audience that its policy does not allow")     \
    _("off_hours", "hour", "Token requests at % h UTC, when it has almost"    \
                           " none",                                           \
      "Token requests at an hour when it has almost none")                    \
    _("disabled_use", "ip", "Good credentials from % while it is disabled",   \
      "Good credentials while it is disabled")                                \
    _("expired_use", "ip", "Good credentials from % after it expired",        \
      "Good credentials after it expired")                                    \
    _("new_subject", "newSubjects",                                           \
      "% subjects in an hour for whom it had not acted before",               \
      "Acts for somebody for whom it had not acted before")                   \
    _("secret_reuse", "ip", "A secret that has been replaced was used from %",\
      "A secret that has been replaced was used")

#define NGX_SVC_ADMIN_ANOMALY_TOLD(type, detail, with, without)               \
    " WHEN '" type "' THEN coalesce(replace('" with "', '%',"                 \
        " translate(i.details->>'" detail "', '[]\"', '')), '" without "')"

#define NGX_SVC_ADMIN_ANOMALY_COLUMNS                                         \
    "i.id, i.client_id AS \"clientId\", a.name AS \"agentName\","             \
    " i.type, i.severity, CASE i.type"                                        \
        NGX_SVC_ADMIN_ANOMALY_TYPES(NGX_SVC_ADMIN_ANOMALY_TOLD)               \
        " END AS description,"                                                \
    " i.details || jsonb_build_object('occurrences', i.occurrences,"          \
        " 'lastSeenAt', " NGX_SVC_TIME_TEXT("i.last_seen_at") ") AS details," \
    " i.created_at AS \"createdAt\","                                         \
    " i.acknowledged_at IS NOT NULL AS acknowledged,"                         \
    " i.acknowledged_at AS \"acknowledgedAt\","                               \
    " v.id AS \"acknowledgedBy.id\", v.user_name AS \"acknowledgedBy.email\""

#define NGX_SVC_ADMIN_ANOMALY_JOINS                                           \
    " CROSS JOIN LATERAL ("                                                   \
        "SELECT k.name FROM svc.application k"                                \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.client_id BETWEEN i.client_id AND i.client_id"            \
        " ORDER BY k.client_id LIMIT 1) a"                                    \
    " LEFT JOIN LATERAL ("                                                    \
        NGX_SVC_ROW("k.id, k.user_name", "svc.user_account",                  \
                    "i.acknowledged_by") ") v ON true"


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_anomalies_total = {
    .name = "admin_anomalies_total",
    .text =
        NGX_SVC_ALERTS_TOTAL(NGX_SVC_ADMIN_ANOMALIES,
                             NGX_SVC_ADMIN_ANOMALY_ALL),
    NGX_SVC_PARAMS(ngx_svc_param_query_word("all", ngx_svc_admin_anomaly_all))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_anomalies_list = {
    .name = "admin_anomalies_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_ANOMALY_COLUMNS
        NGX_SVC_ALERTS_PAGE(NGX_SVC_ADMIN_ANOMALIES, NGX_SVC_ADMIN_ANOMALY_ALL,
                            NGX_SVC_ADMIN_ANOMALY_JOINS),
    NGX_SVC_PARAMS(ngx_svc_param_query_word("all", ngx_svc_admin_anomaly_all),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

#define NGX_SVC_ADMIN_NO_ANOMALY  "There is no such anomaly."

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_anomaly_lock = {
    .name = "admin_anomaly_lock",
    .text = NGX_SVC_ALERT_LOCK(NGX_SVC_ADMIN_ANOMALIES),
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_ANOMALY)),
    .missing = NGX_SVC_ADMIN_NO_ANOMALY
};

/*
 * Who comes later changes nothing, and is told who was first.  With "IS NULL"
 * the index of those that are not acknowledged would be as good to the planner.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_anomaly_ack = {
    .name = "admin_anomaly_ack",
    .text =
        "WITH u AS ("
            "UPDATE " NGX_SVC_ADMIN_ANOMALIES " i SET acknowledged_at = now(),"
                " acknowledged_by = " NGX_SVC_AGENT_CALLER
            " WHERE i.tenant_id = " NGX_SVC_TENANT " AND i.id = $1"
                " AND coalesce(i.acknowledged_at, 'infinity') = 'infinity'"
            " RETURNING i.*"
        "), r AS ("
            "SELECT " NGX_SVC_ADMIN_ANOMALY_COLUMNS ", u.id AS _done FROM "
                NGX_SVC_ALERT_ACKNOWLEDGED(NGX_SVC_ADMIN_ANOMALIES)
                NGX_SVC_ADMIN_ANOMALY_JOINS " LEFT JOIN u ON true"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_AGENT_ANOMALY_ACKNOWLEDGED,
                "r.\"clientId\"", "r.\"agentName\"",
                "jsonb_build_object('anomalyId', r.id, 'type', r.type)",
                "FROM r WHERE r._done IS NOT NULL")
        ")"
        " SELECT * FROM r",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_ANOMALY)),
    .missing = NGX_SVC_ADMIN_NO_ANOMALY
};


const ngx_svc_route_t  ngx_svc_admin_anomalies[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/agents/anomalies"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_anomalies_total,
                      &ngx_svc_sql_admin_anomalies_list },
      .list = "anomalies",
      .total = &ngx_svc_sql_admin_anomalies_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/agents/anomalies/*/ack"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_anomaly_lock,
                      &ngx_svc_sql_admin_anomaly_ack } },

    ngx_svc_null_route
};
