/*
 * The counters of requests, by route.
 */

#ifndef _NGX_SVC_METRICS_REQUEST_H_INCLUDED_
#define _NGX_SVC_METRICS_REQUEST_H_INCLUDED_


#include "ngx_svc_request.h"


/* Adds the handler that counts requests, while the configuration is read. */
ngx_int_t ngx_svc_metrics_init(ngx_conf_t *cf);

/*
 * Gives each route its numbers.  Called when the configuration is read, and the
 * shared memory is there or is not wanted.
 */
ngx_int_t ngx_svc_metrics_init_module(ngx_cycle_t *cycle,
    ngx_svc_main_conf_t *smcf);


#endif /* _NGX_SVC_METRICS_REQUEST_H_INCLUDED_ */
