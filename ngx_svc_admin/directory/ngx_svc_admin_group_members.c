/*
 * /v1/admin/groups/{id}/members, and /v1/admin/users/{userId}/groups.
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


#define NGX_SVC_ADMIN_MEMBERS_STALE_VERDICT                                   \
    { "stale", NGX_SVC_E_STEP_UP,                                             \
      "The members of a group that has applications need a fresh second"      \
      " factor: POST /v1/mfa/step-up." }

#include "ngx_svc_admin_group_members.sql.h"


/* The answer has the members after the change. */

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

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users/*/groups"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .statements = { &ngx_svc_sql_admin_user_groups_total,
                      &ngx_svc_sql_admin_user_groups_list },
      .list = "groups",
      .total = &ngx_svc_sql_admin_user_groups_total },

    ngx_svc_null_route
};


/* Ids are case-exact: another spelling is no id. */

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
