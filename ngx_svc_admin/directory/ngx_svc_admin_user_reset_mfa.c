/*
 * /v1/admin/users/{userId}/reset-mfa.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_notice.h"


static void ngx_svc_admin_reset_mfa_committed(
    const ngx_svc_pg_results_t *results);


#include "ngx_svc_admin_user_reset_mfa.sql.h"


const ngx_svc_route_t  ngx_svc_admin_user_reset_mfa[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/reset-mfa"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_user_lock,
                      &ngx_svc_sql_admin_user_reset_mfa,
                      &ngx_svc_sql_admin_users_get },
      .committed = ngx_svc_admin_reset_mfa_committed },

    ngx_svc_null_route
};


static void
ngx_svc_admin_reset_mfa_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                     ngx_svc_pg_result(results,
                                       &ngx_svc_sql_admin_user_reset_mfa));
}
