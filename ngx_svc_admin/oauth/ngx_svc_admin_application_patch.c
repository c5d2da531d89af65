/*
 * PATCH /v1/applications/{clientId}.
 */

#include "ngx_svc_application_store.h"
#include "ngx_svc_etag.h"


#include "ngx_svc_admin_application_patch.sql.h"


const ngx_svc_route_t  ngx_svc_admin_application_patch[] = {

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/applications/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_application_patch_members,
      .body_size = sizeof(ngx_svc_application_t),
      .check = ngx_svc_application_profile_check,
      .statements = { &ngx_svc_sql_admin_applications_lock,
                      &ngx_svc_sql_admin_application_lock,
                      &ngx_svc_sql_admin_applications_patch },
      .reply = ngx_svc_application_profile_reply },

    ngx_svc_null_route
};
