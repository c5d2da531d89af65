/*
 * /v1/admin/agents/settings: what a tenant has its agents governed by.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_audit.h"
#include "ngx_svc_bind.h"
#include "ngx_svc_etag.h"


typedef struct {
    ngx_svc_value_t  orphan_action;
    ngx_svc_value_t  orphan_grace;
    ngx_svc_value_t  max_depth;
    ngx_svc_value_t  review_interval;
} ngx_svc_admin_agent_settings_t;


static ngx_int_t ngx_svc_admin_agent_action(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


static const ngx_svc_member_t  ngx_svc_admin_agent_settings_members[] = {

    { .name = ngx_string("orphanAction"),
      .type = NGX_SVC_T_STRING,
      .check = ngx_svc_admin_agent_action,
      .offset = offsetof(ngx_svc_admin_agent_settings_t, orphan_action) },

    { .name = ngx_string("orphanGraceHours"),
      .type = NGX_SVC_T_INTEGER,
      .min = 0,
      .max = 8760,
      .offset = offsetof(ngx_svc_admin_agent_settings_t, orphan_grace) },

    { .name = ngx_string("maxDelegationDepth"),
      .type = NGX_SVC_T_INTEGER,
      .min = 1,
      .max = 5,
      .offset = offsetof(ngx_svc_admin_agent_settings_t, max_depth) },

    { .name = ngx_string("reviewIntervalDays"),
      .type = NGX_SVC_T_INTEGER,
      .min = 1,
      .max = 730,
      .offset = offsetof(ngx_svc_admin_agent_settings_t, review_interval) },

    ngx_svc_null_member
};


/* The version is the values themselves: the row has others, too. */

#define NGX_SVC_ADMIN_AGENT_SETTINGS_VERSION(g)                               \
    "(((CASE " g ".orphan_action WHEN 'none' THEN 1 ELSE 2 END"               \
    " * 10000 + " g ".orphan_grace_hours)"                                    \
    " * 10 + " g ".max_delegation_depth)"                                     \
    " * 1000 + " g ".review_interval_days)"

#define NGX_SVC_ADMIN_AGENT_SETTINGS_COLUMNS(g)                               \
    g ".orphan_action AS \"orphanAction\","                                   \
    " " g ".orphan_grace_hours AS \"orphanGraceHours\","                      \
    " " g ".max_delegation_depth AS \"maxDelegationDepth\","                  \
    " " g ".review_interval_days AS \"reviewIntervalDays\", "                 \
    NGX_SVC_ADMIN_AGENT_SETTINGS_VERSION(g) " AS _version"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agent_settings = {
    .name = "admin_agent_settings",
    .text =
        "SELECT " NGX_SVC_ADMIN_AGENT_SETTINGS_COLUMNS("g")
        " FROM svc.oauth_tenant g WHERE g.tenant_id = " NGX_SVC_TENANT
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agent_settings_lock = {
    .name = "admin_agent_settings_lock",
    .text =
        "SELECT FROM svc.oauth_tenant g WHERE g.tenant_id = " NGX_SVC_TENANT
        " FOR NO KEY UPDATE"
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agent_settings_put = {
    .name = "admin_agent_settings_put",
    .text =
        "WITH o AS ("
            "SELECT g.* FROM svc.oauth_tenant g"
            " WHERE g.tenant_id = " NGX_SVC_TENANT
        "), n AS ("
            "SELECT coalesce($1, o.orphan_action) AS orphan_action,"
                " coalesce($2::int4, o.orphan_grace_hours)"
                    " AS orphan_grace_hours,"
                " coalesce($3::int4, o.max_delegation_depth)"
                    " AS max_delegation_depth,"
                " coalesce($4::int4, o.review_interval_days)"
                    " AS review_interval_days"
            " FROM o"
        "), c AS ("
            "SELECT CASE WHEN NOT " NGX_SVC_IF_MATCH("$5",
                    NGX_SVC_ADMIN_AGENT_SETTINGS_VERSION("o"))
                " THEN 'precondition' END AS verdict FROM o"
        "), u AS ("
            "UPDATE svc.oauth_tenant g SET orphan_action = n.orphan_action,"
                " orphan_grace_hours = n.orphan_grace_hours,"
                " max_delegation_depth = n.max_delegation_depth,"
                " review_interval_days = n.review_interval_days"
            " FROM n, c WHERE g.tenant_id = " NGX_SVC_TENANT
                " AND c.verdict IS NULL"
                " AND ROW(n.*) IS DISTINCT FROM ROW(g.orphan_action,"
                    " g.orphan_grace_hours, g.max_delegation_depth,"
                    " g.review_interval_days)"
            " RETURNING g.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_AGENT_SETTINGS_UPDATED, "NULL", "NULL",
                NGX_SVC_AUDIT_CHANGED(
                    NGX_SVC_DIFFERS("orphan_action", "orphanAction") ", "
                    NGX_SVC_DIFFERS("orphan_grace_hours", "orphanGraceHours")
                    ", " NGX_SVC_DIFFERS("max_delegation_depth",
                                         "maxDelegationDepth") ", "
                    NGX_SVC_DIFFERS("review_interval_days",
                                    "reviewIntervalDays")),
                "FROM u, o")
        ")"
        " SELECT c.verdict AS _verdict FROM c",
    NGX_SVC_PARAMS(ngx_svc_param_text(ngx_svc_admin_agent_settings_t,
                                      orphan_action),
                   ngx_svc_param_integer(ngx_svc_admin_agent_settings_t,
                                         orphan_grace),
                   ngx_svc_param_integer(ngx_svc_admin_agent_settings_t,
                                         max_depth),
                   ngx_svc_param_integer(ngx_svc_admin_agent_settings_t,
                                         review_interval),
                   ngx_svc_param_if_match()),
    NGX_SVC_VERDICTS(ngx_svc_verdict_precondition)
};


const ngx_svc_route_t  ngx_svc_admin_agent_settings[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/agents/settings"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_agent_settings } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/agents/settings"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_agent_settings_members,
      .body_size = sizeof(ngx_svc_admin_agent_settings_t),
      .statements = { &ngx_svc_sql_admin_agent_settings_lock,
                      &ngx_svc_sql_admin_agent_settings_put,
                      &ngx_svc_sql_admin_agent_settings } },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_agent_action(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_strcmp(value->str.data, "none") == 0
        || ngx_strcmp(value->str.data, "disable") == 0)
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be \"none\" or \"disable\".", path);
}
