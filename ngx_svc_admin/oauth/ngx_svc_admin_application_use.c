/*
 * /v1/applications/{clientId}/groups, /consents: the groups whose users may use
 * an application, and who has allowed it what.
 */

#include "ngx_svc_application.h"


#define NGX_SVC_APPLICATION_COUNTED  10000  /* consents, at most */


#include "ngx_svc_admin_application_use.sql.h"


const ngx_svc_route_t  ngx_svc_admin_application_use[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/applications/*/groups"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_application_groups_total,
                      &ngx_svc_sql_admin_application_groups_list },
      .list = "groups",
      .total = &ngx_svc_sql_admin_application_groups_total },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/applications/*/consents"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_application_consents_total,
                      &ngx_svc_sql_admin_application_consents },
      .list = "consents",
      .total = &ngx_svc_sql_admin_application_consents_total },

    ngx_svc_null_route
};
