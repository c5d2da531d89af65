/*
 * What is unusual of agents, and told where a request of theirs is refused.
 */

#include "ngx_svc_anomaly.h"
#include "ngx_svc_audit.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_sql.h"


#define NGX_SVC_ANOMALY_MEDIUM  5       /* refusals of an hour */
#define NGX_SVC_ANOMALY_HIGH    20


/* SQL: whether refusals of a type weigh more the more there are. */

#define NGX_SVC_ANOMALY_DENIED(type)                                          \
    type " IN ('" NGX_SVC_ANOMALY_SCOPE_DENIED "',"                           \
        " '" NGX_SVC_ANOMALY_AUDIENCE_DENIED "')"


static const struct {
    ngx_str_t         type;
    ngx_svc_metric_e  metric;
} ngx_svc_anomaly_metrics[] = {
    { ngx_string("token_burst"), NGX_SVC_M_ANOMALY_TOKEN_BURST },
    { ngx_string("new_ip"), NGX_SVC_M_ANOMALY_NEW_IP },
    { ngx_string("new_country"), NGX_SVC_M_ANOMALY_NEW_COUNTRY },
    { ngx_string(NGX_SVC_ANOMALY_SCOPE_DENIED),
      NGX_SVC_M_ANOMALY_SCOPE_DENIED },
    { ngx_string(NGX_SVC_ANOMALY_AUDIENCE_DENIED),
      NGX_SVC_M_ANOMALY_AUDIENCE_DENIED },
    { ngx_string("off_hours"), NGX_SVC_M_ANOMALY_OFF_HOURS },
    { ngx_string(NGX_SVC_ANOMALY_DISABLED_USE),
      NGX_SVC_M_ANOMALY_DISABLED_USE },
    { ngx_string(NGX_SVC_ANOMALY_EXPIRED_USE), NGX_SVC_M_ANOMALY_EXPIRED_USE },
    { ngx_string("new_subject"), NGX_SVC_M_ANOMALY_NEW_SUBJECT },
    { ngx_string(NGX_SVC_ANOMALY_SECRET_REUSE),
      NGX_SVC_M_ANOMALY_SECRET_REUSE }
};


const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_anomaly = {
    .name = "oauth_anomaly",
    .text =
        "WITH a AS ("
            "SELECT p.client_id, p.name, $2::text AS type,"
                " to_char(now() AT TIME ZONE 'UTC',"
                    " CASE $2::text WHEN '" NGX_SVC_ANOMALY_EXPIRED_USE "'"
                        " THEN 'YYYY-MM-DD'"
                        " ELSE 'YYYY-MM-DD\"T\"HH24' END) AS key,"
                " CASE WHEN " NGX_SVC_ANOMALY_DENIED("$2::text") " THEN 'low'"
                    " WHEN $2::text = '" NGX_SVC_ANOMALY_EXPIRED_USE "'"
                        " THEN 'medium' ELSE 'high' END AS severity,"
                " jsonb_strip_nulls($3::text::jsonb) AS details"
            " FROM svc.application p WHERE p.tenant_id = " NGX_SVC_TENANT
                " AND p.client_id = $1::text AND p.type = 'agent'"
        "), u AS ("
            "INSERT INTO svc.agent_anomaly AS n (client_id, type, key,"
                " severity, details)"
            " SELECT a.client_id, a.type, a.key, a.severity, a.details FROM a"
            " ON CONFLICT (tenant_id, client_id, type, key) DO UPDATE"
            " SET occurrences = n.occurrences + 1,"
                " last_seen_at = greatest(n.last_seen_at, now()),"
                " details = excluded.details,"
                " severity ="
                    " CASE WHEN NOT " NGX_SVC_ANOMALY_DENIED("n.type")
                            " THEN n.severity"
                        " WHEN n.occurrences + 1 >= "
                            ngx_value(NGX_SVC_ANOMALY_HIGH) " THEN 'high'"
                        " WHEN n.occurrences + 1 >= "
                            ngx_value(NGX_SVC_ANOMALY_MEDIUM) " THEN 'medium'"
                        " ELSE n.severity END"
            " RETURNING n.id, n.client_id, n.type, n.severity, n.details,"
                " n.occurrences"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_AGENT_ANOMALY_RAISED, "u.client_id",
                "a.name",
                "u.details || jsonb_build_object('anomalyId', u.id,"
                    " 'type', u.type, 'severity', u.severity)",
                "FROM u JOIN a ON a.client_id = u.client_id"
                " WHERE u.occurrences = 1")
        ")"
        " SELECT u.id, u.occurrences = 1 AS created FROM u",
    .nparams = 3
};


void
ngx_svc_anomaly_count(const ngx_str_t *type)
{
    ngx_uint_t        i;
    const ngx_str_t  *name;

    for (i = 0;
         i < sizeof(ngx_svc_anomaly_metrics)
             / sizeof(ngx_svc_anomaly_metrics[0]);
         i++)
    {
        name = &ngx_svc_anomaly_metrics[i].type;

        if (name->len == type->len
            && ngx_memcmp(name->data, type->data, type->len) == 0)
        {
            ngx_svc_metric_add(ngx_svc_anomaly_metrics[i].metric, 1);
            return;
        }
    }
}
