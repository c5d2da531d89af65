/*
 * Counters over all processes of an nginx, for Prometheus.
 */

#ifndef _NGX_SVC_METRICS_H_INCLUDED_
#define _NGX_SVC_METRICS_H_INCLUDED_


#include "ngx_svc_common.h"


/* Each only grows. */

typedef enum {
    NGX_SVC_M_EVENTS = 0,               /* that had at least one taker */
    NGX_SVC_M_QUEUED,                   /* deliveries; so are all below */
    NGX_SVC_M_DROPPED_FULL,             /* the queue was full */
    NGX_SVC_M_DROPPED_TENANT,           /* the tenant's share was */
    NGX_SVC_M_DROPPED_REDIS,            /* Redis was down, or lost it */
    NGX_SVC_M_ACKNOWLEDGED,
    NGX_SVC_M_RETRIED,                  /* attempts that another one follows */
    NGX_SVC_M_ABANDONED,
    NGX_SVC_M_REFUSED,                  /* the address check did not let it */
    NGX_SVC_M_CANCELLED,                /* the endpoint is gone, or disabled */
    NGX_SVC_M_TAKEN_OVER,               /* from a helper that had died */
    NGX_SVC_M_HELPER_STARTS,            /* of helper processes */
    NGX_SVC_M_COUNTERS
} ngx_svc_metric_e;


/* Each is what this process says that it is, and ends with it. */

typedef enum {
    NGX_SVC_G_QUEUE = 0,                /* deliveries in the shared queue */
    NGX_SVC_G_PENDING,                  /* in the hands of the helper */
    NGX_SVC_G_IN_FLIGHT,                /* being sent just now */
    NGX_SVC_G_GAUGES
} ngx_svc_gauge_e;


/* Both do nothing in a process without the counters. */
NGX_SVC_API void ngx_svc_metric_add(ngx_svc_metric_e metric, ngx_uint_t n);
NGX_SVC_API void ngx_svc_gauge_set(ngx_svc_gauge_e gauge, ngx_uint_t n);


#endif /* _NGX_SVC_METRICS_H_INCLUDED_ */
