/*
 * Tokens that are shown: what can be told of one without the database.
 */

#ifndef _NGX_SVC_OAUTH_BEARER_H_INCLUDED_
#define _NGX_SVC_OAUTH_BEARER_H_INCLUDED_


#include "ngx_svc_oauth_own.h"


#define NGX_SVC_OAUTH_OPAQUE   "sat_"   /* what an opaque one begins with, */
#define NGX_SVC_OAUTH_REFRESH  "srt_"   /* and what refreshes */
#define NGX_SVC_OAUTH_SECRET   32       /* bytes of either */

/* Of an opaque one with a row: the tenant, the jti and the secret. */
#define NGX_SVC_OAUTH_OPAQUE_BYTES                                            \
    (2 * NGX_SVC_UUID_LEN + NGX_SVC_OAUTH_SECRET)


typedef enum {
    NGX_SVC_OAUTH_BEARER_NONE = 0,      /* nothing that could be one of ours */
    NGX_SVC_OAUTH_BEARER_JWT,
    NGX_SVC_OAUTH_BEARER_OPAQUE,
    NGX_SVC_OAUTH_BEARER_REFRESH
} ngx_svc_oauth_bearer_e;


/* What is of the request's pool; no data: not of this kind. */

typedef struct {
    ngx_svc_oauth_bearer_e  kind;
    ngx_str_t               jti;        /* NGX_SVC_UUID_LEN bytes */
    ngx_str_t               ms;         /* of the time in it, digits */
    ngx_str_t               kid;        /* of a JWT; 43 characters */
    ngx_str_t               tenant;     /* of an opaque one, as it says itself */
    ngx_str_t               secret_hash;    /* of that, or of what refreshes */
    ngx_str_t               unverified; /* a boolean: of a JWT */
    u_char                  digest[NGX_SVC_SHA256_LEN];     /* of the text */
    ngx_svc_jws_t          *jws;
    ngx_svc_oauth_own_t    *own;        /* all that it is, once it is verified;
                                           NULL: what its row says */
} ngx_svc_oauth_bearer_t;


/*
 * Takes a token apart; text lives as long as the request.  NGX_OK also for
 * _NONE; NGX_ERROR: memory, or OpenSSL fails.
 */
ngx_int_t ngx_svc_oauth_bearer_read(ngx_svc_request_t *sr,
    const ngx_str_t *text, ngx_svc_oauth_bearer_t *bearer);

/*
 * Whether a JWT's signature is good, as a worker remembers of many.  NGX_OK, of
 * other kinds, too; NGX_DECLINED: it is not; NGX_AGAIN: the worker does not know
 * the key; NGX_ERROR: OpenSSL fails.
 */
ngx_int_t ngx_svc_oauth_bearer_verify(ngx_svc_oauth_bearer_t *bearer);

/*
 * The same with the key, as svc.oauth_key publishes it, which the worker
 * remembers then.  Memory of the pool.
 */
ngx_int_t ngx_svc_oauth_bearer_verify_by(ngx_pool_t *pool,
    ngx_svc_oauth_bearer_t *bearer, const ngx_str_t *jwk);

void ngx_svc_oauth_bearer_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_BEARER_H_INCLUDED_ */
