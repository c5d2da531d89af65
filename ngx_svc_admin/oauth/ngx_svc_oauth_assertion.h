/*
 * Assertions: JWTs that clients sign to authenticate, in place of a secret
 * (RFC 7523, 3; OpenID Connect Core 1.0, 9: private_key_jwt).
 */

#ifndef _NGX_SVC_OAUTH_ASSERTION_H_INCLUDED_
#define _NGX_SVC_OAUTH_ASSERTION_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_jws.h"


#define NGX_SVC_OAUTH_ASSERTION_TYPE                                          \
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define NGX_SVC_OAUTH_ASSERTION_LIFE   300  /* seconds, from now to exp */
#define NGX_SVC_OAUTH_ASSERTION_DRIFT  60   /* seconds, from now to iat, nbf */
#define NGX_SVC_OAUTH_ASSERTION_JTI    128  /* bytes, at most */
#define NGX_SVC_OAUTH_ASSERTION_SUB    64   /* bytes; a clientId has less */


/* An assertion, taken apart.  Its texts are in the pool. */

typedef struct {
    ngx_svc_jws_t   jws;
    ngx_str_t       client_id;      /* no data: it names no client */
    ngx_str_t       aud;
    unsigned        listed:1;       /* 1: aud is an array with one element */
    unsigned        for_issuer:1;   /* 1: aud is the issuer; the caller sets
                                       it */
    u_char          once[NGX_SVC_SHA256_LEN];   /* SHA-256 of client and jti */
    const char     *why;            /* NGX_DECLINED: "is ...", "has ..." */
} ngx_svc_oauth_assertion_t;


/*
 * Takes an assertion apart, and checks its claims.  The caller finds out
 * whether aud is ours, who has signed it, and whether once is new.
 *
 * Returns NGX_OK; NGX_DECLINED with a->why set, and a->client_id if it is
 * there; NGX_ERROR when memory runs out or OpenSSL fails.
 */
ngx_int_t ngx_svc_oauth_assertion(ngx_pool_t *pool, const ngx_str_t *text,
    time_t now, ngx_svc_oauth_assertion_t *a);


#endif /* _NGX_SVC_OAUTH_ASSERTION_H_INCLUDED_ */
