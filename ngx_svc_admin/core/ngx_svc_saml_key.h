/*
 * The key with which a tenant signs for applications that speak SAML.
 */

#ifndef _NGX_SVC_SAML_KEY_H_INCLUDED_
#define _NGX_SVC_SAML_KEY_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_SAML_KEY_BITS   2048
#define NGX_SVC_SAML_KEY_DAYS   3650
#define NGX_SVC_SAML_KEY_NAME   64      /* characters of a common name */
#define NGX_SVC_SAML_KEY_DER    2048    /* bytes, more than needed */
#define NGX_SVC_SAML_KEY_PEM    4096


typedef struct {
    u_char  name[NGX_SVC_SAML_KEY_NAME + 1];    /* the common name */
    size_t  der_len;
    u_char  der[NGX_SVC_SAML_KEY_DER];          /* the private key */
    size_t  pem_len;
    u_char  pem[NGX_SVC_SAML_KEY_PEM];          /* the certificate */
} ngx_svc_saml_key_t;


/*
 * Makes an RSA key and a certificate for it, signed with itself, for the name
 * in *key.  Takes some tenths of a second: meant for a thread.  Returns NGX_OK,
 * or NGX_ERROR when OpenSSL fails.  The caller wipes *key.
 */
ngx_int_t ngx_svc_saml_key_make(ngx_svc_saml_key_t *key);


#endif /* _NGX_SVC_SAML_KEY_H_INCLUDED_ */
