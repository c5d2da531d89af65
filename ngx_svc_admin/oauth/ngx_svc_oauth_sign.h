/*
 * The JWTs of an answer: signed at once by P-256, and by RSA in a thread.
 */

#ifndef _NGX_SVC_OAUTH_SIGN_H_INCLUDED_
#define _NGX_SVC_OAUTH_SIGN_H_INCLUDED_


#include "ngx_svc_oauth.h"


#define NGX_SVC_OAUTH_JWTS  2           /* an access token, and an ID token */

/* Characters of a token's hash in the ID token beside it (3.1.3.6). */
#define NGX_SVC_OAUTH_HASH  ngx_svc_base64url_len(NGX_SVC_SHA256_LEN / 2)


typedef struct {
    const char  *typ;
    ngx_str_t    payload;       /* JSON */
    u_char      *hash;          /* within it: where that of the one in front
                                   goes when it is signed; or NULL */
    ngx_str_t   *text;          /* what is signed, of the request's pool */
} ngx_svc_oauth_jwt_t;


/* Of one key, o->tenant's; of the request's pool. */

struct ngx_svc_oauth_jwts_s {
    ngx_str_t            kid;
    ngx_str_t            sealed;    /* the private key, as svc.oauth_key has
                                       it; read before _sign() returns */
    ngx_uint_t           n;
    ngx_svc_oauth_jwt_t  jwts[NGX_SVC_OAUTH_JWTS];
};


/* One more, whose text is set when it is signed. */
ngx_svc_oauth_jwt_t *ngx_svc_oauth_jwt(ngx_svc_oauth_t *o, const char *typ,
    ngx_str_t *text);

/*
 * Signs all of o->jwts.  NGX_OK; NGX_AGAIN: a thread does, and then
 * o->signed_by is called, with NGX_OK, NGX_BUSY or NGX_ERROR, whose result the
 * request ends with; NGX_BUSY: too many wait for one; NGX_ERROR: memory, or the
 * key cannot be opened, which the error log says.
 */
ngx_int_t ngx_svc_oauth_sign(ngx_svc_oauth_t *o);

/* The hash of a token, of NGX_SVC_OAUTH_HASH characters.  NGX_OK, NGX_ERROR. */
ngx_int_t ngx_svc_oauth_sign_hash(const ngx_str_t *token, u_char *hash);


#endif /* _NGX_SVC_OAUTH_SIGN_H_INCLUDED_ */
