/*
 * Anomalies of agents that are recorded where a request of theirs is refused.
 */

#include "ngx_svc_anomaly.h"
#include "ngx_svc_metrics.h"


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


#include "ngx_svc_anomaly.sql.h"


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
