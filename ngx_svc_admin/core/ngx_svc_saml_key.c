/*
 * The key with which a tenant signs for applications that speak SAML.
 */

#include "ngx_svc_saml_key.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>


#define NGX_SVC_SAML_KEY_SERIAL  127    /* bits: RFC 5280 has it positive */


static ngx_int_t ngx_svc_saml_key_sign(X509 *x509, EVP_PKEY *pkey,
    u_char *name);
static ngx_int_t ngx_svc_saml_key_serial(X509 *x509);
static ngx_int_t ngx_svc_saml_key_extension(X509 *x509, int nid,
    const char *value);
static ngx_int_t ngx_svc_saml_key_write(ngx_svc_saml_key_t *key, X509 *x509,
    EVP_PKEY *pkey);


ngx_int_t
ngx_svc_saml_key_make(ngx_svc_saml_key_t *key)
{
    X509       *x509;
    EVP_PKEY   *pkey;
    ngx_int_t   rc;

    pkey = EVP_RSA_gen(NGX_SVC_SAML_KEY_BITS);
    x509 = X509_new();

    rc = NGX_ERROR;

    if (pkey && x509
        && ngx_svc_saml_key_sign(x509, pkey, key->name) == NGX_OK)
    {
        rc = ngx_svc_saml_key_write(key, x509, pkey);
    }

    X509_free(x509);
    EVP_PKEY_free(pkey);

    /* this thread's errors */
    ERR_clear_error();

    return rc;
}


static ngx_int_t
ngx_svc_saml_key_sign(X509 *x509, EVP_PKEY *pkey, u_char *name)
{
    X509_NAME  *subject;

    subject = X509_get_subject_name(x509);

    if (X509_set_version(x509, X509_VERSION_3) != 1
        || ngx_svc_saml_key_serial(x509) != NGX_OK
        || X509_gmtime_adj(X509_getm_notBefore(x509), 0) == NULL
        || X509_time_adj_ex(X509_getm_notAfter(x509), NGX_SVC_SAML_KEY_DAYS, 0,
                            NULL)
           == NULL
        || X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1,
                                      -1, 0)
           != 1
        || X509_set_issuer_name(x509, subject) != 1
        || X509_set_pubkey(x509, pkey) != 1
        || ngx_svc_saml_key_extension(x509, NID_basic_constraints,
                                      "critical,CA:FALSE")
           != NGX_OK
        || ngx_svc_saml_key_extension(x509, NID_key_usage,
                                      "critical,digitalSignature")
           != NGX_OK
        || X509_sign(x509, pkey, EVP_sha256()) == 0)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_saml_key_serial(X509 *x509)
{
    BIGNUM     *number;
    ngx_int_t   rc;

    number = BN_new();
    if (number == NULL) {
        return NGX_ERROR;
    }

    rc = BN_rand(number, NGX_SVC_SAML_KEY_SERIAL, BN_RAND_TOP_ONE,
                 BN_RAND_BOTTOM_ANY)
         == 1
         && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509))
         ? NGX_OK : NGX_ERROR;

    BN_free(number);

    return rc;
}


static ngx_int_t
ngx_svc_saml_key_extension(X509 *x509, int nid, const char *value)
{
    ngx_int_t        rc;
    X509_EXTENSION  *extension;

    extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    if (extension == NULL) {
        return NGX_ERROR;
    }

    rc = X509_add_ext(x509, extension, -1) == 1 ? NGX_OK : NGX_ERROR;

    X509_EXTENSION_free(extension);

    return rc;
}


static ngx_int_t
ngx_svc_saml_key_write(ngx_svc_saml_key_t *key, X509 *x509, EVP_PKEY *pkey)
{
    BIO     *bio;
    int      len;
    u_char  *p;

    len = i2d_PrivateKey(pkey, NULL);

    if (len <= 0 || len > NGX_SVC_SAML_KEY_DER) {
        return NGX_ERROR;
    }

    p = key->der;
    key->der_len = i2d_PrivateKey(pkey, &p);

    bio = BIO_new(BIO_s_mem());
    if (bio == NULL) {
        return NGX_ERROR;
    }

    len = PEM_write_bio_X509(bio, x509) == 1
          ? BIO_read(bio, key->pem, NGX_SVC_SAML_KEY_PEM) : 0;

    BIO_free(bio);

    key->pem_len = len > 0 ? len : 0;

    return len > 0 && len < NGX_SVC_SAML_KEY_PEM ? NGX_OK : NGX_ERROR;
}
