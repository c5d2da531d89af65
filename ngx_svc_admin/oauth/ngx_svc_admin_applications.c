/*
 * /v1/applications: the list, an application, and its deletion.
 */

#include "ngx_svc_admin_user.h"
#include "ngx_svc_application.h"


static const char *const  ngx_svc_admin_application_types[] = {
    "web", "spa", "native", "m2m", "agent", NULL
};

static const char *const  ngx_svc_admin_application_switches[] = {
    "true", "false", NULL
};


#include "ngx_svc_admin_applications.sql.h"


const ngx_svc_route_t  ngx_svc_admin_applications[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/applications"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_applications_total,
                      &ngx_svc_sql_admin_applications_list },
      .list = "applications",
      .total = &ngx_svc_sql_admin_applications_total },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/applications/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_applications_get } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/applications/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_group_apps_serialize,
                      &ngx_svc_sql_admin_application_groups,
                      &ngx_svc_sql_admin_application_targets,
                      &ngx_svc_sql_admin_applications_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};
