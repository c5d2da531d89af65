/*
 * JSON Web Keys of other identity providers.  Theirs are more kinds than ours:
 * what signs here, and what proves a client or a DPoP key to us, stays with
 * ngx_svc_jwk.h and ngx_svc_jwk_rsa.h.
 */

#ifndef _NGX_SVC_JWK_FOREIGN_H_INCLUDED_
#define _NGX_SVC_JWK_FOREIGN_H_INCLUDED_


#include "ngx_svc_jwk.h"


/*
 * Reads a public key: one that ngx_svc_jwk_public() reads, one for P-384, or
 * one for RSA with 2,048 to 8,192 bits and an odd exponent from 3 to 2^32 - 1.
 * Its "use", if any, is "sig"; its "key_ops", if any, has "verify"; its "alg",
 * if any, is one that is returned.  The numbers of RSA may begin with zeroes,
 * which some libraries write (RFC 7518, 6.3.1.1).
 *
 * Returns NGX_OK with *key, which the caller frees, and *algs, the algorithms
 * that the key may verify, as ngx_svc_jwa_bit(); NGX_DECLINED when it is no
 * such key; or NGX_ERROR when OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_jwk_foreign(const cJSON *jwk, EVP_PKEY **key,
    ngx_uint_t *algs);


#endif /* _NGX_SVC_JWK_FOREIGN_H_INCLUDED_ */
