/*
 * /v1/applications/{clientId}/groups, /consents, /usage: the groups whose users
 * may use an application, who has allowed it what, and its tokens by days of
 * UTC.
 */

#include "ngx_svc_admin_days.h"
#include "ngx_svc_admin_search.h"
#include "ngx_svc_application.h"


#define NGX_SVC_APPLICATION_COUNTED  10000  /* consents, or tokens of a day, at
                                               most */


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
      .check = ngx_svc_admin_search_check,
      .statements = { &ngx_svc_sql_admin_application_consents_total,
                      &ngx_svc_sql_admin_application_consents },
      .list = "consents",
      .total = &ngx_svc_sql_admin_application_consents_total },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/applications/*/usage"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_SLOW_POOL,
      .statements = { &ngx_svc_sql_admin_application_usage } },

    ngx_svc_null_route
};
