/*
 * The check that no page of another origin makes a browser send a request.
 */

#ifndef _NGX_SVC_ORIGIN_H_INCLUDED_
#define _NGX_SVC_ORIGIN_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Checks the origin of a request that changes something.  Sec-Fetch-Site (W3C
 * Fetch Metadata) decides; without it Origin (RFC 6454), which must have
 * svc_base_url's scheme and the request's Host.  A client that sends neither is
 * no browser.  Returns NGX_OK, or NGX_DECLINED with sr->error set.
 */
NGX_SVC_API ngx_int_t ngx_svc_origin_check(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_ORIGIN_H_INCLUDED_ */
