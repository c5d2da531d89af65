/*
 * Access tokens of clients that act for themselves.  They say all about
 * themselves: a JWT by its claims, an opaque token by what is sealed in it.
 */

#ifndef _NGX_SVC_OAUTH_OWN_H_INCLUDED_
#define _NGX_SVC_OAUTH_OWN_H_INCLUDED_


#include "ngx_svc_jws.h"
#include "ngx_svc_request.h"


#define NGX_SVC_OAUTH_SEALED_MAX  400       /* bytes of an opaque text */


/* What such a token says.  No data: there is none. */

typedef struct {
    ngx_str_t  tenant;          /* NGX_SVC_UUID_LEN bytes; no data: it is a JWT
                                   that is presented, and its key's is meant */
    ngx_str_t  client_id;
    u_char     jti[NGX_SVC_UUID_LEN];
    int64_t    ms;              /* the time within jti */
    ngx_int_t  ttl;             /* seconds, when it was issued */
    ngx_str_t  scope;           /* with spaces between the scopes */
    ngx_str_t  audience;        /* no data: the issuer */
    ngx_str_t  audience_key;    /* no data: the issuer */
    ngx_str_t  jkt;             /* NGX_SVC_SHA256_LEN bytes */
    ngx_str_t  kid;             /* of a JWT */
    ngx_str_t  secret_hash;     /* of an opaque token: SHA-256 of its text */
} ngx_svc_oauth_own_t;


/*
 * Call these at the start and at the end of a worker.  _init_worker() returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_own_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_oauth_own_exit_worker(void);

/*
 * Sets own->jti from own->ms and its other NGX_SVC_OAUTH_JTI hex digits.
 * Returns NGX_OK; NGX_DECLINED: they are no hex digits.
 */
ngx_int_t ngx_svc_oauth_own_jti(ngx_svc_oauth_own_t *own,
    const ngx_str_t *digits);

/*
 * Makes the text of an opaque token, and own->secret_hash, both of the
 * request's pool.  The text is sealed, for its tenant and its client alone, by
 * a key that is derived from the first one of svc_key_file.  Returns NGX_OK;
 * NGX_DECLINED: it would be too long; or NGX_ERROR: there is no memory, or
 * OpenSSL fails.
 */
ngx_int_t ngx_svc_oauth_own_seal(ngx_svc_request_t *sr,
    ngx_svc_oauth_own_t *own, ngx_str_t *text);

/*
 * Opens an opaque token.  bytes: what follows NGX_SVC_OAUTH_OPAQUE in its text,
 * decoded; they must live as long as *own, which is of the request's pool.
 * Returns NGX_OK; NGX_DECLINED: it is no such token, or was altered, or the key
 * that has sealed it is gone; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_own_open(ngx_svc_request_t *sr, u_char *bytes,
    size_t len, ngx_svc_oauth_own_t **own);

/*
 * Reads a JWT's claims into *own, of the request's pool, whether or not its
 * signature has been verified.  Returns NGX_OK; NGX_DECLINED: it is no client's
 * own token; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_own_claims(ngx_svc_request_t *sr,
    const ngx_svc_jws_t *jws, ngx_svc_oauth_own_t **own);


#endif /* _NGX_SVC_OAUTH_OWN_H_INCLUDED_ */
