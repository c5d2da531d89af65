/*
 * What is counted of a request that the server does not answer.
 */

#ifndef _NGX_SVC_LIMIT_REQUEST_H_INCLUDED_
#define _NGX_SVC_LIMIT_REQUEST_H_INCLUDED_


#include "ngx_svc_limit.h"
#include "ngx_svc_request.h"


/*
 * As ngx_svc_limit_check(), of the request's pool; a request that ends with a
 * 5xx has its hits given back: an outage locks nobody out.
 */
ngx_int_t ngx_svc_limit_check_request(ngx_svc_limit_t *limit,
    ngx_http_request_t *r);


#endif /* _NGX_SVC_LIMIT_REQUEST_H_INCLUDED_ */
