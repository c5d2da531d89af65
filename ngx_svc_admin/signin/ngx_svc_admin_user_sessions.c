/*
 * /v1/admin/users/{userId}/sessions, /v1/admin/users/{userId}/factors: what a
 * user signs in with, and where that was done.
 */

#include "ngx_svc_admin_user.h"
#include "ngx_svc_signin.h"


#define NGX_SVC_ADMIN_NO_USER_SESSION  "The user has no session with this id."


static void ngx_svc_admin_user_factors_more(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


#include "ngx_svc_admin_user_sessions.sql.h"


const ngx_svc_route_t  ngx_svc_admin_user_sessions[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users/*/sessions"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .statements = { &ngx_svc_sql_admin_user_sessions_total,
                      &ngx_svc_sql_admin_user_sessions_list },
      .list = "sessions",
      .total = &ngx_svc_sql_admin_user_sessions_total },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/users/*/sessions/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_user_lock,
                      &ngx_svc_sql_admin_user_session_end },
      .status = NGX_HTTP_NO_CONTENT },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users/*/factors"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .statements = { &ngx_svc_sql_admin_user_factors_total,
                      &ngx_svc_sql_admin_user_factors_list },
      .list = "factors",
      .total = &ngx_svc_sql_admin_user_factors_total,
      .more = ngx_svc_admin_user_factors_more },

    ngx_svc_null_route
};


static void
ngx_svc_admin_user_factors_more(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr)
{
    ngx_svc_row_admin_user_factors_total_t  left;

    ngx_svc_row_admin_user_factors_total(&left,
                     ngx_svc_result(sr, &ngx_svc_sql_admin_user_factors_total),
                     0);

    ngx_svc_json_integer(w, "recoveryCodesLeft", left.codes);
}
