/*
 * Counters over all processes of an nginx, for Prometheus.
 */

#include "ngx_svc_metrics.h"


typedef struct {
    ngx_atomic_t   counters[NGX_SVC_M_COUNTERS];
    ngx_atomic_t   gauges[NGX_SVC_G_GAUGES];
} ngx_svc_metrics_t;


static ngx_svc_metrics_t  *ngx_svc_metrics;


void
ngx_svc_metric_add(ngx_svc_metric_e metric, ngx_uint_t n)
{
    if (ngx_svc_metrics) {
        (void) ngx_atomic_fetch_add(&ngx_svc_metrics->counters[metric], n);
    }
}


void
ngx_svc_gauge_set(ngx_svc_gauge_e gauge, ngx_uint_t n)
{
    if (ngx_svc_metrics) {
        ngx_svc_metrics->gauges[gauge] = n;
    }
}
