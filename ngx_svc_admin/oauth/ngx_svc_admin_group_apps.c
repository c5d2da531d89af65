/*
 * /v1/admin/groups/{id}/apps: the applications that a group's users may use.
 */

#include "ngx_svc_admin_user.h"
#include "ngx_svc_application.h"


#define NGX_SVC_ADMIN_GROUP_APPS  1000      /* in one request */

#define NGX_SVC_ADMIN_NO_GROUP_APP                                            \
    "The group has no application with this clientId."


typedef struct {
    ngx_svc_value_t  client_ids;
    ngx_svc_value_t  client_id;
} ngx_svc_admin_group_apps_t;


static ngx_int_t ngx_svc_admin_group_app_id(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_group_apps_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_group_apps_ids(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_group_apps_replace(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


static const ngx_svc_member_t  ngx_svc_admin_group_app_element = {
    .name = ngx_string("clientId"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_admin_group_app_id
};

static const ngx_svc_member_t  ngx_svc_admin_group_apps_members[] = {

    { .name = ngx_string("clientIds"),
      .type = NGX_SVC_T_ARRAY,
      .max = NGX_SVC_ADMIN_GROUP_APPS,
      .element = &ngx_svc_admin_group_app_element,
      .offset = offsetof(ngx_svc_admin_group_apps_t, client_ids) },

    { .name = ngx_string("clientId"),
      .type = NGX_SVC_T_STRING,
      .check = ngx_svc_admin_group_app_id,
      .offset = offsetof(ngx_svc_admin_group_apps_t, client_id) },

    ngx_svc_null_member
};


#define NGX_SVC_ADMIN_GROUP_APP_EVENT(action, from)                           \
    NGX_SVC_AUDIT(action, "g.id::text", "g.name", "d.details",                \
        "FROM g, (SELECT count(*) AS n, jsonb_build_object("                  \
            "'count', count(*),"                                              \
            " 'clientIds', to_jsonb((array_agg(client_id))[1:100]))"          \
            " AS details"                                                     \
        " FROM " from ") d WHERE d.n > 0")

/* An application that is one of a list; as NGX_SVC_ROW() of a clientId. */

#define NGX_SVC_ADMIN_GROUP_APP(columns, id)                                  \
    "SELECT " columns " FROM svc.application k"                               \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.client_id BETWEEN " id " AND " id                             \
    " ORDER BY k.client_id LIMIT 1"

/* Two locks, in the order of all who take both: the group, and applications. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_group_apps_lock = {
    .name = "admin_group_apps_lock",
    .text =
        "SELECT id FROM svc.user_group"
        " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1 FOR NO KEY UPDATE",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_group_apps_lock_them = {
    .name = "admin_group_apps_lock_them",
    .text =
        "SELECT a.client_id FROM (SELECT DISTINCT id COLLATE \"C\" AS id"
            " FROM unnest($1::text::text[]) id ORDER BY 1 OFFSET 0) i"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ADMIN_GROUP_APP("k.client_id", "i.id")
            " FOR NO KEY UPDATE) a",
    NGX_SVC_PARAMS(ngx_svc_param_call(ngx_svc_admin_group_apps_ids))
};

/*
 * $2 is the applications, $3 whether others go.  One that had no group before
 * is for groups only from then on.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_group_apps_change = {
    .name = "admin_group_apps_change",
    .text =
        "WITH g AS ("
            "SELECT tenant_id, id, name FROM svc.user_group"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1"
        "), i AS MATERIALIZED ("
            "SELECT DISTINCT id COLLATE \"C\" AS id"
            " FROM unnest($2::text::text[]) id"
        "), x AS ("
            "SELECT i.id FROM i WHERE ("
                NGX_SVC_ADMIN_GROUP_APP("true", "i.id") ") IS NULL LIMIT 1"
        "), n AS ("
            "INSERT INTO svc.group_app (tenant_id, client_id, group_id)"
            " SELECT g.tenant_id, i.id, g.id FROM g, i"
            " WHERE NOT EXISTS (SELECT FROM x)"
            " ON CONFLICT DO NOTHING RETURNING client_id"
        "), d AS ("
            "DELETE FROM svc.group_app m WHERE $3 AND m.group_id = $1"
                " AND m.tenant_id = " NGX_SVC_TENANT
                " AND m.client_id NOT IN (SELECT id FROM i)"
                " AND NOT EXISTS (SELECT FROM x) RETURNING client_id"
        "), f AS ("
            "SELECT a.client_id FROM n CROSS JOIN LATERAL ("
                NGX_SVC_ADMIN_GROUP_APP("k.client_id, k.assignment",
                                        "n.client_id")
            ") a WHERE a.assignment = 'everyone' AND NOT EXISTS ("
                "SELECT FROM svc.group_app m"
                " WHERE m.tenant_id = " NGX_SVC_TENANT
                    " AND m.client_id = a.client_id)"
        "), u AS ("
            "UPDATE svc.application a SET assignment = 'groups',"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.client_id = ANY (ARRAY(SELECT f.client_id FROM f))"
            " RETURNING a.client_id, a.name"
        "), e AS ("
            NGX_SVC_ADMIN_GROUP_APP_EVENT(NGX_SVC_A_GROUP_APP_ADDED, "n")
        "), h AS ("
            NGX_SVC_ADMIN_GROUP_APP_EVENT(NGX_SVC_A_GROUP_APP_REMOVED, "d")
        "), j AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_APPLICATION_UPDATED, "u.client_id",
                          "u.name", "'{\"changed\": [\"assignment\"]}'",
                          "FROM u")
        ")"
        " SELECT 'unknown ' || x.id AS _verdict FROM x, g",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP),
                   ngx_svc_param_call(ngx_svc_admin_group_apps_ids),
                   ngx_svc_param_call(ngx_svc_admin_group_apps_replace)),
    NGX_SVC_VERDICTS(
        { "unknown", NGX_SVC_E_INVALID_VALUE,
          "There is no application with the clientId %V." })
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_group_apps_remove = {
    .name = "admin_group_apps_remove",
    .text =
        "WITH g AS ("
            "SELECT id, name FROM svc.user_group"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1"
        "), d AS ("
            "DELETE FROM svc.group_app m WHERE m.tenant_id = " NGX_SVC_TENANT
            " AND m.client_id = $2 AND m.group_id = $1 RETURNING m.client_id"
        "), e AS ("
            NGX_SVC_ADMIN_GROUP_APP_EVENT(NGX_SVC_A_GROUP_APP_REMOVED, "d")
        ")"
        " SELECT client_id FROM d",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP),
                   ngx_svc_param_application(1)),
    .missing = NGX_SVC_ADMIN_NO_GROUP_APP
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_group_apps_total = {
    .name = "admin_group_apps_total",
    .text =
        "SELECT app_count FROM svc.user_group"
        " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP)),
    .missing = NGX_SVC_ADMIN_NO_GROUP
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_group_apps_list = {
    .name = "admin_group_apps_list",
    .text =
        "SELECT a.client_id AS \"clientId\", a.name, a.type,"
            " m.added_at AS \"addedAt\""
        " FROM (SELECT client_id, added_at FROM svc.group_app"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND group_id = $1"
            " ORDER BY added_at DESC, client_id DESC"
            " LIMIT $2::int4 OFFSET $3::int4) m"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ADMIN_GROUP_APP("k.*", "m.client_id") ") a"
        " ORDER BY m.added_at DESC, m.client_id DESC",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_GROUP),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};


/* Answered with the applications as they then are. */

#define ngx_svc_admin_group_apps_changed                                      \
      .members = ngx_svc_admin_group_apps_members,                            \
      .body_size = sizeof(ngx_svc_admin_group_apps_t),                        \
      .check = ngx_svc_admin_group_apps_check,                                \
      .statements = { &ngx_svc_sql_admin_group_apps_turn,                     \
                      &ngx_svc_sql_admin_group_apps_lock,                     \
                      &ngx_svc_sql_admin_group_apps_lock_them,                \
                      &ngx_svc_sql_admin_group_apps_change,                   \
                      &ngx_svc_sql_admin_group_apps_total,                    \
                      &ngx_svc_sql_admin_group_apps_list },                   \
      .list = "apps",                                                         \
      .total = &ngx_svc_sql_admin_group_apps_total

const ngx_svc_route_t  ngx_svc_admin_group_apps[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/groups/*/apps"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_group_apps_total,
                      &ngx_svc_sql_admin_group_apps_list },
      .list = "apps",
      .total = &ngx_svc_sql_admin_group_apps_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/groups/*/apps"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE,
      ngx_svc_admin_group_apps_changed },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/groups/*/apps"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE,
      ngx_svc_admin_group_apps_changed },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/groups/*/apps/*"),
      .permission = NGX_SVC_P_GROUPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_group_apps_turn,
                      &ngx_svc_sql_admin_group_apps_lock,
                      &ngx_svc_sql_admin_group_apps_remove },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_group_app_id(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_application_id(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" is no application's clientId.", path);
}


static ngx_int_t
ngx_svc_admin_group_apps_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_group_apps_t  *apps = body;

    if (apps->client_ids.set == apps->client_id.set) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "One of \"clientIds\" and \"clientId\" is "
                            "required.");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_group_apps_ids(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    cJSON                       *id;
    u_char                      *p;
    ngx_str_t                    text;
    ngx_svc_admin_group_apps_t  *apps = body;

    if (apps->client_ids.set) {
        return ngx_svc_application_bind_strings(sr, call,
                   &(ngx_svc_param_t) ngx_svc_param_strings(
                       ngx_svc_admin_group_apps_t, client_ids), body);
    }

    id = apps->client_id.json;

    p = ngx_pnalloc(sr->request->pool, sizeof("{}") + NGX_SVC_APPLICATION_ID);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text.data = p;
    text.len = ngx_sprintf(p, "{%s}", id->valuestring) - p;

    ngx_svc_pg_bind_str(call, &text);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_group_apps_replace(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_bool(call, sr->request->method == NGX_HTTP_PUT);

    return NGX_OK;
}
