/*
 * The JWTs of an answer.  P-256 signs them at once; RSA does in a thread.
 */

#ifndef _NGX_SVC_OAUTH_SIGN_H_INCLUDED_
#define _NGX_SVC_OAUTH_SIGN_H_INCLUDED_


#include "ngx_svc_oauth.h"


#define NGX_SVC_OAUTH_JWTS  2           /* an access token and an ID token */

/* Characters of "at_hash" in an ID token (OpenID Connect Core 1.0, 3.1.3.6). */
#define NGX_SVC_OAUTH_HASH  ngx_svc_base64url_len(NGX_SVC_SHA256_LEN / 2)


typedef struct {
    const char  *typ;
    ngx_str_t    payload;       /* JSON */
    u_char      *hash;          /* in payload: the place for the hash of the
                                   JWT before this one; NULL: there is none */
    ngx_str_t   *text;          /* the signed JWT, of the request's pool */
} ngx_svc_oauth_jwt_t;


/* JWTs that one key of o->tenant signs.  It is of the request's pool. */

struct ngx_svc_oauth_jwts_s {
    ngx_str_t            kid;
    ngx_str_t            sealed;    /* the private key, as svc.oauth_key has
                                       it; not used after _sign() returns */
    ngx_uint_t           n;
    ngx_svc_oauth_jwt_t  jwts[NGX_SVC_OAUTH_JWTS];
};


/* Adds a JWT to o->jwts; *text is set when it is signed. */
ngx_svc_oauth_jwt_t *ngx_svc_oauth_jwt(ngx_svc_oauth_t *o, const char *typ,
    ngx_str_t *text);

/*
 * Signs all of o->jwts.  Returns NGX_OK; NGX_AGAIN: a thread signs them, and
 * then o->signed_by() is called with NGX_OK, NGX_BUSY or NGX_ERROR, whose
 * result goes to ngx_http_finalize_request(); NGX_BUSY: too many wait for a
 * thread; or NGX_ERROR: there is no memory, or the key cannot be opened, which
 * the error log says.
 */
ngx_int_t ngx_svc_oauth_sign(ngx_svc_oauth_t *o);

/*
 * Writes the hash of a token, of NGX_SVC_OAUTH_HASH characters.  Returns NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_sign_hash(const ngx_str_t *token, u_char *hash);


#endif /* _NGX_SVC_OAUTH_SIGN_H_INCLUDED_ */
