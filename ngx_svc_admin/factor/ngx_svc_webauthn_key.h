/*
 * Public keys of passkeys, by libfido2.
 */

#ifndef _NGX_SVC_WEBAUTHN_KEY_H_INCLUDED_
#define _NGX_SVC_WEBAUTHN_KEY_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_error.h"
#include "ngx_svc_passkey.h"


#define NGX_SVC_WEBAUTHN_SIGNATURE_MAX  512     /* bytes */


/* What an authenticator has signed, and with what result. */

typedef struct {
    ngx_str_t  authdata;
    u_char     client_hash[NGX_SVC_SHA256_LEN];     /* of the client data */
    ngx_str_t  signature;
} ngx_svc_webauthn_signed_t;


/*
 * Takes alg and public_key, which is allocated from the pool, from
 * authenticator data that ngx_svc_webauthn_authdata() has passed.  NGX_OK;
 * NGX_DECLINED with err set: the algorithm is none of ours, RSA has not 2048
 * bits, which is all that libfido2 knows, or the point is not on its curve;
 * NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_webauthn_key(ngx_pool_t *pool, const ngx_str_t *authdata,
    ngx_svc_passkey_t *passkey, ngx_svc_error_t *err);

/*
 * NGX_OK when the passkey's key has signed it.  NGX_DECLINED: it has not, the
 * key is none, or there is an answer to "hmac-secret" or "credBlob" in it,
 * which nobody asks for.  NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_webauthn_key_verify(const ngx_svc_passkey_t *passkey,
    const ngx_str_t *rp_id, const ngx_svc_webauthn_signed_t *s);


#endif /* _NGX_SVC_WEBAUTHN_KEY_H_INCLUDED_ */
