/*
 * /v1/admin/password-policy/groups: what groups have in place of the tenant's
 * password policy.
 */

#include "ngx_svc_admin_policy.h"
#include "ngx_svc_admin_user.h"


static ngx_int_t ngx_svc_admin_override_check(ngx_svc_request_t *sr,
    void *body);


/* p: the override's row; its group's is "g". */

#define NGX_SVC_ADMIN_OVERRIDE_COLUMNS(p)                                     \
    p ".group_id AS \"groupId\", g.name AS \"groupName\", "                   \
    NGX_SVC_ADMIN_PASSWORD_FIELDS(NGX_SVC_ADMIN_COLUMN_AS, ", ", p) ", "      \
    p ".created_at AS \"createdAt\", " p ".updated_at AS \"updatedAt\""

/* What each write does with the rows of u, which say what was done. */

#define NGX_SVC_ADMIN_OVERRIDE_EVENT(action, details, from)                   \
    "e AS ("                                                                  \
        NGX_SVC_AUDIT_AS(action, "u.group_id::text", "g.name", details,       \
                         "FROM " from)                                        \
    "), v AS ("                                                               \
        NGX_SVC_ADMIN_REVISION("u")                                           \
    ")"

#define NGX_SVC_ADMIN_OVERRIDE_INTO(p)                                        \
    "INSERT INTO svc.group_password_policy AS " p " (tenant_id, group_id, "   \
        NGX_SVC_ADMIN_PASSWORD_FIELDS(NGX_SVC_ADMIN_COLUMN, ", ", ) ")"       \
    " SELECT g.tenant_id, g.id, "                                             \
        NGX_SVC_ADMIN_PASSWORD_FIELDS(NGX_SVC_ADMIN_COLUMN_VALUE, ", ", )     \
    " FROM g"

/* The fields, and behind them the group. */

