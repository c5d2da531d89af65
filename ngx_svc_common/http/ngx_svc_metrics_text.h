/*
 * The metrics location.
 */

#ifndef _NGX_SVC_METRICS_TEXT_H_INCLUDED_
#define _NGX_SVC_METRICS_TEXT_H_INCLUDED_


#include "ngx_svc_request.h"


/* The content handler. */
ngx_int_t ngx_svc_metrics_handler(ngx_http_request_t *r);


#endif /* _NGX_SVC_METRICS_TEXT_H_INCLUDED_ */
