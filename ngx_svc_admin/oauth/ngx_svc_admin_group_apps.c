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


#include "ngx_svc_admin_group_apps.sql.h"


/* A route that answers with the group's applications after the change. */

#define ngx_svc_admin_group_apps_changed                                      \
      .members = ngx_svc_admin_group_apps_members,                            \
      .body_size = sizeof(ngx_svc_admin_group_apps_t),                        \
      .check = ngx_svc_admin_group_apps_check,                                \
      .statements = { &ngx_svc_sql_admin_group_apps_serialize,                \
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
      .statements = { &ngx_svc_sql_admin_group_apps_serialize,
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
