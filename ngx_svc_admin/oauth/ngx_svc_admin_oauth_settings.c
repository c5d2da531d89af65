/*
 * /v1/admin/oauth/settings: what a tenant's applications may have at most.
 */

#include "ngx_svc_application.h"
#include "ngx_svc_audit.h"
#include "ngx_svc_etag.h"
#include "ngx_svc_oauth_sql.h"


typedef struct {
    ngx_svc_value_t  id_token_ttl;
    ngx_svc_value_t  refresh_idle_days;
    ngx_svc_value_t  grant_days;
} ngx_svc_admin_oauth_settings_t;


static const ngx_svc_member_t  ngx_svc_admin_oauth_settings_members[] = {

    { .name = ngx_string("maxIdTokenTtlSeconds"),
      .type = NGX_SVC_T_INTEGER|NGX_SVC_T_NULL,
      .min = 60,
      .max = 86400,
      .offset = offsetof(ngx_svc_admin_oauth_settings_t, id_token_ttl) },

    { .name = ngx_string("maxRefreshIdleDays"),
      .type = NGX_SVC_T_INTEGER|NGX_SVC_T_NULL,
      .min = 1,
      .max = 365,
      .offset = offsetof(ngx_svc_admin_oauth_settings_t,
                         refresh_idle_days) },

    { .name = ngx_string("maxGrantDays"),
      .type = NGX_SVC_T_INTEGER|NGX_SVC_T_NULL,
      .min = 1,
      .max = 3650,
      .offset = offsetof(ngx_svc_admin_oauth_settings_t, grant_days) },

    ngx_svc_null_member
};


/* The version is the values themselves: the row has others, too. */

