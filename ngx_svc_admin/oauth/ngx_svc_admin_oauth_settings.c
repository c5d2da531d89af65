/*
 * /v1/admin/oauth/settings: limits for a tenant's applications.
 */

#include "ngx_svc_application.h"
#include "ngx_svc_etag.h"


typedef struct {
    ngx_svc_value_t  id_token_ttl;
    ngx_svc_value_t  refresh_idle_days;
    ngx_svc_value_t  grant_days;
} ngx_svc_admin_oauth_settings_t;


static const ngx_svc_member_t  ngx_svc_admin_oauth_settings_members[] = {

    { .name = ngx_string("maxIdTokenTtlSeconds"),
      .type = NGX_SVC_T_INTEGER|NGX_SVC_T_NULL,
      .min = 60,
      .max = 86400,
      .offset = offsetof(ngx_svc_admin_oauth_settings_t, id_token_ttl) },

    { .name = ngx_string("maxRefreshIdleDays"),
      .type = NGX_SVC_T_INTEGER|NGX_SVC_T_NULL,
      .min = 1,
      .max = 365,
      .offset = offsetof(ngx_svc_admin_oauth_settings_t,
                         refresh_idle_days) },

    { .name = ngx_string("maxGrantDays"),
      .type = NGX_SVC_T_INTEGER|NGX_SVC_T_NULL,
      .min = 1,
      .max = 3650,
      .offset = offsetof(ngx_svc_admin_oauth_settings_t, grant_days) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_oauth_settings.sql.h"


const ngx_svc_route_t  ngx_svc_admin_oauth_settings[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/oauth/settings"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_oauth_settings } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/oauth/settings"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_oauth_settings_members,
      .body_size = sizeof(ngx_svc_admin_oauth_settings_t),
      .statements = { &ngx_svc_sql_admin_applications_lock,
                      &ngx_svc_sql_admin_oauth_settings_lock,
                      &ngx_svc_sql_admin_oauth_settings_put,
                      &ngx_svc_sql_admin_oauth_settings } },

    ngx_svc_null_route
};
