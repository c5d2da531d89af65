/*
 * /v1/admin/users/{userId}: changing and erasing a user.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_auth.h"
#include "ngx_svc_email.h"
#include "ngx_svc_notice.h"


#define NGX_SVC_ADMIN_PROFILE(_)                                              \
    _(EMAIL, user_name, "email")                                              \
    NGX_SVC_PROFILE(_)


typedef struct {
    NGX_SVC_ADMIN_PROFILE(ngx_svc_profile_value)
} ngx_svc_admin_profile_t;


static ngx_uint_t ngx_svc_admin_user_put_email(const void *body);
static ngx_uint_t ngx_svc_admin_user_put_none(const void *body);
static void ngx_svc_admin_user_put_committed(
    const ngx_svc_pg_results_t *results);
static void ngx_svc_admin_user_delete_committed(
    const ngx_svc_pg_results_t *results);


#define ngx_svc_admin_profile_member(id, column, key, ...)                    \
    { .name = ngx_string(key),                                                \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_CLEARS,                                              \
      .max = NGX_SVC_PROFILE_MAX,                                             \
      .check = ngx_svc_profile_check_##id,                                    \
      .offset = offsetof(ngx_svc_admin_profile_t, column) },


static const ngx_svc_member_t  ngx_svc_admin_profile_members[] = {

    { .name = ngx_string("email"),
      .type = NGX_SVC_T_STRING,
      .check = ngx_svc_email_check,
      .offset = offsetof(ngx_svc_admin_profile_t, user_name) },

    NGX_SVC_PROFILE(ngx_svc_admin_profile_member)

    ngx_svc_null_member
};


#include "ngx_svc_admin_user_change.sql.h"


const ngx_svc_route_t  ngx_svc_admin_user_change[] = {

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/users/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER,
      .members = ngx_svc_admin_profile_members,
      .body_size = sizeof(ngx_svc_admin_profile_t),
      .statements = { &ngx_svc_sql_admin_user_put_lock,
                      &ngx_svc_sql_admin_user_put,
                      &ngx_svc_sql_admin_user_put_get,
                      &ngx_svc_sql_admin_user_put_profile },
      .committed = ngx_svc_admin_user_put_committed },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/users/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_user_groups_lock,
                      &ngx_svc_sql_admin_user_owners_lock,
                      &ngx_svc_sql_admin_user_delete },
      .status = NGX_HTTP_NO_CONTENT,
      .committed = ngx_svc_admin_user_delete_committed },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/suspend"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_user_owners_lock,
                      &ngx_svc_sql_admin_user_suspend,
                      &ngx_svc_sql_admin_users_get } },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/reactivate"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_user_lock,
                      &ngx_svc_sql_admin_user_reactivate,
                      &ngx_svc_sql_admin_users_get } },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/logout"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_user_lock,
                      &ngx_svc_sql_admin_user_logout } },

    ngx_svc_null_route
};


static ngx_uint_t
ngx_svc_admin_user_put_email(const void *body)
{
    const ngx_svc_admin_profile_t *profile = body;

    return profile->user_name.set;
}


static ngx_uint_t
ngx_svc_admin_user_put_none(const void *body)
{
    return !ngx_svc_admin_user_put_email(body);
}


static void
ngx_svc_admin_user_put_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                           ngx_svc_pg_result(results,
                                             &ngx_svc_sql_admin_user_put));
}


static void
ngx_svc_admin_user_delete_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_event_t                  event;
    ngx_svc_row_admin_user_delete_t  row;

    ngx_svc_request_committed(results);

    ngx_svc_row_admin_user_delete(&row,
                 ngx_svc_pg_result(results, &ngx_svc_sql_admin_user_delete),
                 0);

    event.kind = NGX_SVC_EVENT_USER_DELETED;
    event.tenant = ngx_svc_auth_tenant(results);
    event.user = row.user;
    event.subscribers = row.subscribers;
    event.at = row.at;
    ngx_str_null(&event.number);
    ngx_str_null(&event.email);

    if (event.user.data) {
        ngx_svc_event_emit(&event);
    }
}
