/*
 * /v1/admin/agents/anomalies: unusual behaviour of agents.
 */

#include "ngx_svc_admin_search.h"
#include "ngx_svc_agent.h"


static const char *const  ngx_svc_admin_anomaly_all[] = {
    "true", "1", "false", "0", NULL
};

static const char *const  ngx_svc_admin_anomaly_severities[] = {
    "low", "medium", "high", NULL
};


static ngx_int_t ngx_svc_admin_anomalies_check(ngx_svc_request_t *sr,
    void *body);


#define NGX_SVC_ADMIN_NO_ANOMALY  "There is no such anomaly."

#include "ngx_svc_admin_anomalies.sql.h"


const ngx_svc_route_t  ngx_svc_admin_anomalies[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/agents/anomalies"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .check = ngx_svc_admin_anomalies_check,
      .statements = { &ngx_svc_sql_admin_anomalies_total,
                      &ngx_svc_sql_admin_anomalies_list },
      .list = "anomalies",
      .total = &ngx_svc_sql_admin_anomalies_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/agents/anomalies/*/ack"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_anomaly_lock,
                      &ngx_svc_sql_admin_anomaly_ack } },

    ngx_svc_null_route
};


/* Those of a severity are searched for, as those with a text. */

static ngx_int_t
ngx_svc_admin_anomalies_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t  rc;
    ngx_str_t  severity;

    rc = ngx_svc_argument(sr, "severity", &severity);

    if (rc != NGX_OK) {
        return rc;
    }

    if (severity.len) {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    return ngx_svc_admin_search_check(sr, body);
}
