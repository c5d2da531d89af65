/*
 * /v1/admin/security-stats, /v1/admin/growth-stats: numbers of the last days of
 * UTC, of which today is one.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_args.h"
#include "ngx_svc_bind.h"


#define NGX_SVC_ADMIN_STAT_DAYS  30     /* unless the query says otherwise */
#define NGX_SVC_ADMIN_STAT_MAX   90


static ngx_int_t ngx_svc_admin_stat_days(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


/* $1: how many days. */

#define NGX_SVC_ADMIN_STAT_TODAY  "(now() AT TIME ZONE 'UTC')::date"

#define NGX_SVC_ADMIN_STAT_PERIOD                                             \
    "to_char(" NGX_SVC_ADMIN_STAT_TODAY " - $1::int4 + 1, 'YYYY-MM-DD')"      \
        " AS \"period.from\","                                                \
    " to_char(" NGX_SVC_ADMIN_STAT_TODAY ", 'YYYY-MM-DD') AS \"period.to\", "

/* Of each day of the period "d" a piece of JSON behind its date. */

#define NGX_SVC_ADMIN_STAT_SERIES(members, from)                              \
    "(SELECT '[' || string_agg('{\"date\":\"' || to_char("                    \
        NGX_SVC_ADMIN_STAT_TODAY " - g.n, 'YYYY-MM-DD') || '\"' || "          \
        members " || '}', ',' ORDER BY g.n DESC) || ']'"                      \
        " FROM generate_series(0, $1::int4 - 1) g (n)"                        \
        " LEFT JOIN " from " ON d.day = " NGX_SVC_ADMIN_STAT_TODAY " - g.n"   \
    ")::json AS series"

#define NGX_SVC_ADMIN_STAT_USERS                                              \
    "coalesce(sum(c.active + c.suspended + c.deactivated), 0)"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_security_stats = {
    .name = "admin_security_stats",
    .text =
        "WITH d AS MATERIALIZED ("
            "SELECT s.day, sum(s.success) AS success,"
                " sum(s.failure) AS failure, sum(s.denied) AS denied,"
                " sum(s.lockouts) AS lockouts,"
                " sum(s.rate_limited) AS rate_limited"
            " FROM svc.stat_day s WHERE s.tenant_id = " NGX_SVC_TENANT
                " AND s.day > " NGX_SVC_ADMIN_STAT_TODAY " - $1::int4"
                " AND s.day <= " NGX_SVC_ADMIN_STAT_TODAY
            " GROUP BY s.day"
        "), u AS ("
            "SELECT coalesce(sum(c.mfa), 0) AS enrolled, "
                NGX_SVC_ADMIN_STAT_USERS " AS total"
            " FROM svc.user_count c WHERE c.tenant_id = " NGX_SVC_TENANT
        ")"
        " SELECT " NGX_SVC_ADMIN_STAT_PERIOD
            "t.success AS \"signIns.success\","
            " t.failure AS \"signIns.failure\","
            " u.enrolled AS \"mfa.enrolled\", u.total AS \"mfa.total\","
            " t.lockouts, t.rate_limited AS \"rateLimited\", t.denied,"
            " (SELECT count(*) FROM svc.incident i"
                " WHERE i.tenant_id = " NGX_SVC_TENANT
                " AND i.acknowledged_at IS NULL) AS \"openIncidents\","
            " 0 AS \"openAnomalies\","
            " (SELECT count(*) FROM svc.ip_block b"
                " WHERE b.tenant_id = " NGX_SVC_TENANT
                " AND coalesce(b.expires_at > now(), true)) AS \"blockedIps\", "
            NGX_SVC_ADMIN_STAT_SERIES(
                "',\"success\":' || coalesce(d.success, 0)"
                " || ',\"failure\":' || coalesce(d.failure, 0)", "d")
        " FROM u, (SELECT coalesce(sum(d.success), 0) AS success,"
            " coalesce(sum(d.failure), 0) AS failure,"
            " coalesce(sum(d.denied), 0) AS denied,"
            " coalesce(sum(d.lockouts), 0) AS lockouts,"
            " coalesce(sum(d.rate_limited), 0) AS rate_limited FROM d) t",
    NGX_SVC_PARAMS(ngx_svc_param_call(ngx_svc_admin_stat_days))
};

/* New users of the day that a row of svc.user_count is of are there alone. */

#define NGX_SVC_ADMIN_STAT_NEW(days)                                          \
    "(SELECT coalesce(sum(d.added), 0) FROM d"                                \
        " WHERE d.day > " NGX_SVC_ADMIN_STAT_TODAY " - " days ")"

#define NGX_SVC_ADMIN_STAT_ACTIVE(days)                                       \
    "(SELECT coalesce(sum(a.users), 0) FROM svc.active_day a"                 \
        " WHERE a.tenant_id = " NGX_SVC_TENANT                                \
        " AND a.day > " NGX_SVC_ADMIN_STAT_TODAY " - " days ")"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_growth_stats = {
    .name = "admin_growth_stats",
    .text =
        "WITH c AS MATERIALIZED ("
            "SELECT c.active, c.suspended, c.deactivated, c.day, c.added"
            " FROM svc.user_count c WHERE c.tenant_id = " NGX_SVC_TENANT
        "), d AS MATERIALIZED ("
            "SELECT s.day, sum(s.added) AS added, sum(s.active) AS active"
            " FROM ("
                "SELECT s.day, s.new_users AS added, s.active_users AS active"
                " FROM svc.stat_day s WHERE s.tenant_id = " NGX_SVC_TENANT
                    " AND s.day > " NGX_SVC_ADMIN_STAT_TODAY
                        " - greatest($1::int4, 30)"
                    " AND s.day <= " NGX_SVC_ADMIN_STAT_TODAY
                " UNION ALL"
                " SELECT c.day, c.added, 0 FROM c"
                " WHERE c.day > " NGX_SVC_ADMIN_STAT_TODAY
                        " - greatest($1::int4, 30)"
                    " AND c.day <= " NGX_SVC_ADMIN_STAT_TODAY
            ") s GROUP BY s.day"
        ")"
        " SELECT " NGX_SVC_ADMIN_STAT_PERIOD
            "(SELECT " NGX_SVC_ADMIN_STAT_USERS " FROM c) AS \"totalUsers\", "
            NGX_SVC_ADMIN_STAT_NEW("1") " AS \"newUsers.today\", "
            NGX_SVC_ADMIN_STAT_NEW("7") " AS \"newUsers.last7Days\", "
            NGX_SVC_ADMIN_STAT_NEW("30") " AS \"newUsers.last30Days\", "
            NGX_SVC_ADMIN_STAT_ACTIVE("1") " AS \"activeUsers.daily\", "
            NGX_SVC_ADMIN_STAT_ACTIVE("7") " AS \"activeUsers.weekly\", "
            NGX_SVC_ADMIN_STAT_ACTIVE("30") " AS \"activeUsers.monthly\", "
            NGX_SVC_ADMIN_STAT_SERIES(
                "',\"newUsers\":' || coalesce(d.added, 0)"
                " || ',\"activeUsers\":' || coalesce(d.active, 0)", "d"),
    NGX_SVC_PARAMS(ngx_svc_param_call(ngx_svc_admin_stat_days))
};


const ngx_svc_route_t  ngx_svc_admin_statistics[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/security-stats"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .statements = { &ngx_svc_sql_admin_security_stats } },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/growth-stats"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .statements = { &ngx_svc_sql_admin_growth_stats } },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_stat_days(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_int_t  rc, days;
    ngx_str_t  text;

    rc = ngx_svc_argument(sr, "days", &text);
    if (rc != NGX_OK) {
        return rc;
    }

    days = text.data ? ngx_atoi(text.data, text.len) : NGX_SVC_ADMIN_STAT_DAYS;

    if (days < 1 || days > NGX_SVC_ADMIN_STAT_MAX) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "\"days\" must be an integer from 1 to "
                            ngx_value(NGX_SVC_ADMIN_STAT_MAX) ".");
    }

    return ngx_svc_pg_bind_int(sr->op, call, (int32_t) days);
}
