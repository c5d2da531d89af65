/*
 * ID tokens (OpenID Connect Core 1.0, 2).
 */

#ifndef _NGX_SVC_OAUTH_ID_TOKEN_H_INCLUDED_
#define _NGX_SVC_OAUTH_ID_TOKEN_H_INCLUDED_


#include "ngx_svc_oauth_claims.h"
#include "ngx_svc_oauth_issue.h"


/* What an ID token is made from, beside an access token. */

typedef struct {
    const ngx_svc_oauth_issued_t  *token;       /* the access token */
    ngx_int_t                      ttl;         /* seconds */
    ngx_str_t                      root;        /* the session's root_id: a
                                                   UUID as text */
    ngx_str_t                      methods;     /* of the sign-in: the text of
                                                   an array */
    ngx_str_t                      nonce;       /* no data: there is none */
    const ngx_svc_oauth_claims_t  *claims;
} ngx_svc_oauth_id_token_t;

/*
 * Adds an ID token to o->jwts, behind the access token.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_id_token(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_id_token_t *id);


#endif /* _NGX_SVC_OAUTH_ID_TOKEN_H_INCLUDED_ */
