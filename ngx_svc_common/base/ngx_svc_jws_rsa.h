/*
 * JSON Web Signatures by RSA: RS256 (RFC 7518, 3.3), and PS256 (3.5), which is
 * only verified.
 */

#ifndef _NGX_SVC_JWS_RSA_H_INCLUDED_
#define _NGX_SVC_JWS_RSA_H_INCLUDED_


#include "ngx_svc_jws.h"


#define ngx_svc_jws_rsa_len(header_len, payload_len)                          \
    (ngx_svc_base64url_len(header_len) + 1                                    \
     + ngx_svc_base64url_len(payload_len) + 1                                 \
     + ngx_svc_base64url_len(NGX_SVC_JWS_RSA))


/*
 * Signs by RS256 as ngx_svc_jws_sign() does, with a key of
 * ngx_svc_jwk_rsa_private(); p has room for ngx_svc_jws_rsa_len() bytes, and
 * all are written.  Takes 0.3 ms, so it is meant for threads, which may share
 * the key.
 */
NGX_SVC_API u_char *ngx_svc_jws_rsa_sign(EVP_PKEY *key,
    const ngx_str_t *header, const ngx_str_t *payload, u_char *p);

/*
 * Verifies a signature for ngx_svc_jws_verify().  Returns 1 if it is right, 0
 * if it is not, less than 0 when OpenSSL fails.
 */
int ngx_svc_jws_rsa_verify(const ngx_svc_jws_t *jws, EVP_PKEY *key);


#endif /* _NGX_SVC_JWS_RSA_H_INCLUDED_ */
