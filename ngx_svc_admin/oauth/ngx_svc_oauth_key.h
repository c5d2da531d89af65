/*
 * The keys that tenants sign with.
 */

#ifndef _NGX_SVC_OAUTH_KEY_H_INCLUDED_
#define _NGX_SVC_OAUTH_KEY_H_INCLUDED_


#include "ngx_svc_jwk.h"
#include "ngx_svc_jws.h"
#include "ngx_svc_oauth.h"


/*
 * A private key.  Of P-256 it is signer, which is the worker's, and lives until
 * the next turn of the event loop at least.  Of RSA it is a reference, which
 * the caller frees; or, while the worker has not opened it, a DER for
 * ngx_svc_jwk_rsa_private(), which the caller wipes.
 */

typedef struct {
    EVP_PKEY_CTX  *signer;
    EVP_PKEY      *rsa;
    size_t         der_len;
    u_char         der[NGX_SVC_JWK_DER_MAX];
} ngx_svc_oauth_private_t;

/*
 * The private key of that kid, o->tenant's, which is sealed as svc.oauth_key
 * has it.  NGX_OK; NGX_ERROR: memory, or it cannot be opened, which the error
 * log says.
 */
ngx_int_t ngx_svc_oauth_key_private(ngx_svc_oauth_t *o, const ngx_str_t *kid,
    const ngx_str_t *sealed, ngx_svc_oauth_private_t *private);

/* An RSA key that was opened: the worker holds it, too, from then on. */
void ngx_svc_oauth_key_learn(const ngx_str_t *kid, EVP_PKEY *rsa);

/* 1: this worker holds the private key. */
ngx_uint_t ngx_svc_oauth_key_held(const ngx_str_t *kid);

/* The private key o->kid, for the above; no row: it is revoked. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_key_sealed;

/* Of a shown JWT, o->token.kid: the key as it is published; no row: none. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_key_public;

/*
 * A new key of P-256, as parameters of ngx_svc_sql_oauth_key_first, which makes
 * it the tenant's unless it has one by then.  o->tenant is known.  NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_key_new(ngx_svc_oauth_t *o);

extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_key_first;

/* The same of one that was made, of either kind. */
ngx_int_t ngx_svc_oauth_key_take(ngx_svc_oauth_t *o,
    const ngx_svc_jwk_new_t *new);

/*
 * A new private key of a tenant, as svc.oauth_key has it; sealed: room for
 * NGX_SVC_OAUTH_SEALED bytes.  NGX_OK or NGX_ERROR.
 */
#define NGX_SVC_OAUTH_SEALED  (NGX_SVC_JWK_DER_MAX + NGX_SVC_SEAL_OVERHEAD)

ngx_int_t ngx_svc_oauth_key_seal(const ngx_svc_keys_t *keys,
    const ngx_str_t *tenant, const ngx_svc_jwk_new_t *new, u_char *sealed,
    size_t *len);

/* The keys that are published of a tenant, its 16 bytes, have changed. */
void ngx_svc_oauth_key_changed(const ngx_str_t *tenant);

/* At the end of a worker. */
void ngx_svc_oauth_key_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_KEY_H_INCLUDED_ */
