/*
 * /v1/admin/security-incidents: what an administrator should look at.
 */

#include "ngx_svc_admin_search.h"


static const char *const  ngx_svc_admin_incident_all[] = {
    "true", "false", NULL
};


#define NGX_SVC_ADMIN_NO_INCIDENT  "There is no such incident."

#include "ngx_svc_admin_incidents.sql.h"


const ngx_svc_route_t  ngx_svc_admin_incidents[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/security-incidents"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .check = ngx_svc_admin_search_check,
      .statements = { &ngx_svc_sql_admin_incidents_total,
                      &ngx_svc_sql_admin_incidents_list },
      .list = "securityIncidents",
      .total = &ngx_svc_sql_admin_incidents_total },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/security-incidents/*"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .statements = { &ngx_svc_sql_admin_incident_get } },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/security-incidents/*/ack"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_incident_lock,
                      &ngx_svc_sql_admin_incident_ack,
                      &ngx_svc_sql_admin_incident_get } },

    ngx_svc_null_route
};
