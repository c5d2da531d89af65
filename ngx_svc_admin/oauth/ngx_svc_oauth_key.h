/*
 * The keys that tenants sign with.
 */

#ifndef _NGX_SVC_OAUTH_KEY_H_INCLUDED_
#define _NGX_SVC_OAUTH_KEY_H_INCLUDED_


#include "ngx_svc_jwk.h"
#include "ngx_svc_jws.h"
#include "ngx_svc_oauth.h"


/*
 * A private key.  A key of P-256 is signer, which belongs to the worker, and
 * lives until the next iteration of the event loop at least.  A key of RSA is
 * rsa, a reference that the caller frees; or, if the worker has not opened it
 * yet, der, for ngx_svc_jwk_rsa_private(), which the caller wipes.
 */

typedef struct {
    EVP_PKEY_CTX  *signer;
    EVP_PKEY      *rsa;
    size_t         der_len;
    u_char         der[NGX_SVC_JWK_DER_MAX];
} ngx_svc_oauth_private_t;

/*
 * Finds o->tenant's private key with that kid, or opens it if the worker does
 * not hold it.  sealed: as svc.oauth_key has it.  Returns NGX_OK; or NGX_ERROR:
 * there is no memory, or the key cannot be opened, which the error log says.
 */
ngx_int_t ngx_svc_oauth_key_private(ngx_svc_oauth_t *o, const ngx_str_t *kid,
    const ngx_str_t *sealed, ngx_svc_oauth_private_t *private);

/* Lets the worker hold a reference of its own to an RSA key that was opened. */
void ngx_svc_oauth_key_learn(const ngx_str_t *kid, EVP_PKEY *rsa);

/* Returns 1 if this worker holds the private key. */
ngx_uint_t ngx_svc_oauth_key_held(const ngx_str_t *kid);

/* Reads the private key o->kid, as it is sealed; no row: it is revoked. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_key_sealed;

/*
 * Reads the public key of the JWT that is presented, o->token.kid; no row: the
 * tenant has no such key, or it is revoked.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_key_public;

/*
 * Makes a key of P-256, as parameters of ngx_svc_sql_oauth_key_first, which
 * stores it for the tenant unless it has one by then.  o->tenant is known.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_key_new(ngx_svc_oauth_t *o);

extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_key_first;

/* Takes a key of either kind that was made, for the same parameters. */
ngx_int_t ngx_svc_oauth_key_take(ngx_svc_oauth_t *o,
    const ngx_svc_jwk_new_t *new);

/*
 * Seals a new private key of a tenant, as svc.oauth_key has it.  sealed: room
 * for NGX_SVC_OAUTH_SEALED bytes.  Returns NGX_OK or NGX_ERROR.
 */
#define NGX_SVC_OAUTH_SEALED  (NGX_SVC_JWK_DER_MAX + NGX_SVC_SEAL_OVERHEAD)

ngx_int_t ngx_svc_oauth_key_seal(const ngx_svc_keys_t *keys,
    const ngx_str_t *tenant, const ngx_svc_jwk_new_t *new, u_char *sealed,
    size_t *len);

/*
 * Drops a tenant's published keys from the cache, for they have changed.
 * tenant: NGX_SVC_UUID_LEN bytes.
 */
void ngx_svc_oauth_key_changed(const ngx_str_t *tenant);

/* Call this at the end of a worker. */
void ngx_svc_oauth_key_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_KEY_H_INCLUDED_ */
