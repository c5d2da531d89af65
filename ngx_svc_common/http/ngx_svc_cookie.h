/*
 * Cookies (RFC 6265).
 */

#ifndef _NGX_SVC_COOKIE_H_INCLUDED_
#define _NGX_SVC_COOKIE_H_INCLUDED_


#include "ngx_svc_request.h"


#define NGX_SVC_COOKIE_HTTP_ONLY  0x01
#define NGX_SVC_COOKIE_DELETE     0x02      /* Max-Age=0; value is not used */


/*
 * Finds the value of the request's cookie of that name; upper and lower case
 * differ.  Returns NGX_OK; NGX_DONE when there is none; NGX_DECLINED when there
 * are several, since nobody knows which one counts.
 */
NGX_SVC_API ngx_int_t ngx_svc_cookie(ngx_http_request_t *r,
    const ngx_str_t *name, ngx_str_t *value);

/*
 * Adds a Set-Cookie header, with Path=/ and SameSite=Lax.  When svc_base_url
 * begins with https the cookie is Secure, and "__Host-" stands before its name.
 * age: seconds; 0: until the browser is closed.  Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_cookie_set(ngx_svc_request_t *sr,
    const ngx_str_t *name, const ngx_str_t *value, time_t age,
    ngx_uint_t flags);

/* Returns 1 if svc_base_url begins with https. */
NGX_SVC_API ngx_uint_t ngx_svc_cookie_secure(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_COOKIE_H_INCLUDED_ */
