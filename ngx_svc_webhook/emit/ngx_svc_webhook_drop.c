/*
 * Deliveries that a worker has to drop.
 */

#include "ngx_svc_webhook_drop.h"

#include "ngx_svc_log_limit.h"
#include "ngx_svc_metrics.h"


#define NGX_SVC_WEBHOOK_DROP_INTERVAL  10000    /* ms, a line of each kind */


typedef struct {
    ngx_svc_metric_e      metric;
    const char           *why;
    ngx_svc_log_limit_t   limit;
    ngx_uint_t            n;            /* dropped since the last line */
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

    [NGX_SVC_WEBHOOK_DROP_NUMBER] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "Redis does not take them, and the worker's buffer has no place "
               "for more events (see \"svc_webhook_keep\")"
    },

    [NGX_SVC_WEBHOOK_DROP_SHARE] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "Redis does not take them, and the tenant's share of the "
               "worker's buffer is full (see \"svc_webhook_keep\" and "
               "\"svc_webhook_keep_size\")"
    },

    [NGX_SVC_WEBHOOK_DROP_SIZE] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "Redis does not take them, and the worker's buffer has no "
               "memory for them (see \"svc_webhook_keep_size\")"
    },

    [NGX_SVC_WEBHOOK_DROP_AGE] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "Redis did not take them for too long (see "
               "\"svc_webhook_keep_time\")"
    },

    [NGX_SVC_WEBHOOK_DROP_REFUSED] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "Redis refuses them"
    },

    [NGX_SVC_WEBHOOK_DROP_MEMORY] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "no memory"
    },

    [NGX_SVC_WEBHOOK_DROP_EXIT] = {
        .metric = NGX_SVC_M_DROPPED_REDIS,
        .why = "the worker ends, and Redis has not taken them"
    }
};


void
ngx_svc_webhook_drop(ngx_svc_webhook_drop_e why, ngx_uint_t n,
    const ngx_str_t *tenant)
{
    ngx_uint_t               level;
    ngx_svc_webhook_drop_t  *drop;

    drop = &ngx_svc_webhook_drops[why];

    ngx_svc_metric_add(drop->metric, n);

    drop->n += n;

    level = ngx_svc_log_limit_level(&drop->limit, 1,
                                    NGX_SVC_WEBHOOK_DROP_INTERVAL,
                                    NGX_LOG_ERR);
    if (level == NGX_LOG_ERR) {
        n = drop->n;
        drop->n = 0;
    }

    ngx_log_error(level, ngx_cycle->log, 0,
                  "%ui webhook deliveries dropped, the last ones of tenant "
                  "%V: %s", n, tenant, drop->why);
}
