/*
 * Logout tokens (OpenID Connect Back-Channel Logout 1.0, 2.4).
 */

#ifndef _NGX_SVC_LOGOUT_TOKEN_H_INCLUDED_
#define _NGX_SVC_LOGOUT_TOKEN_H_INCLUDED_


#include "ngx_svc_logout.h"


/*
 * Writes the form to be posted into *body, of the pool.  base: svc_base_url,
 * of which the issuer is made.  NGX_OK; NGX_ERROR: no memory, or the key
 * cannot be opened.
 */
ngx_int_t ngx_svc_logout_token(ngx_svc_logout_t *row, const ngx_str_t *base,
    ngx_pool_t *pool, ngx_str_t *body);


#endif /* _NGX_SVC_LOGOUT_TOKEN_H_INCLUDED_ */
