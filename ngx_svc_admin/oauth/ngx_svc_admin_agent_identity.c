/*
 * PUT /v1/admin/agents/{clientId}/identity: the user who answers for an agent,
 * and when the agent expires.
 */

#include "ngx_svc_agent.h"
#include "ngx_svc_check.h"
#include "ngx_svc_etag.h"


typedef struct {
    ngx_svc_value_t  owner_id;
    ngx_svc_value_t  expires_at;
} ngx_svc_admin_agent_identity_t;


static const ngx_svc_member_t  ngx_svc_admin_agent_identity_members[] = {

    { .name = ngx_string("ownerId"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_application_check_owner,
      .offset = offsetof(ngx_svc_admin_agent_identity_t, owner_id) },

    { .name = ngx_string("expiresAt"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_check_expiry,
      .offset = offsetof(ngx_svc_admin_agent_identity_t, expires_at) },

    ngx_svc_read_only_member("owner"),

    ngx_svc_null_member
};


#include "ngx_svc_admin_agent_identity.sql.h"


const ngx_svc_route_t  ngx_svc_admin_agent_identity[] = {

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/agents/*/identity"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_agent_identity_members,
      .body_size = sizeof(ngx_svc_admin_agent_identity_t),
      .statements = { &ngx_svc_sql_admin_application_lock,
                      &ngx_svc_sql_admin_agent_identity_put,
                      &ngx_svc_sql_admin_agent_get } },

    ngx_svc_null_route
};
