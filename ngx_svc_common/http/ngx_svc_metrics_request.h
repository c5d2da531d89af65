/*
 * Requests in numbers, by route.
 */

#ifndef _NGX_SVC_METRICS_REQUEST_H_INCLUDED_
#define _NGX_SVC_METRICS_REQUEST_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * While the configuration is read: the counting of requests.  When the shared
 * memory is there, or is not wanted.
 */
ngx_int_t ngx_svc_metrics_init(ngx_conf_t *cf);
ngx_int_t ngx_svc_metrics_init_module(ngx_cycle_t *cycle,
    ngx_svc_main_conf_t *smcf);


#endif /* _NGX_SVC_METRICS_REQUEST_H_INCLUDED_ */
