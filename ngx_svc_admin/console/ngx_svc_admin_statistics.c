/*
 * /v1/admin/security-stats, /v1/admin/growth-stats: numbers of the last days in
 * UTC, today included.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_days.h"


#include "ngx_svc_admin_statistics.sql.h"


const ngx_svc_route_t  ngx_svc_admin_statistics[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/security-stats"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .statements = { &ngx_svc_sql_admin_security_stats } },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/growth-stats"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .statements = { &ngx_svc_sql_admin_growth_stats } },

    ngx_svc_null_route
};
