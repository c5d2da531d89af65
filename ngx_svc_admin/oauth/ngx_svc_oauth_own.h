/*
 * Access tokens of clients that act for themselves, which say all of
 * themselves: a JWT by its claims, an opaque one by what is sealed in it.
 */

#ifndef _NGX_SVC_OAUTH_OWN_H_INCLUDED_
#define _NGX_SVC_OAUTH_OWN_H_INCLUDED_


#include "ngx_svc_jws.h"
#include "ngx_svc_request.h"


#define NGX_SVC_OAUTH_SEALED_MAX  400       /* bytes of an opaque one's text */


/* What one says.  No data: there is none of it. */

typedef struct {
    ngx_str_t  tenant;          /* NGX_SVC_UUID_LEN bytes; none: of a JWT that
                                   is shown, whose key says it */
    ngx_str_t  client_id;
    u_char     jti[NGX_SVC_UUID_LEN];
    int64_t    ms;              /* of the time within it */
    ngx_int_t  ttl;             /* seconds, as it was issued */
    ngx_str_t  scope;           /* with spaces between them */
    ngx_str_t  audience;        /* none: the issuer; and below */
    ngx_str_t  audience_key;
    ngx_str_t  jkt;             /* NGX_SVC_SHA256_LEN bytes */
    ngx_str_t  kid;             /* of a JWT, */
    ngx_str_t  secret_hash;     /* and of an opaque one: SHA-256 of its text */
} ngx_svc_oauth_own_t;


/* A worker's start and end.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_own_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_oauth_own_exit_worker(void);

/* The jti of ms and of its other digits, NGX_SVC_OAUTH_JTI of them. */
ngx_int_t ngx_svc_oauth_own_jti(ngx_svc_oauth_own_t *own,
    const ngx_str_t *digits);

/*
 * The text of an opaque one, and own->secret_hash, of the pool.  It is sealed
 * for its tenant and its client alone, with what is derived from the first key.
 * NGX_DECLINED: it would be too long; NGX_ERROR: memory, or OpenSSL fails.
 */
ngx_int_t ngx_svc_oauth_own_seal(ngx_svc_request_t *sr,
    ngx_svc_oauth_own_t *own, ngx_str_t *text);

/*
 * What is behind NGX_SVC_OAUTH_OPAQUE in an opaque token's text, decoded, into
 * *own, of the pool; bytes live as long as it.  NGX_DECLINED: it is none of
 * these, or altered, or the key that it is sealed under has gone; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_own_open(ngx_svc_request_t *sr, u_char *bytes,
    size_t len, ngx_svc_oauth_own_t **own);

/*
 * Likewise of a JWT's claims, whether it has been verified or not.
 * NGX_DECLINED: it is no client's own.
 */
ngx_int_t ngx_svc_oauth_own_claims(ngx_svc_request_t *sr,
    const ngx_svc_jws_t *jws, ngx_svc_oauth_own_t **own);


#endif /* _NGX_SVC_OAUTH_OWN_H_INCLUDED_ */
