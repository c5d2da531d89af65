/*
 * JSON Web Keys of RSA (RFC 7518, 6.3), with the exponent 65537: those of
 * tenants, of 2,048 bits, and those of clients.
 */

#ifndef _NGX_SVC_JWK_RSA_H_INCLUDED_
#define _NGX_SVC_JWK_RSA_H_INCLUDED_


#include "ngx_svc_jwk.h"


#define NGX_SVC_JWK_RSA_BITS  2048
#define NGX_SVC_JWK_RSA_MAX   4096      /* bits, of a client's */


/*
 * As ngx_svc_jwk_generate(), with kty, n, e, alg, use and kid.  Takes some
 * tenths of a second: meant for a thread.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_rsa_generate(ngx_svc_jwk_new_t *new);

/*
 * The private key of a DER of that, for the caller to free.  NULL: it is none
 * of this size, or OpenSSL fails.  Takes some tenths of a millisecond: meant
 * for a thread, as the above.
 */
NGX_SVC_API EVP_PKEY *ngx_svc_jwk_rsa_private(const u_char *der, size_t len);

/*
 * The public key of a tenant, which may be one of ngx_svc_jwk_public(), or of
 * RSA; returns what that does.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_signing(const cJSON *jwk, EVP_PKEY **key,
    ngx_svc_jwa_e *alg, u_char thumbprint[NGX_SVC_JWK_THUMBPRINT]);

/*
 * The public key of a client, which may be one of ngx_svc_jwk_public(), or of
 * RSA with 2,048 to 4,096 bits; returns what that does.  algs: what it may
 * verify, ngx_svc_jwa_bit() of each: RS256 and PS256 of RSA, unless its "alg"
 * is one of them.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_client(const cJSON *jwk, EVP_PKEY **key,
    ngx_uint_t *algs);


#endif /* _NGX_SVC_JWK_RSA_H_INCLUDED_ */
