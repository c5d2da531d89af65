/*
 * /v1/admin/security-incidents: what somebody should look at.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_alert.h"


#define NGX_SVC_ADMIN_INCIDENTS      "svc.incident"
#define NGX_SVC_ADMIN_INCIDENT_ALL   "coalesce($1, 'false') = 'true'"


static const char *const  ngx_svc_admin_incident_all[] = {
    "true", "false", NULL
};


#define NGX_SVC_ADMIN_INCIDENT_COLUMNS                                        \
    "i.id, i.type, i.severity, i.title,"                                      \
    " i.details || jsonb_build_object('count', i.count, 'lastSeenAt', "       \
        NGX_SVC_TIME_TEXT("i.last_seen_at") ") AS details,"                   \
    " CASE WHEN i.acknowledged_at IS NULL THEN 'open'"                        \
        " ELSE 'acknowledged' END AS status,"                                 \
    " i.created_at AS \"createdAt\","                                         \
    " i.acknowledged_at AS \"acknowledgedAt\","                               \
    " i.acknowledged_by_type AS \"acknowledgedBy.type\","                     \
    " i.acknowledged_by_id AS \"acknowledgedBy.id\","                         \
    " i.acknowledged_by_name AS \"acknowledgedBy.name\""

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_incidents_total = {
    .name = "admin_incidents_total",
    .text =
        NGX_SVC_ALERTS_TOTAL(NGX_SVC_ADMIN_INCIDENTS,
                             NGX_SVC_ADMIN_INCIDENT_ALL),
    NGX_SVC_PARAMS(ngx_svc_param_query_word("all", ngx_svc_admin_incident_all))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_incidents_list = {
    .name = "admin_incidents_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_INCIDENT_COLUMNS
        NGX_SVC_ALERTS_PAGE(NGX_SVC_ADMIN_INCIDENTS,
                            NGX_SVC_ADMIN_INCIDENT_ALL, ""),
    NGX_SVC_PARAMS(ngx_svc_param_query_word("all", ngx_svc_admin_incident_all),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

#define NGX_SVC_ADMIN_NO_INCIDENT  "There is no such incident."

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_incident_lock = {
    .name = "admin_incident_lock",
    .text = NGX_SVC_ALERT_LOCK(NGX_SVC_ADMIN_INCIDENTS),
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_INCIDENT)),
    .missing = NGX_SVC_ADMIN_NO_INCIDENT
};

/* Who comes later changes nothing, and is told who was first. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_incident_ack = {
    .name = "admin_incident_ack",
    .text =
        "WITH u AS ("
            "UPDATE " NGX_SVC_ADMIN_INCIDENTS " i SET acknowledged_at = now(),"
                " acknowledged_by_type ="
                    " nullif(current_setting('svc.actor_type', true), ''),"
                " acknowledged_by_id ="
                    " nullif(current_setting('svc.actor_id', true), ''),"
                " acknowledged_by_name ="
                    " nullif(current_setting('svc.actor_name', true), '')"
            " WHERE i.tenant_id = " NGX_SVC_TENANT " AND i.id = $1"
                " AND i.acknowledged_at IS NULL"
            " RETURNING i.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_INCIDENT_ACKNOWLEDGED, "u.id::text",
                          "NULL", "jsonb_build_object('type', u.type)",
                          "FROM u")
        ")"
        " SELECT " NGX_SVC_ADMIN_INCIDENT_COLUMNS
        " FROM " NGX_SVC_ALERT_ACKNOWLEDGED(NGX_SVC_ADMIN_INCIDENTS),
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_INCIDENT)),
    .missing = NGX_SVC_ADMIN_NO_INCIDENT
};


const ngx_svc_route_t  ngx_svc_admin_incidents[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/security-incidents"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .statements = { &ngx_svc_sql_admin_incidents_total,
                      &ngx_svc_sql_admin_incidents_list },
      .list = "securityIncidents",
      .total = &ngx_svc_sql_admin_incidents_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/security-incidents/*/ack"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_incident_lock,
                      &ngx_svc_sql_admin_incident_ack } },

    ngx_svc_null_route
};
