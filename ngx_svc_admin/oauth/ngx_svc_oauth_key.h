/*
 * The keys that tenants sign with.
 */

#ifndef _NGX_SVC_OAUTH_KEY_H_INCLUDED_
#define _NGX_SVC_OAUTH_KEY_H_INCLUDED_


#include "ngx_svc_jwk.h"
#include "ngx_svc_jws.h"
#include "ngx_svc_oauth.h"


/*
 * What signs with a tenant's key; it is the worker's, and lives until the next
 * turn of the event loop at least.  sealed: the private key as svc.oauth_key
 * has it, as text.  NULL: it cannot be opened, which the error log says.
 */
EVP_PKEY_CTX *ngx_svc_oauth_key_signer(ngx_svc_oauth_t *o,
    const ngx_str_t *kid, const ngx_str_t *sealed);

/*
 * A new key, as parameters of ngx_svc_sql_oauth_key_first, which makes it the
 * tenant's unless it has one by then.  o->tenant is known.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_key_new(ngx_svc_oauth_t *o);

extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_key_first;

/*
 * A new private key of a tenant, as svc.oauth_key has it; sealed: room for
 * NGX_SVC_OAUTH_SEALED bytes.  NGX_OK or NGX_ERROR.
 */
#define NGX_SVC_OAUTH_SEALED  (NGX_SVC_JWK_DER + NGX_SVC_SEAL_OVERHEAD)

ngx_int_t ngx_svc_oauth_key_seal(const ngx_svc_keys_t *keys,
    const ngx_str_t *tenant, const ngx_svc_jwk_new_t *new, u_char *sealed,
    size_t *len);

/* The keys that are published of a tenant, its 16 bytes, have changed. */
void ngx_svc_oauth_key_changed(const ngx_str_t *tenant);

/* At the end of a worker. */
void ngx_svc_oauth_key_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_KEY_H_INCLUDED_ */
