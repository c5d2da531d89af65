/*
 * The request_uri of an authorization request that was pushed (RFC 9126, 2.2).
 */

#ifndef _NGX_SVC_OAUTH_REQUEST_URI_H_INCLUDED_
#define _NGX_SVC_OAUTH_REQUEST_URI_H_INCLUDED_


#include "ngx_svc_oauth.h"


/* Which of these it is, is told to nobody. */
#define NGX_SVC_OAUTH_REQUEST_URI_WRONG                                       \
    "'request_uri' is unknown, has been used or has expired, or was pushed "  \
    "by another client or opened in another browser."


/* A new one, and its digest, of the pool.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_request_uri_new(ngx_pool_t *pool, ngx_str_t *uri,
    ngx_str_t *digest);

/*
 * NGX_OK: of one that may be ours, the digest, of the pool; NGX_DECLINED: it is
 * not of our kind, and *digest is left alone; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_uri_ours(ngx_pool_t *pool, const ngx_str_t *uri,
    ngx_str_t *digest);


#endif /* _NGX_SVC_OAUTH_REQUEST_URI_H_INCLUDED_ */
