/*
 * JSON Web Signatures by RSA: RS256 (RFC 7518, 3.3), and PS256 (3.5), which is
 * verified alone.
 */

#ifndef _NGX_SVC_JWS_RSA_H_INCLUDED_
#define _NGX_SVC_JWS_RSA_H_INCLUDED_


#include "ngx_svc_jws.h"


#define ngx_svc_jws_rsa_len(header_len, payload_len)                          \
    (ngx_svc_base64url_len(header_len) + 1                                    \
     + ngx_svc_base64url_len(payload_len) + 1                                 \
     + ngx_svc_base64url_len(NGX_SVC_JWS_RSA))


/*
 * As ngx_svc_jws_sign() does, by a key of ngx_svc_jwk_rsa_private(); p has room
 * for ngx_svc_jws_rsa_len() bytes, and all are written.  Takes 0.3 ms: meant
 * for threads, any number of which may have the key.
 */
NGX_SVC_API u_char *ngx_svc_jws_rsa_sign(EVP_PKEY *key,
    const ngx_str_t *header, const ngx_str_t *payload, u_char *p);

/* For ngx_svc_jws_verify(): 1, 0, or less than that when OpenSSL fails. */
int ngx_svc_jws_rsa_verify(const ngx_svc_jws_t *jws, EVP_PKEY *key);


#endif /* _NGX_SVC_JWS_RSA_H_INCLUDED_ */
