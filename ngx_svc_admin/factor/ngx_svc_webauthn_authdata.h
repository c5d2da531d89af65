/*
 * Authenticator data of WebAuthn, and the attestation object that it comes in.
 */

#ifndef _NGX_SVC_WEBAUTHN_AUTHDATA_H_INCLUDED_
#define _NGX_SVC_WEBAUTHN_AUTHDATA_H_INCLUDED_


#include "ngx_svc_error.h"


#define NGX_SVC_WEBAUTHN_OBJECT_MAX    16384    /* bytes */

/* The room of libfido2 for verifying EdDSA. */
#define NGX_SVC_WEBAUTHN_AUTHDATA_MAX  992


typedef struct {
    uint32_t       sign_count;
    const u_char  *aaguid;          /* in the data; of a registration */
    ngx_str_t      id;              /* in the data; of a registration */
    unsigned       be:1;
    unsigned       bs:1;
} ngx_svc_webauthn_authdata_t;


/*
 * Checks authenticator data: its length to the byte, the hash of rp_id, that
 * the user was present and verified, and that there is a credential in it if
 * registered is 1, and else none.  The key and the extensions are then
 * well-formed CBOR; nothing else of them is checked.
 *
 * Returns NGX_OK; NGX_DECLINED with err set; NGX_ERROR when OpenSSL fails.
 */
ngx_int_t ngx_svc_webauthn_authdata(const ngx_str_t *data,
    const ngx_str_t *rp_id, ngx_uint_t registered,
    ngx_svc_webauthn_authdata_t *authdata, ngx_svc_error_t *err);

/*
 * Finds the authenticator data in an attestation object of any format, whose
 * statement is not checked.  Returns NGX_OK with *data within the object;
 * NGX_DECLINED with err set.
 */
ngx_int_t ngx_svc_webauthn_attestation(const ngx_str_t *object,
    ngx_str_t *data, ngx_svc_error_t *err);


#endif /* _NGX_SVC_WEBAUTHN_AUTHDATA_H_INCLUDED_ */
