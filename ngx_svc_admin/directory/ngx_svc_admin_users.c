/*
 * /v1/admin/users and /v1/admin/users/{userId}.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"


#define NGX_SVC_ADMIN_DEEP_OFFSET  10000    /* a page behind it takes longer */


static const char *const  ngx_svc_admin_user_statuses[] = {
    "active", "suspended", "deactivated", NULL
};


#include "ngx_svc_admin_users.sql.h"


const ngx_svc_route_t  ngx_svc_admin_users[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .check = ngx_svc_admin_search_check,
      .statements = { &ngx_svc_sql_admin_users_list },
      .list = "users" },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users/*"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .statements = { &ngx_svc_sql_admin_users_get } },

    ngx_svc_null_route
};


ngx_int_t
ngx_svc_admin_search_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t        rc;
    ngx_str_t        q;
    ngx_svc_page_t  *page;

    page = sr->data;

    rc = ngx_svc_argument(sr, "q", &q);

    if (rc == NGX_OK && (q.len || page->offset > NGX_SVC_ADMIN_DEEP_OFFSET)) {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    return rc;
}
