/*
 * X.509 certificates of identity providers, as PEM.
 */

#include "ngx_svc_certificate.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>


#define NGX_SVC_CERTIFICATE_BEGIN  "-----BEGIN CERTIFICATE-----"
#define NGX_SVC_CERTIFICATE_END    "-----END CERTIFICATE-----"


static ngx_uint_t ngx_svc_certificate_alone(const ngx_str_t *text);
static int ngx_svc_certificate_password(char *buf, int size, int writes,
    void *data);
static ngx_uint_t ngx_svc_certificate_key(X509 *x509);
static ngx_int_t ngx_svc_certificate_write(X509 *x509, ngx_pool_t *pool,
    ngx_str_t *pem);


ngx_int_t
ngx_svc_certificate_parse(const ngx_str_t *text, ngx_pool_t *pool,
    ngx_str_t *pem, const char **why)
{
    BIO        *bio;
    X509       *x509;
    ngx_int_t   rc;

    *why = "one X.509 certificate, as PEM";

    if (!ngx_svc_certificate_alone(text)) {
        return NGX_DECLINED;
    }

    bio = BIO_new_mem_buf(text->data, (int) text->len);
    if (bio == NULL) {
        return NGX_ERROR;
    }

    x509 = PEM_read_bio_X509(bio, NULL, ngx_svc_certificate_password, NULL);

    BIO_free(bio);

    rc = NGX_DECLINED;

    if (x509) {
        *why = "of an RSA key of at least 2048 bits, or of an EC key";

        if (ngx_svc_certificate_key(x509)) {
            rc = pem ? ngx_svc_certificate_write(x509, pool, pem) : NGX_OK;
        }
    }

    X509_free(x509);

    /* nginx would log the errors that are left as its own */
    ERR_clear_error();

    return rc;
}


ngx_int_t
ngx_svc_certificate_bundle(const ngx_str_t *text, ngx_pool_t *pool,
    ngx_str_t *pem, const char **why)
{
    u_char      *p, *next, *last;
    size_t       size;
    ngx_int_t    rc;
    ngx_str_t    one[NGX_SVC_CERTIFICATE_BUNDLE], part;
    ngx_uint_t   i, n;

    size = 0;
    last = text->data + text->len;

    for (n = 0, p = text->data; n == 0 || p < last; n++, p = next) {

        *why = "1 to " ngx_value(NGX_SVC_CERTIFICATE_BUNDLE)
               " X.509 certificates, as PEM, one behind the other";

        next = ngx_strnstr(p, NGX_SVC_CERTIFICATE_END, last - p);

        if (next == NULL || n == NGX_SVC_CERTIFICATE_BUNDLE) {
            return NGX_DECLINED;
        }

        next += sizeof(NGX_SVC_CERTIFICATE_END) - 1;

        part.data = p;
        part.len = next - p;

        rc = ngx_svc_certificate_parse(&part, pool, &one[n], why);
        if (rc != NGX_OK) {
            return rc;
        }

        size += one[n].len;

        while (next < last && isspace(*next)) {
            next++;
        }
    }

    pem->data = ngx_pnalloc(pool, size + 1);
    if (pem->data == NULL) {
        return NGX_ERROR;
    }

    for (i = 0, p = pem->data; i < n; i++) {
        p = ngx_cpymem(p, one[i].data, one[i].len);
    }

    *p = '\0';
    pem->len = p - pem->data;

    return NGX_OK;
}


/* OpenSSL skips what is before a certificate, and leaves what is behind. */

static ngx_uint_t
ngx_svc_certificate_alone(const ngx_str_t *text)
{
    u_char     *p, *last;
    ngx_str_t   begin = ngx_string(NGX_SVC_CERTIFICATE_BEGIN);
    ngx_str_t   end = ngx_string(NGX_SVC_CERTIFICATE_END);

    p = text->data;
    last = p + text->len;

    while (p < last && isspace(*p)) {
        p++;
    }

    while (last > p && isspace(last[-1])) {
        last--;
    }

    return (size_t) (last - p) > begin.len + end.len
           && last - p < NGX_MAX_INT32_VALUE
           && ngx_strncmp(p, begin.data, begin.len) == 0
           && ngx_strnstr(p, (char *) end.data, last - p) == last - end.len;
}


/* There is no password, and OpenSSL must not ask for one at a terminal. */

static int
ngx_svc_certificate_password(char *buf, int size, int writes, void *data)
{
    return -1;
}


static ngx_uint_t
ngx_svc_certificate_key(X509 *x509)
{
    EVP_PKEY  *key;

    key = X509_get0_pubkey(x509);

    if (key == NULL) {
        return 0;
    }

    switch (EVP_PKEY_base_id(key)) {

    case EVP_PKEY_RSA:
        return EVP_PKEY_bits(key) >= NGX_SVC_CERTIFICATE_RSA;

    case EVP_PKEY_EC:
        return 1;

    default:
        return 0;
    }
}


static ngx_int_t
ngx_svc_certificate_write(X509 *x509, ngx_pool_t *pool, ngx_str_t *pem)
{
    BIO        *bio;
    char       *data;
    long        len;
    ngx_int_t   rc;

    bio = BIO_new(BIO_s_mem());

    if (bio == NULL) {
        return NGX_ERROR;
    }

    rc = NGX_ERROR;

    if (PEM_write_bio_X509(bio, x509) == 1) {
        len = BIO_get_mem_data(bio, &data);

        pem->len = len;
        pem->data = ngx_pnalloc(pool, len);

        if (pem->data) {
            ngx_memcpy(pem->data, data, len);
            rc = NGX_OK;
        }
    }

    BIO_free(bio);

    return rc;
}
