/*
 * The shared memory of the metrics, for the files ngx_svc_metrics*.c.
 */

#ifndef _NGX_SVC_METRICS_STORE_H_INCLUDED_
#define _NGX_SVC_METRICS_STORE_H_INCLUDED_


#include "ngx_svc_metrics.h"


#define NGX_SVC_METRICS_SLOTS     256   /* processes */
#define NGX_SVC_METRICS_ROUTES    192
#define NGX_SVC_METRICS_METHODS   8
#define NGX_SVC_METRICS_STATUSES  32
#define NGX_SVC_METRICS_BUCKETS   13    /* without the last one, which has no
                                           limit */
#define NGX_SVC_METRICS_NAME      112   /* bytes, with NUL */


/* The gauges of a process, which alone writes them. */

typedef struct {
    ngx_atomic_t               pid;         /* 0: the slot is free */
    ngx_atomic_t               live;        /* the pid, too, when the gauges are
                                               that process's */
    ngx_atomic_t               kind;        /* ngx_svc_process_e */
    ngx_atomic_t               gauges[NGX_SVC_G_GAUGES];
} __attribute__((aligned(64))) ngx_svc_metrics_slot_t;


typedef struct {
    u_char                     surface[NGX_SVC_METRICS_NAME];
    u_char                     route[NGX_SVC_METRICS_NAME];
    ngx_atomic_t               requests[NGX_SVC_METRICS_METHODS]
                                       [NGX_SVC_METRICS_STATUSES];
    ngx_atomic_t               buckets[NGX_SVC_METRICS_BUCKETS + 1];
    ngx_atomic_t               time;        /* ms, the sum of all requests */
} __attribute__((aligned(64))) ngx_svc_metrics_route_t;


/*
 * The shared memory, which outlives a reload.  Only the master adds routes, and
 * none is removed: a route is found again by its name.
 */

typedef struct {
    ngx_svc_metrics_slot_t     slots[NGX_SVC_METRICS_SLOTS];
    ngx_svc_metrics_route_t    routes[NGX_SVC_METRICS_ROUTES];
    ngx_atomic_t               nroutes;
    ngx_atomic_t               counters[NGX_SVC_M_COUNTERS];
} ngx_svc_metrics_t;


extern ngx_svc_metrics_t  *ngx_svc_metrics;     /* NULL: nothing is counted */

/* The labels and limits for the indexes of a route's numbers. */

extern const char *const   ngx_svc_metrics_methods[NGX_SVC_METRICS_METHODS];
extern const uint16_t      ngx_svc_metrics_statuses[NGX_SVC_METRICS_STATUSES];
extern const uint16_t      ngx_svc_metrics_limits[NGX_SVC_METRICS_BUCKETS];

/*
 * Adds the gauges of all living processes of a kind to sums, and their number
 * to *processes.  Of the schema's version and of missing keys takes the
 * largest.
 */
void ngx_svc_metrics_sum(ngx_svc_process_e kind, ngx_uint_t *processes,
    ngx_uint_t sums[NGX_SVC_G_GAUGES]);


#endif /* _NGX_SVC_METRICS_STORE_H_INCLUDED_ */
