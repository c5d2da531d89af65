/*
 * JSON Web Keys for RSA (RFC 7518, 6.3), with the exponent 65537: the keys of
 * tenants, which have 2,048 bits, and those of clients.
 */

#ifndef _NGX_SVC_JWK_RSA_H_INCLUDED_
#define _NGX_SVC_JWK_RSA_H_INCLUDED_


#include "ngx_svc_jwk.h"


#define NGX_SVC_JWK_RSA_BITS  2048
#define NGX_SVC_JWK_RSA_MAX   4096      /* bits of a client's key, at most */
#define NGX_SVC_JWK_RSA_BYTES_MAX  1024 /* bytes of any modulus */


/*
 * Generates a key as ngx_svc_jwk_generate() does, with kty, n, e, alg, use and
 * kid.  Takes some tenths of a second, so it is meant for a thread.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_rsa_generate(ngx_svc_jwk_new_t *new);

/*
 * Reads a private key from a DER of ngx_svc_jwk_rsa_generate(); the caller
 * frees the key.  Returns NULL when it is no key of this size, or OpenSSL
 * fails.  Takes some tenths of a millisecond, so it is meant for a thread.
 */
NGX_SVC_API EVP_PKEY *ngx_svc_jwk_rsa_private(const u_char *der, size_t len);

/*
 * Reads the public key of a tenant, which may be one that ngx_svc_jwk_public()
 * reads, or one for RSA.  Returns as ngx_svc_jwk_public() does.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_signing(const cJSON *jwk, EVP_PKEY **key,
    ngx_svc_jwa_e *alg, u_char thumbprint[NGX_SVC_JWK_THUMBPRINT]);

/*
 * Reads the public key of a client, which may be one that ngx_svc_jwk_public()
 * reads, or one for RSA with 2,048 to 4,096 bits.  Returns as
 * ngx_svc_jwk_public() does.  algs: the algorithms that the key may verify, as
 * ngx_svc_jwa_bit(): for RSA these are RS256 and PS256, unless its "alg" is one
 * of them.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_client(const cJSON *jwk, EVP_PKEY **key,
    ngx_uint_t *algs);

/*
 * Returns the algorithms that a key for RSA may verify by the members that all
 * types of keys have, as ngx_svc_jwa_bit(): RS256, PS256, both or none.
 */
ngx_uint_t ngx_svc_jwk_rsa_algs(const cJSON *jwk);

/*
 * Makes a public key of a modulus, which has at most NGX_SVC_JWK_RSA_BYTES_MAX
 * bytes, and an exponent.  Returns NGX_OK, NGX_DECLINED or NGX_ERROR.
 */
ngx_int_t ngx_svc_jwk_rsa_key(const u_char *n, size_t len, ngx_uint_t e,
    EVP_PKEY **key);


#endif /* _NGX_SVC_JWK_RSA_H_INCLUDED_ */
