/*
 * JSON Web Signatures by ECDSA.  The caller clears OpenSSL's queue of errors.
 */

#include "ngx_svc_jws_ec.h"
#include "ngx_svc_crypto.h"

#include <openssl/bn.h>
#include <openssl/ec.h>


#define NGX_SVC_JWS_EC_NUMBER  48   /* bytes of r, and of s, at most */
#define NGX_SVC_JWS_EC_HEAD    3    /* bytes before a number in DER, at most */
#define NGX_SVC_JWS_EC_DER     (2 + 2 * (NGX_SVC_JWS_EC_HEAD                  \
                                         + NGX_SVC_JWS_EC_NUMBER))


static ngx_int_t ngx_svc_jws_ec_raw(const u_char *der, size_t len, u_char *raw);
static int ngx_svc_jws_ec_verify(const ngx_svc_jws_t *jws, EVP_PKEY *key,
    const u_char *order, size_t size, const u_char *digest, size_t len);
static ngx_uint_t ngx_svc_jws_ec_in_range(const u_char *number,
    const u_char *order, size_t size);
static size_t ngx_svc_jws_ec_der(const u_char *raw, size_t size, u_char *der);
static u_char *ngx_svc_jws_ec_der_number(u_char *p, const u_char *number,
    size_t len);


/* The orders of the groups (FIPS 186-4, D.1.2.3 and D.1.2.4). */

static const u_char  ngx_svc_jws_ec_p256[32] = {
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84,
    0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51
};

static const u_char  ngx_svc_jws_ec_p384[48] = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xc7, 0x63, 0x4d, 0x81, 0xf4, 0x37, 0x2d, 0xdf, 0x58, 0x1a, 0x0d, 0xb2,
    0x48, 0xb0, 0xa7, 0x7a, 0xec, 0xec, 0x19, 0x6a, 0xcc, 0xc5, 0x29, 0x73
};


ngx_int_t
ngx_svc_jws_ec_sign(EVP_PKEY_CTX *signer, const u_char *text, size_t len,
    u_char raw[NGX_SVC_JWS_SIGNATURE])
{
    size_t  n;
    u_char  digest[NGX_SVC_SHA256_LEN], der[NGX_SVC_JWS_EC_DER];

    n = sizeof(der);

    return ngx_svc_sha256(text, len, digest) == NGX_OK
           && EVP_PKEY_sign(signer, der, &n, digest, sizeof(digest)) == 1
           ? ngx_svc_jws_ec_raw(der, n, raw) : NGX_ERROR;
}


/* Writes a signature as RFC 7518, 3.4: r and s, each with 32 bytes. */

static ngx_int_t
ngx_svc_jws_ec_raw(const u_char *der, size_t len, u_char *raw)
{
    int            size;
    ngx_int_t      rc;
    ECDSA_SIG     *sig;
    const u_char  *p;

    p = der;
    sig = d2i_ECDSA_SIG(NULL, &p, len);

    if (sig == NULL) {
        return NGX_ERROR;
    }

    size = NGX_SVC_JWS_SIGNATURE / 2;

    rc = BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, size) == size
         && BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + size, size) == size
         ? NGX_OK : NGX_ERROR;

    ECDSA_SIG_free(sig);

    return rc;
}


int
ngx_svc_jws_ec_verify_es256(const ngx_svc_jws_t *jws, EVP_PKEY *key)
{
    u_char  digest[NGX_SVC_SHA256_LEN];

    if (ngx_svc_sha256(jws->signed_text.data, jws->signed_text.len, digest)
        != NGX_OK)
    {
        return -1;
    }

    return ngx_svc_jws_ec_verify(jws, key, ngx_svc_jws_ec_p256,
                                 sizeof(ngx_svc_jws_ec_p256), digest,
                                 sizeof(digest));
}


int
ngx_svc_jws_ec_verify_es384(const ngx_svc_jws_t *jws, EVP_PKEY *key)
{
    u_char        digest[EVP_MAX_MD_SIZE];
    unsigned int  len;

    if (EVP_Digest(jws->signed_text.data, jws->signed_text.len, digest, &len,
                   EVP_sha384(), NULL)
        != 1)
    {
        return -1;
    }

    return ngx_svc_jws_ec_verify(jws, key, ngx_svc_jws_ec_p384,
                                 sizeof(ngx_svc_jws_ec_p384), digest, len);
}


/*
 * Verifies r and s of a curve whose order has size bytes.  A signature or a key
 * for another curve is wrong.
 */

static int
ngx_svc_jws_ec_verify(const ngx_svc_jws_t *jws, EVP_PKEY *key,
    const u_char *order, size_t size, const u_char *digest, size_t len)
{
    int            rc;
    size_t         n;
    u_char         der[NGX_SVC_JWS_EC_DER];
    EVP_PKEY_CTX  *ctx;

    if (jws->signature_len != 2 * size
        || EVP_PKEY_get_bits(key) != (int) size * 8
        || !ngx_svc_jws_ec_in_range(jws->signature, order, size)
        || !ngx_svc_jws_ec_in_range(jws->signature + size, order, size))
    {
        return 0;
    }

    n = ngx_svc_jws_ec_der(jws->signature, size, der);

    ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);

    if (ctx == NULL || EVP_PKEY_verify_init(ctx) != 1) {
        rc = -1;

    } else {
        rc = EVP_PKEY_verify(ctx, der, n, digest, len);
    }

    EVP_PKEY_CTX_free(ctx);

    return rc;
}


/* Returns 1 if a number is from 1 to the order minus 1 (FIPS 186-4, 6.4). */

static ngx_uint_t
ngx_svc_jws_ec_in_range(const u_char *number, const u_char *order, size_t size)
{
    size_t  i;

    for (i = 0; i < size && number[i] == 0; i++) { /* void */ }

    return i < size && ngx_memcmp(number, order, size) < 0;
}


/*
 * Writes r and s as SEQUENCE { r INTEGER, s INTEGER }; returns its length.
 * Neither part has more than 127 bytes, whose lengths are one byte in DER.
 */

static size_t
ngx_svc_jws_ec_der(const u_char *raw, size_t size, u_char *der)
{
    u_char  *p;

    p = ngx_svc_jws_ec_der_number(der + 2, raw, size);
    p = ngx_svc_jws_ec_der_number(p, raw + size, size);

    der[0] = 0x30;
    der[1] = (u_char) (p - der - 2);

    return p - der;
}


/*
 * Writes an INTEGER without leading zeros, but for one where the number would
 * be negative without it.
 */

static u_char *
ngx_svc_jws_ec_der_number(u_char *p, const u_char *number, size_t len)
{
    for ( /* void */ ; *number == 0; number++) {
        len--;
    }

    *p++ = 0x02;

    if (*number & 0x80) {
        *p++ = (u_char) (len + 1);
        *p++ = 0;

    } else {
        *p++ = (u_char) len;
    }

    return ngx_cpymem(p, number, len);
}
