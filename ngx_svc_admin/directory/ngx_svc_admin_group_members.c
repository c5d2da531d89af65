/*
 * /v1/admin/groups/{id}/members.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"


#define NGX_SVC_ADMIN_MEMBER_IDS  1000      /* in one request */


typedef struct {
    ngx_svc_value_t  user_ids;
    ngx_svc_value_t  user_id;
} ngx_svc_admin_members_t;


static ngx_int_t ngx_svc_admin_member_id(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_members_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_members_ids(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_members_replace(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


static const ngx_svc_member_t  ngx_svc_admin_member_element = {
    .name = ngx_string("userId"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_admin_member_id
};

static const ngx_svc_member_t  ngx_svc_admin_members_members[] = {

    { .name = ngx_string("userIds"),
      .type = NGX_SVC_T_ARRAY,
      .max = NGX_SVC_ADMIN_MEMBER_IDS,
      .element = &ngx_svc_admin_member_element,
      .offset = offsetof(ngx_svc_admin_members_t, user_ids) },

    { .name = ngx_string("userId"),
      .type = NGX_SVC_T_STRING,
      .check = ngx_svc_admin_member_id,
      .offset = offsetof(ngx_svc_admin_members_t, user_id) },

    ngx_svc_null_member
};


#define NGX_SVC_ADMIN_MEMBER_EVENT(action, from)                              \
    NGX_SVC_AUDIT(action, "g.id::text", "g.name", "d.details",                \
        "FROM g, (SELECT count(*) AS n, jsonb_build_object("                  \
            "'count', count(*),"                                              \
            " 'userIds', to_jsonb((array_agg(user_id))[1:100])) AS details"   \
        " FROM " from ") d WHERE d.n > 0")

/*
 * What is done to a group's members is done one after the other: the group is
 * locked by a statement of its own, so that the next one sees what the one
 * before has stored.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_members_lock = {
    .name = "admin_members_lock",
    .text =
        "SELECT id FROM svc.user_group"
        " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1 FOR NO KEY UPDATE",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP))
};

/*
 * Who is in a group may use its applications: of a session that takes a fresh
 * factor.  A row g.
 */

#define NGX_SVC_ADMIN_MEMBERS_STALE                                           \
    "(g.app_count > 0 AND " NGX_SVC_CALLER_STALE ")"

#define NGX_SVC_ADMIN_MEMBERS_STALE_VERDICT                                   \
    { "stale", NGX_SVC_E_STEP_UP,                                             \
      "The members of a group that has applications need a fresh second"      \
      " factor: POST /v1/mfa/step-up." }

/* $2 is the users, $3 whether others go. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_members_change = {
    .name = "admin_members_change",
    .text =
        "WITH g AS ("
            "SELECT tenant_id, id, name, app_count FROM svc.user_group"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1"
        "), i AS ("
            "SELECT DISTINCT id FROM unnest($2::text::uuid[]) i (id)"
        "), x AS ("
            "(SELECT 'stale' AS verdict FROM g"
                " WHERE " NGX_SVC_ADMIN_MEMBERS_STALE ") UNION ALL"
            " (SELECT 'unknown ' || i.id FROM i WHERE ("
                NGX_SVC_ROW("true", "svc.user_account", "i.id")
                ") IS NULL LIMIT 1) LIMIT 1"
        "), n AS ("
            "INSERT INTO svc.group_member (tenant_id, group_id, user_id)"
            " SELECT g.tenant_id, g.id, i.id FROM g, i"
            " WHERE NOT EXISTS (SELECT FROM x)"
            " ON CONFLICT DO NOTHING RETURNING user_id"
        "), d AS ("
            "DELETE FROM svc.group_member m WHERE $3"
                " AND m.tenant_id = " NGX_SVC_TENANT " AND m.group_id = $1"
                " AND m.user_id NOT IN (SELECT id FROM i)"
                " AND NOT EXISTS (SELECT FROM x) RETURNING user_id"
        "), e AS ("
            NGX_SVC_ADMIN_MEMBER_EVENT(NGX_SVC_A_MEMBER_ADDED, "n")
        "), f AS ("
            NGX_SVC_ADMIN_MEMBER_EVENT(NGX_SVC_A_MEMBER_REMOVED, "d")
        ")"
        " SELECT x.verdict AS _verdict FROM x, g",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP),
                   ngx_svc_param_call(ngx_svc_admin_members_ids),
                   ngx_svc_param_call(ngx_svc_admin_members_replace)),
    NGX_SVC_VERDICTS(
        NGX_SVC_ADMIN_MEMBERS_STALE_VERDICT,
        { "unknown", NGX_SVC_E_INVALID_VALUE,
          "There is no user with the id %V." })
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_members_remove = {
    .name = "admin_members_remove",
    .text =
        "WITH g AS ("
            "SELECT g.id, g.name, " NGX_SVC_ADMIN_MEMBERS_STALE " AS stale"
            " FROM svc.user_group g"
            " WHERE g.tenant_id = " NGX_SVC_TENANT " AND g.id = $1"
        "), d AS ("
            "DELETE FROM svc.group_member"
            " WHERE tenant_id = " NGX_SVC_TENANT
                " AND group_id = $1 AND user_id = $2"
                " AND NOT EXISTS (SELECT FROM g WHERE g.stale)"
            " RETURNING user_id"
        "), e AS ("
            NGX_SVC_ADMIN_MEMBER_EVENT(NGX_SVC_A_MEMBER_REMOVED, "d")
        ")"
        " SELECT CASE WHEN g.stale THEN 'stale' END AS _verdict"
        " FROM g LEFT JOIN d ON true WHERE g.stale OR d.user_id IS NOT NULL",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP),
                   ngx_svc_param_path_id(1, NGX_SVC_ADMIN_NO_MEMBER)),
    NGX_SVC_VERDICTS(NGX_SVC_ADMIN_MEMBERS_STALE_VERDICT),
    .missing = NGX_SVC_ADMIN_NO_MEMBER
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_members_total = {
    .name = "admin_members_total",
    .text =
        "SELECT member_count FROM svc.user_group"
        " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)),
    .missing = NGX_SVC_ADMIN_NO_GROUP
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_members_list = {
    .name = "admin_members_list",
    .text =
        "SELECT u.id AS \"userId\", u.user_name AS email,"
            " u.display_name AS \"displayName\", m.added_at AS \"addedAt\""
        " FROM (SELECT user_id, added_at FROM svc.group_member"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND group_id = $1"
            " ORDER BY added_at DESC, user_id DESC"
            " LIMIT $2::int4 OFFSET $3::int4) m"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ROW("k.*", "svc.user_account", "m.user_id") ") u"
        " ORDER BY m.added_at DESC, m.user_id DESC",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};


/* Answered with the members as they then are. */

#define ngx_svc_admin_members_changed                                         \
      .members = ngx_svc_admin_members_members,                               \
      .body_size = sizeof(ngx_svc_admin_members_t),                           \
      .check = ngx_svc_admin_members_check,                                   \
      .statements = { &ngx_svc_sql_admin_members_lock,                        \
                      &ngx_svc_sql_admin_members_change,                      \
                      &ngx_svc_sql_admin_members_total,                       \
                      &ngx_svc_sql_admin_members_list },                      \
      .list = "members",                                                      \
      .total = &ngx_svc_sql_admin_members_total

const ngx_svc_route_t  ngx_svc_admin_group_members[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/groups/*/members"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_members_total,
                      &ngx_svc_sql_admin_members_list },
      .list = "members",
      .total = &ngx_svc_sql_admin_members_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/groups/*/members"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER,
      ngx_svc_admin_members_changed },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/groups/*/members"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER,
      ngx_svc_admin_members_changed },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/groups/*/members/*"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_members_lock,
                      &ngx_svc_sql_admin_members_remove },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


/* Ids are case-exact: another spelling is no user's. */

static ngx_int_t
ngx_svc_admin_member_id(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_admin_id_exact(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" is no user's id.", path);
}


static ngx_int_t
ngx_svc_admin_members_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_members_t  *members = body;

    if (members->user_ids.set == members->user_id.set) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "One of \"userIds\" and \"userId\" is required.");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_members_ids(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_members_t  *members = body;

    if (members->user_id.set) {
        return ngx_svc_admin_bind_ids(sr, call, members->user_id.json, 1);
    }

    return ngx_svc_admin_bind_ids(sr, call, members->user_ids.json->child,
                                  cJSON_GetArraySize(members->user_ids.json));
}


static ngx_int_t
ngx_svc_admin_members_replace(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_bool(call, sr->request->method == NGX_HTTP_PUT);

    return NGX_OK;
}
