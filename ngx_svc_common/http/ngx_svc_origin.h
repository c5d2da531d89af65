/*
 * Whether a browser sends a request for a page of another origin.
 */

#ifndef _NGX_SVC_ORIGIN_H_INCLUDED_
#define _NGX_SVC_ORIGIN_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Of a request that changes something.  By Sec-Fetch-Site (W3C Fetch Metadata),
 * else by Origin (RFC 6454), which must be that of svc_base_url's scheme and
 * the request's Host; what sends neither is no browser.  NGX_OK, or
 * NGX_DECLINED with sr->error.
 */
NGX_SVC_API ngx_int_t ngx_svc_origin_check(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_ORIGIN_H_INCLUDED_ */
