/*
 * Tokens that are presented: what can be told of one without the database.
 */

#ifndef _NGX_SVC_OAUTH_BEARER_H_INCLUDED_
#define _NGX_SVC_OAUTH_BEARER_H_INCLUDED_


#include "ngx_svc_oauth_own.h"


#define NGX_SVC_OAUTH_OPAQUE   "sat_"   /* begins an opaque token */
#define NGX_SVC_OAUTH_REFRESH  "srt_"   /* begins a refresh token */
#define NGX_SVC_OAUTH_SECRET   32       /* random bytes in either */

/*
 * Bytes of an opaque token that has a row: the tenant, the jti and the secret.
 */
#define NGX_SVC_OAUTH_OPAQUE_BYTES                                            \
    (2 * NGX_SVC_UUID_LEN + NGX_SVC_OAUTH_SECRET)


typedef enum {
    NGX_SVC_OAUTH_BEARER_NONE = 0,      /* no token of ours */
    NGX_SVC_OAUTH_BEARER_JWT,
    NGX_SVC_OAUTH_BEARER_OPAQUE,
    NGX_SVC_OAUTH_BEARER_REFRESH
} ngx_svc_oauth_bearer_e;


/*
 * A token, in the request's pool.  A field without data does not belong to its
 * kind.
 */

typedef struct {
    ngx_svc_oauth_bearer_e  kind;
    ngx_str_t               jti;        /* NGX_SVC_UUID_LEN bytes */
    ngx_str_t               ms;         /* the jti's milliseconds, as text */
    ngx_str_t               kid;        /* of a JWT; 43 characters */
    ngx_str_t               tenant;     /* an opaque token's, as it says
                                           itself */
    ngx_str_t               secret_hash;    /* of an opaque or a refresh
                                               token */
    ngx_str_t               unverified; /* a boolean: it is a JWT whose
                                           signature has not been verified
                                           yet */
    u_char                  digest[NGX_SVC_SHA256_LEN];     /* of the text */
    ngx_svc_jws_t          *jws;
    ngx_svc_oauth_own_t    *own;        /* what a client's own token says,
                                           valid once it is verified; NULL:
                                           its row says it */
} ngx_svc_oauth_bearer_t;


/*
 * Takes a token apart; text has to live as long as the request.  Returns
 * NGX_OK, for _NONE, too; NGX_ERROR when memory runs out or OpenSSL fails.
 */
ngx_int_t ngx_svc_oauth_bearer_read(ngx_svc_request_t *sr,
    const ngx_str_t *text, ngx_svc_oauth_bearer_t *bearer);

/*
 * Verifies a JWT's signature, unless the worker remembers that it is good.
 * Returns NGX_OK, for other kinds, too; NGX_DECLINED: the signature is not
 * good; NGX_AGAIN: the worker does not know the key; NGX_ERROR when OpenSSL
 * fails.
 */
ngx_int_t ngx_svc_oauth_bearer_verify(ngx_svc_oauth_bearer_t *bearer);

/*
 * Does the same with the key as svc.oauth_key publishes it, which the worker
 * then remembers.  Memory is from the pool.
 */
ngx_int_t ngx_svc_oauth_bearer_verify_by(ngx_pool_t *pool,
    ngx_svc_oauth_bearer_t *bearer, const ngx_str_t *jwk);

void ngx_svc_oauth_bearer_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_BEARER_H_INCLUDED_ */
