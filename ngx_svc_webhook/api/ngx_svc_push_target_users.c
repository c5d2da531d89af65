/*
 * /v1/admin/scim-targets/{id}/users: each user's state at the target.
 */

#include "ngx_svc_push_api.h"


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

    ngx_svc_null_route
};
