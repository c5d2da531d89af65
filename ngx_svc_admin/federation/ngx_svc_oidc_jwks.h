/*
 * Key sets of other identity providers (RFC 7517, 5): what is stored of one,
 * and the key for a token.
 */

#ifndef _NGX_SVC_OIDC_JWKS_H_INCLUDED_
#define _NGX_SVC_OIDC_JWKS_H_INCLUDED_


#include "ngx_svc_jws.h"


#define NGX_SVC_OIDC_JWKS_KEYS  100     /* in one key set, at most */
#define NGX_SVC_OIDC_JWKS_KEPT  65536   /* bytes that are stored, at most */


/*
 * Makes the text of a key set that is stored: without keys that
 * ngx_svc_jwk_foreign() declines, and without members that
 * ngx_svc_oidc_jwks_key() does not need, as certificates, it is a third of
 * what Microsoft publishes, and each callback reads it.  The stored text may be
 * given again.  A set without any key is kept: some providers, and we, make a
 * key when they sign for the first time.
 *
 * Returns NGX_OK with *kept, which is of the pool; NGX_DECLINED with *why,
 * "is ..." or "has ...", printable ASCII without '"'; NGX_ERROR when memory
 * runs out or OpenSSL fails.
 */
ngx_int_t ngx_svc_oidc_jwks_keep(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_str_t *kept, const char **why);

/*
 * Finds the key of a token: the one that its "kid" names, or, without one, the
 * only one.  The members "jwk", "jku", "x5c" and "x5u" of a token's header name
 * no key.  An empty text has no keys.
 *
 * Returns NGX_OK with *key, which the caller frees and which may verify the
 * token's "alg", and *jwk, of the pool; NGX_AGAIN with *why when there is no
 * such key, so that a newer key set may have it; NGX_DECLINED with *why;
 * NGX_ERROR when memory runs out or OpenSSL fails.
 */
ngx_int_t ngx_svc_oidc_jwks_key(ngx_pool_t *pool, const ngx_str_t *jwks,
    const ngx_svc_jws_t *jws, EVP_PKEY **key, const cJSON **jwk,
    const char **why);


#endif /* _NGX_SVC_OIDC_JWKS_H_INCLUDED_ */
