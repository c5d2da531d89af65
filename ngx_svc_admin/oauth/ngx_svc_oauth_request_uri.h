/*
 * The request_uri of an authorization request that was pushed (RFC 9126, 2.2).
 */

#ifndef _NGX_SVC_OAUTH_REQUEST_URI_H_INCLUDED_
#define _NGX_SVC_OAUTH_REQUEST_URI_H_INCLUDED_


#include "ngx_svc_oauth.h"


/* One text for all of these: nobody is told which of them it is. */
#define NGX_SVC_OAUTH_REQUEST_URI_WRONG                                       \
    "'request_uri' is unknown, has been used or has expired, or was pushed "  \
    "by another client or opened in another browser."


/*
 * Makes a new request_uri and its digest, both of the pool.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_uri_new(ngx_pool_t *pool, ngx_str_t *uri,
    ngx_str_t *digest);

/*
 * Sets *digest, of the pool, if a request_uri may be ours.  Returns NGX_OK;
 * NGX_DECLINED: it cannot be ours, and *digest is left alone; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_uri_ours(ngx_pool_t *pool, const ngx_str_t *uri,
    ngx_str_t *digest);


#endif /* _NGX_SVC_OAUTH_REQUEST_URI_H_INCLUDED_ */
