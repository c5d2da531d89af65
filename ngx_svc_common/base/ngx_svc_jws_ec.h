/*
 * JSON Web Signatures by ECDSA (RFC 7518, 3.4): ES256, and ES384, which is only
 * verified.
 */

#ifndef _NGX_SVC_JWS_EC_H_INCLUDED_
#define _NGX_SVC_JWS_EC_H_INCLUDED_


#include "ngx_svc_jws.h"


/*
 * Signs a text by ES256, for ngx_svc_jws_sign(): r and s, 32 bytes each.
 * Returns NGX_OK, or NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_jws_ec_sign(EVP_PKEY_CTX *signer, const u_char *text,
    size_t len, u_char raw[NGX_SVC_JWS_SIGNATURE]);

/*
 * Verify a signature for ngx_svc_jws_verify().  They return 1 if it is right, 0
 * if it is not, less than 0 when OpenSSL fails.
 */
int ngx_svc_jws_ec_verify_es256(const ngx_svc_jws_t *jws, EVP_PKEY *key);
int ngx_svc_jws_ec_verify_es384(const ngx_svc_jws_t *jws, EVP_PKEY *key);


#endif /* _NGX_SVC_JWS_EC_H_INCLUDED_ */
