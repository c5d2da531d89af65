/*
 * Public keys of passkeys, by libfido2.
 */

#ifndef _NGX_SVC_WEBAUTHN_KEY_H_INCLUDED_
#define _NGX_SVC_WEBAUTHN_KEY_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_error.h"
#include "ngx_svc_passkey.h"


#define NGX_SVC_WEBAUTHN_SIGNATURE_MAX  512     /* bytes */


/* The data that an authenticator has signed, and the signature. */

typedef struct {
    ngx_str_t  authdata;
    u_char     client_hash[NGX_SVC_SHA256_LEN];     /* of the client data */
    ngx_str_t  signature;
} ngx_svc_webauthn_signed_t;


/*
 * Sets alg and public_key, which is allocated from the pool, from authenticator
 * data that ngx_svc_webauthn_authdata() has passed.  Returns NGX_OK;
 * NGX_DECLINED with err set when the algorithm is not allowed, the RSA key has
 * not 2048 bits, which is the only size that libfido2 supports, or the point is
 * not on its curve; NGX_ERROR when there is no memory.
 */
ngx_int_t ngx_svc_webauthn_key(ngx_pool_t *pool, const ngx_str_t *authdata,
    ngx_svc_passkey_t *passkey, ngx_svc_error_t *err);

/*
 * Returns NGX_OK when the passkey's key has signed the data; NGX_DECLINED when
 * it has not, the key is not valid, or the data has an answer to "hmac-secret"
 * or "credBlob", which nobody asks for; NGX_ERROR when there is no memory.
 */
ngx_int_t ngx_svc_webauthn_key_verify(const ngx_svc_passkey_t *passkey,
    const ngx_str_t *rp_id, const ngx_svc_webauthn_signed_t *s);


#endif /* _NGX_SVC_WEBAUTHN_KEY_H_INCLUDED_ */