#define ngx_svc_admin_override_params                                         \
    NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field_param, ,                \
                                  ngx_svc_admin_password_t)


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_overrides_list = {
    .name = "admin_overrides_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_OVERRIDE_COLUMNS("p") " FROM ("
            "SELECT * FROM svc.group_password_policy"
            " WHERE tenant_id = " NGX_SVC_TENANT
            " ORDER BY created_at DESC, group_id DESC"
            " LIMIT $1::int4 OFFSET $2::int4) p"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ROW("k.name", "svc.user_group", "p.group_id") ") g"
        " ORDER BY p.created_at DESC, p.group_id DESC",
    NGX_SVC_PARAMS(ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_overrides_total = {
    .name = "admin_overrides_total",
    .text =
        "SELECT count(*) FROM svc.group_password_policy"
        " WHERE tenant_id = " NGX_SVC_TENANT
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_overrides_create = {
    .name = "admin_overrides_create",
    .text =
        "WITH g AS ("
            "SELECT tenant_id, id, name FROM svc.user_group"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $10"
        "), u AS ("
            NGX_SVC_ADMIN_OVERRIDE_INTO("a")
            " WHERE NOT EXISTS (SELECT FROM svc.group_password_policy"
                " WHERE tenant_id = " NGX_SVC_TENANT " AND group_id = $10)"
            " RETURNING *"
        "), " NGX_SVC_ADMIN_OVERRIDE_EVENT(
                  NGX_SVC_A_GROUP_PASSWORD_CREATED(NGX_SVC_AUDIT_BOTH),
                  "'{}'", "u, g")
        " SELECT CASE WHEN g.id IS NULL THEN 'group'"
            " WHEN u.group_id IS NULL THEN 'exists' END AS _verdict, "
            NGX_SVC_ADMIN_OVERRIDE_COLUMNS("u")
        " FROM (VALUES (1)) x LEFT JOIN g ON true LEFT JOIN u ON true",
    NGX_SVC_PARAMS(ngx_svc_admin_override_params
                   ngx_svc_param_id(ngx_svc_admin_password_t, group_id)),
    NGX_SVC_VERDICTS(
        { "group", NGX_SVC_E_INVALID_VALUE,
          "\"groupId\" must be the id of a group: there is no group with this "
          "id." },
        { "exists", NGX_SVC_E_CONFLICT,
          "The group has a password policy already: change it with PUT." })
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_overrides_put = {
    .name = "admin_overrides_put",
    .text =
        "WITH g AS ("
            "SELECT tenant_id, id, name FROM svc.user_group"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $10"
        "), o AS ("
            "SELECT * FROM svc.group_password_policy"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND group_id = $10"
        "), u AS ("
            NGX_SVC_ADMIN_OVERRIDE_INTO("a")
            " ON CONFLICT (tenant_id, group_id) DO UPDATE SET ("
                NGX_SVC_ADMIN_PASSWORD_FIELDS(NGX_SVC_ADMIN_COLUMN, ", ", )
                ", updated_at) = ("
                NGX_SVC_ADMIN_PASSWORD_FIELDS(NGX_SVC_ADMIN_COLUMN_OF, ", ",
                                              "EXCLUDED")
                ", " NGX_SVC_CHANGED_AT("a") ")"
                " WHERE ("
                NGX_SVC_ADMIN_PASSWORD_FIELDS(NGX_SVC_ADMIN_COLUMN_OF, ", ",
                                              "a")
                ") IS DISTINCT FROM ("
                NGX_SVC_ADMIN_PASSWORD_FIELDS(NGX_SVC_ADMIN_COLUMN_OF, ", ",
                                              "EXCLUDED") ")"
            " RETURNING *"
        "), " NGX_SVC_ADMIN_OVERRIDE_EVENT(
                  "CASE WHEN o.group_id IS NULL THEN "
                  NGX_SVC_A_GROUP_PASSWORD_CREATED(NGX_SVC_AUDIT_NAME)
                  " ELSE " NGX_SVC_A_GROUP_PASSWORD_UPDATED(NGX_SVC_AUDIT_NAME)
                  " END, "
                  NGX_SVC_A_GROUP_PASSWORD_UPDATED(NGX_SVC_AUDIT_TARGET),
                  "CASE WHEN o.group_id IS NULL THEN '{}' ELSE "
                  NGX_SVC_AUDIT_CHANGED(
                      NGX_SVC_ADMIN_PASSWORD_FIELDS(
                          NGX_SVC_ADMIN_COLUMN_DIFFERS, ", ", ))
                  " END",
                  "u CROSS JOIN g LEFT JOIN o ON true")
        ", r AS ("
            "SELECT * FROM u"
            " UNION ALL SELECT * FROM o WHERE NOT EXISTS (SELECT FROM u)"
        ")"
        " SELECT " NGX_SVC_ADMIN_OVERRIDE_COLUMNS("r")
            ", NOT EXISTS (SELECT FROM o) AS _created FROM g, r",
    NGX_SVC_PARAMS(ngx_svc_admin_override_params
                   ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)),
    .missing = NGX_SVC_ADMIN_NO_GROUP
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_overrides_delete = {
    .name = "admin_overrides_delete",
    .text =
        "WITH g AS ("
            "SELECT id, name FROM svc.user_group"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1"
        "), u AS ("
            "DELETE FROM svc.group_password_policy"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND group_id = $1"
            " RETURNING group_id"
        "), " NGX_SVC_ADMIN_OVERRIDE_EVENT(
                  NGX_SVC_A_GROUP_PASSWORD_DELETED(NGX_SVC_AUDIT_BOTH),
                  "'{}'", "u, g")
        " SELECT CASE WHEN u.group_id IS NULL THEN 'none' END AS _verdict"
        " FROM g LEFT JOIN u ON true",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)),
    NGX_SVC_VERDICTS(
        { "none", NGX_SVC_E_NOT_FOUND,
          "The group has no password policy of its own." }),
    .missing = NGX_SVC_ADMIN_NO_GROUP
};


const ngx_svc_route_t  ngx_svc_admin_password_groups[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/password-policy/groups"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_overrides_total,
                      &ngx_svc_sql_admin_overrides_list },
      .list = "groups",
      .total = &ngx_svc_sql_admin_overrides_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/password-policy/groups"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_override_create_members,
      .body_size = sizeof(ngx_svc_admin_password_t),
      .check = ngx_svc_admin_override_check,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_overrides_create },
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/password-policy/groups/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_override_members,
      .body_size = sizeof(ngx_svc_admin_password_t),
      .check = ngx_svc_admin_override_check,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_overrides_put } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/password-policy/groups/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_overrides_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_override_check(ngx_svc_request_t *sr, void *body)
{
    u_char                  *p, *last, names[NGX_SVC_ERROR_DETAIL];
    const char              *sep;
    const ngx_svc_member_t  *field;

    if (ngx_svc_admin_password_set(body)) {
        return NGX_OK;
    }

    p = names;
    last = names + sizeof(names);

    for (field = ngx_svc_admin_password_members; field->name.len; field++) {
        sep = (p == names) ? "" : field[1].name.len ? ", " : " and ";
        p = ngx_slprintf(p, last, "%s\"%V\"", sep, &field->name);
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        "At least one must be set of %*s.",
                        (size_t) (p - names), names);
}
