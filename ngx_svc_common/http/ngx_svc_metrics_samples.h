/*
 * The counters and the gauges that the metrics location shows.
 */

#ifndef _NGX_SVC_METRICS_SAMPLES_H_INCLUDED_
#define _NGX_SVC_METRICS_SAMPLES_H_INCLUDED_


#include "ngx_svc_metrics.h"


/*
 * A sample.  The samples of one metric are neighbours; the first one has the
 * help text, the others have NULL.  labels: without braces, or empty.
 */

typedef struct {
    const char    *name;
    const char    *help;
    const char    *labels;
    ngx_uint_t     index;               /* of a counter, or a gauge */
} ngx_svc_metrics_sample_t;


/*
 * The samples in their order; one without a name ends each table.  Gauges are
 * those of ngx_svc_metrics_sum().
 */
extern const ngx_svc_metrics_sample_t  ngx_svc_metrics_counter_samples[];
extern const ngx_svc_metrics_sample_t  ngx_svc_metrics_gauge_samples[];


#endif /* _NGX_SVC_METRICS_SAMPLES_H_INCLUDED_ */
