/*
 * The keys that tenants sign with.
 */

#ifndef _NGX_SVC_OAUTH_KEY_H_INCLUDED_
#define _NGX_SVC_OAUTH_KEY_H_INCLUDED_


#include "ngx_svc_jwk.h"
#include "ngx_svc_jws.h"
#include "ngx_svc_oauth.h"


/* A JWT that is to be signed with a tenant's key. */

typedef struct {
    const char  *typ;
    ngx_str_t    kid;
    ngx_str_t    sealed;        /* the private key, as svc.oauth_key has it */
    ngx_str_t    payload;       /* JSON */
} ngx_svc_oauth_jwt_t;

/*
 * Signs it, o->tenant's, into *text, of the pool.  NGX_OK; NGX_ERROR: memory,
 * or the key cannot be opened, which the error log says.
 */
ngx_int_t ngx_svc_oauth_key_sign(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_jwt_t *jwt, ngx_str_t *text);

/* 1: this worker holds the private key. */
ngx_uint_t ngx_svc_oauth_key_held(const ngx_str_t *kid);

/* The private key o->kid, for the above; no row: it is revoked. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_key_sealed;

/* Of a shown JWT, o->token.kid: the key as it is published; no row: none. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_key_public;

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
