/*
 * What a client proves itself by in place of a secret: a JWT that it has signed
 * (RFC 7523, 3; OpenID Connect Core 1.0, 9: private_key_jwt).
 */

#ifndef _NGX_SVC_OAUTH_ASSERTION_H_INCLUDED_
#define _NGX_SVC_OAUTH_ASSERTION_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_jws.h"


#define NGX_SVC_OAUTH_ASSERTION_TYPE                                          \
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define NGX_SVC_OAUTH_ASSERTION_LIFE   300  /* seconds, from now to exp, */
#define NGX_SVC_OAUTH_ASSERTION_DRIFT  60   /*     to iat and nbf */
#define NGX_SVC_OAUTH_ASSERTION_JTI    128  /* bytes, at most, */
#define NGX_SVC_OAUTH_ASSERTION_SUB    64   /*     and of "sub", which is more
                                                   than a clientId has */


/* Its texts are of the pool. */

typedef struct {
    ngx_svc_jws_t   jws;
    ngx_str_t       client_id;      /* no data: it does not say whose it is */
    ngx_str_t       aud;
    unsigned        listed:1;       /* that is an array with one element */
    unsigned        for_issuer:1;   /* for the caller to say: aud is that */
    u_char          once[NGX_SVC_SHA256_LEN];   /* of its client and jti */
    const char     *why;            /* NGX_DECLINED: "is ...", "has ..." */
} ngx_svc_oauth_assertion_t;


/*
 * Takes one apart, and looks at its claims.  Whether aud is ours, who has
 * signed it, and whether once is new, is for the caller to find out.
 *
 * NGX_OK; NGX_DECLINED with a->why, and a->client_id if that much is there;
 * NGX_ERROR when memory runs out or OpenSSL fails.
 */
ngx_int_t ngx_svc_oauth_assertion(ngx_pool_t *pool, const ngx_str_t *text,
    time_t now, ngx_svc_oauth_assertion_t *a);


#endif /* _NGX_SVC_OAUTH_ASSERTION_H_INCLUDED_ */
