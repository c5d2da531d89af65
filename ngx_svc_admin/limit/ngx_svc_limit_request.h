/*
 * Limits for a request that fails on our side.
 */

#ifndef _NGX_SVC_LIMIT_REQUEST_H_INCLUDED_
#define _NGX_SVC_LIMIT_REQUEST_H_INCLUDED_


#include "ngx_svc_limit.h"
#include "ngx_svc_request.h"


/*
 * Does what ngx_svc_limit_check() does, with the request's pool; the hits of a
 * request that ends with a 5xx are taken back: an outage locks nobody out.
 */
ngx_int_t ngx_svc_limit_check_request(ngx_svc_limit_t *limit,
    ngx_http_request_t *r);


#endif /* _NGX_SVC_LIMIT_REQUEST_H_INCLUDED_ */
