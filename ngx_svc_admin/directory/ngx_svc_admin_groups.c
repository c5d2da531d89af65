/*
 * /v1/admin/groups and /v1/admin/groups/{id}.
 */

#include "ngx_svc_admin_revision.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_admin_user.h"


#define NGX_SVC_ADMIN_GROUPS             10000  /* of a tenant */
#define NGX_SVC_ADMIN_GROUP_NAME         100    /* characters */
#define NGX_SVC_ADMIN_GROUP_DESCRIPTION  500


typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  description;
} ngx_svc_admin_group_t;


#define ngx_svc_admin_group_rows(name_flags)                                  \
                                                                              \
    { .name = ngx_string("name"),                                             \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = name_flags,                                                    \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_GROUP_NAME,                                        \
      .check = ngx_svc_check_name,                                            \
      .offset = offsetof(ngx_svc_admin_group_t, name) },                      \
                                                                              \
    { .name = ngx_string("description"),                                      \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = NGX_SVC_M_CLEARS,                                              \
      .max = NGX_SVC_ADMIN_GROUP_DESCRIPTION,                                 \
      .offset = offsetof(ngx_svc_admin_group_t, description) },               \
                                                                              \
    ngx_svc_null_member

static const ngx_svc_member_t  ngx_svc_admin_group_create_members[] = {
    ngx_svc_admin_group_rows(NGX_SVC_M_REQUIRED)
};

static const ngx_svc_member_t  ngx_svc_admin_group_put_members[] = {
    ngx_svc_admin_group_rows(0)
};


#define NGX_SVC_ADMIN_GROUP_COLUMNS(g)                                        \
    g ".id, " g ".name, " g ".description, "                                  \
    g ".member_count AS \"memberCount\", "                                    \
    g ".app_count AS \"appCount\", "                                          \
    g ".created_at AS \"createdAt\", " g ".updated_at AS \"updatedAt\""

