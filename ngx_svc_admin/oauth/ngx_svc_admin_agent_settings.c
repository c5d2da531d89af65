/*
 * /v1/admin/agents/settings: a tenant's settings for all of its agents.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_bind.h"
#include "ngx_svc_etag.h"


typedef struct {
    ngx_svc_value_t  orphan_action;
    ngx_svc_value_t  orphan_grace;
    ngx_svc_value_t  max_depth;
    ngx_svc_value_t  review_interval;
} ngx_svc_admin_agent_settings_t;


static ngx_int_t ngx_svc_admin_agent_action(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


static const ngx_svc_member_t  ngx_svc_admin_agent_settings_members[] = {

    { .name = ngx_string("orphanAction"),
      .type = NGX_SVC_T_STRING,
      .check = ngx_svc_admin_agent_action,
      .offset = offsetof(ngx_svc_admin_agent_settings_t, orphan_action) },

    { .name = ngx_string("orphanGraceHours"),
      .type = NGX_SVC_T_INTEGER,
      .min = 0,
      .max = 8760,
      .offset = offsetof(ngx_svc_admin_agent_settings_t, orphan_grace) },

    { .name = ngx_string("maxDelegationDepth"),
      .type = NGX_SVC_T_INTEGER,
      .min = 1,
      .max = 5,
      .offset = offsetof(ngx_svc_admin_agent_settings_t, max_depth) },

    { .name = ngx_string("reviewIntervalDays"),
      .type = NGX_SVC_T_INTEGER,
      .min = 1,
      .max = 730,
      .offset = offsetof(ngx_svc_admin_agent_settings_t, review_interval) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_agent_settings.sql.h"


const ngx_svc_route_t  ngx_svc_admin_agent_settings[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/agents/settings"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_agent_settings } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/agents/settings"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_agent_settings_members,
      .body_size = sizeof(ngx_svc_admin_agent_settings_t),
      .statements = { &ngx_svc_sql_admin_agent_settings_lock,
                      &ngx_svc_sql_admin_agent_settings_put,
                      &ngx_svc_sql_admin_agent_settings } },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_agent_action(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_strcmp(value->str.data, "none") == 0
        || ngx_strcmp(value->str.data, "disable") == 0)
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be \"none\" or \"disable\".", path);
}
