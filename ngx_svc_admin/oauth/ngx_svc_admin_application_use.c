/*
 * /v1/applications/{clientId}/groups: the groups whose users may use an
 * application.
 */

#include "ngx_svc_application.h"


#include "ngx_svc_admin_application_use.sql.h"


const ngx_svc_route_t  ngx_svc_admin_application_use[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/applications/*/groups"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_application_groups_total,
                      &ngx_svc_sql_admin_application_groups_list },
      .list = "groups",
      .total = &ngx_svc_sql_admin_application_groups_total },

    ngx_svc_null_route
};