#define NGX_SVC_ADMIN_GROUP_FOUND                                             \
    " FROM svc.user_group g WHERE tenant_id = " NGX_SVC_TENANT                \
    " AND ($1::text IS NULL OR strpos(name_key, lower($1)) > 0)"


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_list = {
    .name = "admin_groups_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_GROUP_COLUMNS("g") NGX_SVC_ADMIN_GROUP_FOUND
        " ORDER BY name_key LIMIT $2::int4 OFFSET $3::int4",
    NGX_SVC_PARAMS(ngx_svc_param_query("q", NGX_SVC_ADMIN_QUERY),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_total = {
    .name = "admin_groups_total",
    .text = "SELECT count(*)" NGX_SVC_ADMIN_GROUP_FOUND,
    NGX_SVC_PARAMS(ngx_svc_param_query("q", NGX_SVC_ADMIN_QUERY))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_get = {
    .name = "admin_groups_get",
    .text =
        "SELECT " NGX_SVC_ADMIN_GROUP_COLUMNS("g")
        " FROM svc.user_group g"
        " WHERE g.tenant_id = " NGX_SVC_TENANT " AND g.id = $1",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)),
    .missing = NGX_SVC_ADMIN_NO_GROUP
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_lock = {
    .name = "admin_groups_lock",
    .text = NGX_SVC_LIMIT_LOCK("svc.user_group")
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_create = {
    .name = "admin_groups_create",
    .text =
        "WITH t AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS id, (SELECT count(*)"
                " FROM svc.user_group WHERE tenant_id = " NGX_SVC_TENANT
                ") < $4::int4 AS room"
        "), g AS ("
            "INSERT INTO svc.user_group (tenant_id, id, name, description)"
            " SELECT t.id, $1::uuid, $2, $3 FROM t"
                " WHERE t.id IS NOT NULL AND t.room"
            " ON CONFLICT (tenant_id, name_key) DO NOTHING RETURNING *"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_GROUP_CREATED, "g.id::text", "g.name",
                          "'{}'", "FROM g")
        ")"
        " SELECT CASE WHEN g.id IS NULL THEN CASE WHEN t.room"
            " THEN 'user_group_name_key' ELSE 'full' END END AS _verdict, "
            NGX_SVC_ADMIN_GROUP_COLUMNS("g")
        " FROM t LEFT JOIN g ON true",
    NGX_SVC_PARAMS(ngx_svc_param_new_id(),
                   ngx_svc_param_text(ngx_svc_admin_group_t, name),
                   ngx_svc_param_text(ngx_svc_admin_group_t, description),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_GROUPS)),
    NGX_SVC_VERDICTS(
        { "full", NGX_SVC_E_LIMIT_EXCEEDED,
          "The tenant has " ngx_value(NGX_SVC_ADMIN_GROUPS) " groups: delete"
          " one." })
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_put = {
    .name = "admin_groups_put",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.user_group WHERE tenant_id = " NGX_SVC_TENANT
                " AND id = $1 FOR NO KEY UPDATE"
        "), n AS ("
            "SELECT id, CASE WHEN $2 THEN $3 ELSE name END AS name,"
                " CASE WHEN $4 THEN $5 ELSE description END AS description,"
                " $2 AND lower($3) <> name_key AND EXISTS ("
                    "SELECT FROM svc.user_group a"
                    " WHERE a.tenant_id = " NGX_SVC_TENANT
                        " AND a.name_key = lower($3)) AS taken"
            " FROM o"
        "), u AS ("
            "UPDATE svc.user_group a SET name = n.name,"
                " description = n.description,"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " FROM n, o WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = $1 AND n.taken IS NOT TRUE"
                " AND (n.name, n.description)"
                " IS DISTINCT FROM (o.name, o.description)"
            " RETURNING a.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_GROUP_UPDATED, "u.id::text", "u.name",
                NGX_SVC_AUDIT_CHANGED(
                    NGX_SVC_DIFFERS("name", "name") ", "
                    NGX_SVC_DIFFERS("description", "description")),
                "FROM u JOIN o ON o.id = u.id")
        ")"
        " SELECT NULL AS _verdict, " NGX_SVC_ADMIN_GROUP_COLUMNS("u")
        " FROM u UNION ALL"
        " SELECT (SELECT 'user_group_name_key' FROM n WHERE taken), "
            NGX_SVC_ADMIN_GROUP_COLUMNS("o")
        " FROM o WHERE NOT EXISTS (SELECT FROM u)",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP),
                   ngx_svc_param_given(ngx_svc_admin_group_t, name),
                   ngx_svc_param_text(ngx_svc_admin_group_t, name),
                   ngx_svc_param_given(ngx_svc_admin_group_t, description),
                   ngx_svc_param_text(ngx_svc_admin_group_t, description)),
    NGX_SVC_CONSTRAINT_VERDICT,
    .missing = NGX_SVC_ADMIN_NO_GROUP
};

/* behind the lock of governance: its password policy goes with it */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_delete = {
    .name = "admin_groups_delete",
    .text =
        "WITH p AS ("
            "SELECT group_id FROM svc.group_password_policy"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND group_id = $1"
        "), u AS ("
            "DELETE FROM svc.user_group WHERE tenant_id = " NGX_SVC_TENANT
                " AND id = $1 RETURNING id, name"
        "), d AS ("
            "SELECT u.* FROM u JOIN p ON p.group_id = u.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_GROUP_PASSWORD_DELETED, "d.id::text",
                          "d.name", "'{}'::jsonb", "FROM d")
            NGX_SVC_AUDIT_THEN(NGX_SVC_A_GROUP_DELETED, "u.id::text", "u.name",
                               "'{}'", "FROM u")
        "), v AS ("
            NGX_SVC_ADMIN_REVISION("d")
        ")"
        " SELECT id FROM u",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)),
    .missing = NGX_SVC_ADMIN_NO_GROUP
};


const ngx_svc_route_t  ngx_svc_admin_groups[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/groups"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_groups_total,
                      &ngx_svc_sql_admin_groups_list },
      .list = "groups",
      .total = &ngx_svc_sql_admin_groups_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/groups"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE,
      .members = ngx_svc_admin_group_create_members,
      .body_size = sizeof(ngx_svc_admin_group_t),
      .statements = { &ngx_svc_sql_admin_groups_lock,
                      &ngx_svc_sql_admin_groups_create },
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/groups/*"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_groups_get } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/groups/*"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_admin_group_put_members,
      .body_size = sizeof(ngx_svc_admin_group_t),
      .statements = { &ngx_svc_sql_admin_groups_put } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/groups/*"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_groups_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};
