/*
 * /v1/admin/scim-targets/{id}/users: each user's state at the target, and one
 * user who is pushed at once.
 */

#include "ngx_svc_push_api.h"


#define NGX_SVC_PUSH_NO_USER                                                  \
    "The SCIM target has no user with this id, and there is none who may use" \
    " its application."


static const char *const  ngx_svc_push_states[] = {
    "error", "pending", "synced", NULL
};


#include "ngx_svc_push_target_users.sql.h"


const ngx_svc_route_t  ngx_svc_push_target_users[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/scim-targets/*/users"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_push_users_total,
                      &ngx_svc_sql_push_users },
      .list = "users",
      .total = &ngx_svc_sql_push_users_total },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/scim-targets/*/users/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_push_user } },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/scim-targets/*/users/*/sync"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_push_user_sync },
      .status = NGX_HTTP_ACCEPTED },

    ngx_svc_null_route
};