#define NGX_SVC_ADMIN_OAUTH_SETTINGS_VERSION(g)                               \
    "((coalesce(" g ".max_id_token_ttl, 0)::int8"                             \
    " * 1000 + coalesce(" g ".max_refresh_idle_days, 0))"                     \
    " * 10000 + coalesce(" g ".max_grant_days, 0))"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_oauth_settings = {
    .name = "admin_oauth_settings",
    .text =
        "SELECT g.max_id_token_ttl AS \"maxIdTokenTtlSeconds\","
            " g.max_refresh_idle_days AS \"maxRefreshIdleDays\","
            " g.max_grant_days AS \"maxGrantDays\", "
            NGX_SVC_ADMIN_OAUTH_SETTINGS_VERSION("g") " AS _version"
        " FROM svc.oauth_tenant g WHERE g.tenant_id = " NGX_SVC_TENANT
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_oauth_settings_lock = {
    .name = "admin_oauth_settings_lock",
    .text =
        "SELECT FROM svc.oauth_tenant g WHERE g.tenant_id = " NGX_SVC_TENANT
        " FOR NO KEY UPDATE"
};

/*
 * What an application has above a new maximum becomes that.  Beside the update
 * its row is read as it was.
 */

#define NGX_SVC_ADMIN_OAUTH_LOWERED(column, name)                             \
    "CASE WHEN k." column " > b." column " THEN '" name "' END"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_oauth_settings_put = {
    .name = "admin_oauth_settings_put",
    .text =
        "WITH o AS ("
            "SELECT g.* FROM svc.oauth_tenant g"
            " WHERE g.tenant_id = " NGX_SVC_TENANT
        "), n AS ("
            "SELECT CASE WHEN $1 THEN $2::int4 ELSE o.max_id_token_ttl END"
                    " AS max_id_token_ttl,"
                " CASE WHEN $3 THEN $4::int4 ELSE o.max_refresh_idle_days END"
                    " AS max_refresh_idle_days,"
                " CASE WHEN $5 THEN $6::int4 ELSE o.max_grant_days END"
                    " AS max_grant_days"
            " FROM o"
        "), c AS ("
            "SELECT CASE WHEN NOT " NGX_SVC_IF_MATCH("$7",
                    NGX_SVC_ADMIN_OAUTH_SETTINGS_VERSION("o"))
                " THEN 'precondition' END AS verdict FROM o"
        "), u AS ("
            "UPDATE svc.oauth_tenant g"
            " SET max_id_token_ttl = n.max_id_token_ttl,"
                " max_refresh_idle_days = n.max_refresh_idle_days,"
                " max_grant_days = n.max_grant_days"
            " FROM n, c WHERE g.tenant_id = " NGX_SVC_TENANT
                " AND c.verdict IS NULL"
                " AND ROW(n.*) IS DISTINCT FROM ROW(g.max_id_token_ttl,"
                    " g.max_refresh_idle_days, g.max_grant_days)"
            " RETURNING g.*"
        "), b AS ("
            "UPDATE svc.application a"
            " SET id_token_ttl = least(a.id_token_ttl, u.max_id_token_ttl),"
                " refresh_idle_days = least(a.refresh_idle_days,"
                    " u.max_refresh_idle_days),"
                " grant_days = least(a.grant_days, u.max_grant_days),"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " FROM u WHERE a.tenant_id = " NGX_SVC_TENANT " AND "
                NGX_SVC_APPLICATION_ABOVE("a", "u")
            " RETURNING a.client_id, a.name, a.id_token_ttl,"
                " a.refresh_idle_days, a.grant_days"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_OAUTH_SETTINGS_UPDATED, "NULL", "NULL",
                NGX_SVC_AUDIT_CHANGED(
                    NGX_SVC_DIFFERS("max_id_token_ttl",
                                    "maxIdTokenTtlSeconds") ", "
                    NGX_SVC_DIFFERS("max_refresh_idle_days",
                                    "maxRefreshIdleDays") ", "
                    NGX_SVC_DIFFERS("max_grant_days", "maxGrantDays")),
                "FROM u, o")
            NGX_SVC_AUDIT_THEN(NGX_SVC_A_APPLICATION_UPDATED, "b.client_id",
                "b.name",
                NGX_SVC_AUDIT_CHANGED(
                    NGX_SVC_ADMIN_OAUTH_LOWERED("id_token_ttl",
                                                "idTokenTtlSeconds") ", "
                    NGX_SVC_ADMIN_OAUTH_LOWERED("refresh_idle_days",
                                                "refreshIdleDays") ", "
                    NGX_SVC_ADMIN_OAUTH_LOWERED("grant_days", "grantDays")),
                "FROM b CROSS JOIN LATERAL ("
                    NGX_SVC_OAUTH_APPLICATION("k.id_token_ttl,"
                        " k.refresh_idle_days, k.grant_days", "b.client_id")
                    ") k")
        ")"
        " SELECT c.verdict AS _verdict FROM c",
    NGX_SVC_PARAMS(ngx_svc_param_given(ngx_svc_admin_oauth_settings_t,
                                       id_token_ttl),
                   ngx_svc_param_integer(ngx_svc_admin_oauth_settings_t,
                                         id_token_ttl),
                   ngx_svc_param_given(ngx_svc_admin_oauth_settings_t,
                                       refresh_idle_days),
                   ngx_svc_param_integer(ngx_svc_admin_oauth_settings_t,
                                         refresh_idle_days),
                   ngx_svc_param_given(ngx_svc_admin_oauth_settings_t,
                                       grant_days),
                   ngx_svc_param_integer(ngx_svc_admin_oauth_settings_t,
                                         grant_days),
                   ngx_svc_param_if_match()),
    NGX_SVC_VERDICTS(ngx_svc_verdict_precondition)
};


const ngx_svc_route_t  ngx_svc_admin_oauth_settings[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/oauth/settings"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_oauth_settings } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/oauth/settings"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_oauth_settings_members,
      .body_size = sizeof(ngx_svc_admin_oauth_settings_t),
      .statements = { &ngx_svc_sql_admin_applications_lock,
                      &ngx_svc_sql_admin_oauth_settings_lock,
                      &ngx_svc_sql_admin_oauth_settings_put,
                      &ngx_svc_sql_admin_oauth_settings } },

    ngx_svc_null_route
};
