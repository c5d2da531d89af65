/*
 * ID tokens (OpenID Connect Core 1.0, 2).
 */

#ifndef _NGX_SVC_OAUTH_ID_TOKEN_H_INCLUDED_
#define _NGX_SVC_OAUTH_ID_TOKEN_H_INCLUDED_


#include "ngx_svc_oauth_claims.h"
#include "ngx_svc_oauth_issue.h"


/* What an ID token says of a user, beside an access token. */

typedef struct {
    const ngx_svc_oauth_issued_t  *token;       /* the access token */
    ngx_str_t                      kid;         /* what signs it; the sealed
                                                   key is the token's */
    ngx_int_t                      ttl;         /* seconds */
    ngx_str_t                      root;        /* of the session: a UUID */
    ngx_str_t                      methods;     /* the text of an array */
    ngx_str_t                      nonce;       /* or no data */
    const ngx_svc_oauth_claims_t  *claims;
} ngx_svc_oauth_id_token_t;

/*
 * Writes the member "id_token" beside o->access_token.  NGX_OK; NGX_ERROR:
 * memory, or the key cannot be opened.
 */
ngx_int_t ngx_svc_oauth_id_token_write(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_id_token_t *id, ngx_svc_json_writer_t *w);


#endif /* _NGX_SVC_OAUTH_ID_TOKEN_H_INCLUDED_ */
