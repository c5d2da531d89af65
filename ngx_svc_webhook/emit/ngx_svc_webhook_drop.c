/*
 * Deliveries that a worker could not queue.
 */

#include "ngx_svc_webhook_drop.h"
#include "ngx_svc_webhook_due.h"

#include "ngx_svc_log_limit.h"
#include "ngx_svc_metrics.h"


#define NGX_SVC_WEBHOOK_DROP_INTERVAL  10000    /* ms between lines for a
                                                   reason */


typedef struct {
    ngx_svc_metric_e      metric;
    const char           *why;
    ngx_svc_log_limit_t   limit;
    ngx_uint_t            n;            /* deliveries since the last line */
} ngx_svc_webhook_drop_t;


static ngx_svc_webhook_drop_t  ngx_svc_webhook_drops[NGX_SVC_WEBHOOK_DROPS] = {

    [NGX_SVC_WEBHOOK_DROP_FULL] = {
        .metric = NGX_SVC_M_DROPPED_FULL,
        .why = "the queue is full (see \"svc_webhook_queue\")"
    },

    [NGX_SVC_WEBHOOK_DROP_TENANT] = {
        .metric = NGX_SVC_M_DROPPED_TENANT,
        .why = "the tenant's share of the queue is full (see "
               "\"svc_webhook_queue\")"
    },

    [NGX_SVC_WEBHOOK_DROP_DOWN] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "Redis does not take them"
    },

    [NGX_SVC_WEBHOOK_DROP_LOST] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "Redis has not confirmed them"
    },

    [NGX_SVC_WEBHOOK_DROP_REFUSED] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "Redis refuses them"
    },

    [NGX_SVC_WEBHOOK_DROP_MEMORY] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "no memory"
    }
};


void
ngx_svc_webhook_drop(ngx_svc_webhook_drop_e why, ngx_uint_t n,
    const ngx_str_t *tenant)
{
    ngx_uint_t               waits, level, said;
    ngx_svc_webhook_drop_t  *drop;

    drop = &ngx_svc_webhook_drops[why];

    waits = drop->metric == NGX_SVC_M_DROPPED_REDIS
            && ngx_svc_webhook_conf()->outbox;

    if (waits) {
        ngx_svc_webhook_due(tenant);

    } else {
        ngx_svc_metric_add(drop->metric, n);
    }

    drop->n += n;

    level = waits ? NGX_LOG_WARN : NGX_LOG_ERR;
    said = ngx_svc_log_limit_level(&drop->limit, 1,
                                   NGX_SVC_WEBHOOK_DROP_INTERVAL, level);
    if (said == level) {
        n = drop->n;
        drop->n = 0;
    }

    ngx_log_error(said, ngx_cycle->log, 0,
                  "%ui webhook deliveries %s, the last ones of tenant %V: %s",
                  n, waits ? "wait in the outbox" : "dropped", tenant,
                  drop->why);
}
