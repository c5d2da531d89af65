/*
 * /v1/applications: the list, one of them, and its end.
 */

#include "ngx_svc_admin_user.h"
#include "ngx_svc_application.h"


static const char *const  ngx_svc_admin_application_types[] = {
    "web", "spa", "native", "m2m", "agent", NULL
};

static const char *const  ngx_svc_admin_application_switches[] = {
    "true", "false", NULL
};


/* $1 is "q", $2 and $3 "type" and "enabled". */

#define NGX_SVC_ADMIN_APPLICATIONS_FOUND                                      \
    " FROM svc.application a WHERE a.tenant_id = " NGX_SVC_TENANT             \
    " AND ($1::text IS NULL OR strpos(lower(a.name), lower($1)) > 0"          \
        " OR strpos(a.client_id, $1) > 0)"                                    \
    " AND ($2::text IS NULL OR a.type = $2)"                                  \
    " AND ($3::text IS NULL OR a.enabled = $3::bool)"

#define ngx_svc_admin_applications_filter                                     \
    ngx_svc_param_query("q", NGX_SVC_ADMIN_QUERY),                            \
    ngx_svc_param_query_word("type", ngx_svc_admin_application_types),        \
    ngx_svc_param_query_word("enabled", ngx_svc_admin_application_switches)

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_applications_total = {
    .name = "admin_applications_total",
    .text = "SELECT count(*)" NGX_SVC_ADMIN_APPLICATIONS_FOUND,
    NGX_SVC_PARAMS(ngx_svc_admin_applications_filter)
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_applications_list = {
    .name = "admin_applications_list",
    .text =
        "SELECT " NGX_SVC_APPLICATION_COLUMNS("a")
        NGX_SVC_ADMIN_APPLICATIONS_FOUND
        " ORDER BY a.created_at DESC, a.client_id DESC"
        " LIMIT $4::int4 OFFSET $5::int4",
    NGX_SVC_PARAMS(ngx_svc_admin_applications_filter,
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_applications_get = {
    .name = "admin_applications_get",
    .text =
        "SELECT " NGX_SVC_APPLICATION_COLUMNS("a")
        NGX_SVC_APPLICATION_AS_VERSION("a")
        " FROM svc.application a WHERE a.tenant_id = " NGX_SVC_TENANT
        " AND a.client_id = $1",
    NGX_SVC_PARAMS(ngx_svc_param_application(0)),
    .missing = NGX_SVC_NO_APPLICATION
};

/* before the application: whoever changes a group's locks it first, too */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_application_groups = {
    .name = "admin_application_groups",
    .text =
        "SELECT g.id FROM (SELECT group_id FROM svc.group_app"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND client_id = $1"
            " ORDER BY group_id OFFSET 0) m"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ROW("k.id", "svc.user_group", "m.group_id")
            " FOR NO KEY UPDATE) g",
    NGX_SVC_PARAMS(ngx_svc_param_application(0))
};

/* with those who make targets: each sees what the other has stored */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_application_targets = {
    .name = "admin_application_targets",
    .text = NGX_SVC_LIMIT_LOCK("svc.scim_target")
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_applications_delete = {
    .name = "admin_applications_delete",
    .text =
        "WITH t AS ("
            "SELECT EXISTS (SELECT FROM svc.scim_target t"
                " WHERE t.tenant_id = " NGX_SVC_TENANT
                " AND t.client_id = $1) AS used"
        "), a AS ("
            "DELETE FROM svc.application a USING t"
            " WHERE a.tenant_id = " NGX_SVC_TENANT
            " AND a.client_id = $1 AND NOT t.used"
            " RETURNING a.client_id, a.name"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_APPLICATION_DELETED, "a.client_id",
                          "a.name", "'{}'", "FROM a")
        ")"
        " SELECT CASE WHEN t.used THEN 'used' END AS _verdict"
        " FROM t LEFT JOIN a ON true WHERE t.used OR a.client_id IS NOT NULL",
    NGX_SVC_PARAMS(ngx_svc_param_application(0)),
    NGX_SVC_VERDICTS(
        { "used", NGX_SVC_E_CONFLICT,
          "The application has a SCIM target: delete that one first." }),
    .missing = NGX_SVC_NO_APPLICATION
};


const ngx_svc_route_t  ngx_svc_admin_applications[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/applications"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_applications_total,
                      &ngx_svc_sql_admin_applications_list },
      .list = "applications",
      .total = &ngx_svc_sql_admin_applications_total },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/applications/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_applications_get } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/applications/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_group_apps_turn,
                      &ngx_svc_sql_admin_application_groups,
                      &ngx_svc_sql_admin_application_targets,
                      &ngx_svc_sql_admin_applications_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};
