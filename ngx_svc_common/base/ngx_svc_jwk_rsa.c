/*
 * JSON Web Keys for RSA.  OpenSSL's queue of errors is cleared before each
 * return.  Functions that are meant for threads share nothing between them.
 */

#include "ngx_svc_jwk_rsa.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_crypto.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/rsa.h>


#define NGX_SVC_JWK_RSA_BYTES     (NGX_SVC_JWK_RSA_BITS / 8)
#define NGX_SVC_JWK_RSA_CHARS     ngx_svc_base64url_len(NGX_SVC_JWK_RSA_BYTES)
#define NGX_SVC_JWK_RSA_EXPONENT  "AQAB"


static ngx_int_t ngx_svc_jwk_rsa_write(ngx_svc_jwk_new_t *new, EVP_PKEY *key);
static ngx_int_t ngx_svc_jwk_rsa_write_der(ngx_svc_jwk_new_t *new,
    EVP_PKEY *key);
static ngx_int_t ngx_svc_jwk_rsa_number(EVP_PKEY *key,
    u_char text[NGX_SVC_JWK_RSA_CHARS]);
static ngx_int_t ngx_svc_jwk_rsa_thumbprint(const u_char *n,
    u_char thumbprint[NGX_SVC_JWK_THUMBPRINT]);
static ngx_int_t ngx_svc_jwk_rsa_public(const cJSON *jwk, EVP_PKEY **key,
    u_char thumbprint[NGX_SVC_JWK_THUMBPRINT]);
static ngx_int_t ngx_svc_jwk_rsa_modulus(const cJSON *jwk, u_char *n,
    size_t size, size_t *len);


ngx_int_t
ngx_svc_jwk_rsa_generate(ngx_svc_jwk_new_t *new)
{
    return ngx_svc_jwk_made(new, EVP_RSA_gen(NGX_SVC_JWK_RSA_BITS),
                            ngx_svc_jwk_rsa_write);
}


static ngx_int_t
ngx_svc_jwk_rsa_write(ngx_svc_jwk_new_t *new, EVP_PKEY *key)
{
    u_char  n[NGX_SVC_JWK_RSA_CHARS], digest[NGX_SVC_JWK_THUMBPRINT], *p;

    if (ngx_svc_jwk_rsa_number(key, n) != NGX_OK
        || ngx_svc_jwk_rsa_thumbprint(n, digest) != NGX_OK)
    {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(new->kid, digest, sizeof(digest));

    p = ngx_slprintf(new->jwk, new->jwk + sizeof(new->jwk),
                     "{\"kty\":\"RSA\",\"n\":\"%*s\",\"e\":\""
                     NGX_SVC_JWK_RSA_EXPONENT "\",\"alg\":\"RS256\","
                     "\"use\":\"sig\",\"kid\":\"%*s\"}", sizeof(n), n,
                     sizeof(new->kid), new->kid);

    new->jwk_len = p - new->jwk;

    return ngx_svc_jwk_rsa_write_der(new, key);
}


/* Writes a private key as PKCS #1 (RFC 8017, A.1.2). */

static ngx_int_t
ngx_svc_jwk_rsa_write_der(ngx_svc_jwk_new_t *new, EVP_PKEY *key)
{
    int      len;
    u_char  *p;

    len = i2d_PrivateKey(key, NULL);

    if (len <= 0 || len > NGX_SVC_JWK_DER_MAX) {
        return NGX_ERROR;
    }

    p = new->der;
    new->der_len = i2d_PrivateKey(key, &p);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_jwk_rsa_number(EVP_PKEY *key, u_char text[NGX_SVC_JWK_RSA_CHARS])
{
    u_char      bytes[NGX_SVC_JWK_RSA_BYTES];
    BIGNUM     *n;
    ngx_int_t   rc;

    n = NULL;

    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &n) != 1) {
        return NGX_ERROR;
    }

    rc = BN_bn2binpad(n, bytes, sizeof(bytes)) > 0 ? NGX_OK : NGX_ERROR;

    if (rc == NGX_OK) {
        (void) ngx_svc_base64url(text, bytes, sizeof(bytes));
    }

    BN_free(n);

    return rc;
}


/* Makes the thumbprint of RFC 7638 from a modulus in base64url. */

static ngx_int_t
ngx_svc_jwk_rsa_thumbprint(const u_char *n,
    u_char thumbprint[NGX_SVC_JWK_THUMBPRINT])
{
    u_char  text[NGX_SVC_JWK_TEXT], *p;

    p = ngx_slprintf(text, text + sizeof(text),
                     "{\"e\":\"" NGX_SVC_JWK_RSA_EXPONENT "\","
                     "\"kty\":\"RSA\",\"n\":\"%*s\"}",
                     NGX_SVC_JWK_RSA_CHARS, n);

    return EVP_Digest(text, p - text, thumbprint, NULL, EVP_sha256(), NULL)
           == 1 ? NGX_OK : NGX_ERROR;
}


EVP_PKEY *
ngx_svc_jwk_rsa_private(const u_char *der, size_t len)
{
    EVP_PKEY      *key;
    const u_char  *p;

    p = der;
    key = d2i_PrivateKey(EVP_PKEY_RSA, NULL, &p, len);

    if (key && (p != der + len
                || EVP_PKEY_get_bits(key) != NGX_SVC_JWK_RSA_BITS))
    {
        EVP_PKEY_free(key);
        key = NULL;
    }

    ERR_clear_error();

    return key;
}


ngx_int_t
ngx_svc_jwk_signing(const cJSON *jwk, EVP_PKEY **key, ngx_svc_jwa_e *alg,
    u_char thumbprint[NGX_SVC_JWK_THUMBPRINT])
{
    ngx_int_t  rc;

    rc = ngx_svc_jwk_public(jwk, key, alg, thumbprint);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    rc = ngx_svc_jwk_rsa_public(jwk, key, thumbprint);

    if (rc == NGX_OK) {
        *alg = NGX_SVC_JWA_RS256;
    }

    ERR_clear_error();

    return rc;
}


ngx_int_t
ngx_svc_jwk_client(const cJSON *jwk, EVP_PKEY **key, ngx_uint_t *algs)
{
    u_char         n[NGX_SVC_JWK_RSA_MAX / 8];
    u_char         thumbprint[NGX_SVC_JWK_THUMBPRINT];
    size_t         len;
    ngx_int_t      rc;
    ngx_svc_jwa_e  alg;

    rc = ngx_svc_jwk_public(jwk, key, &alg, thumbprint);

    *algs = ngx_svc_jwa_bit(alg);

    if (rc != NGX_DECLINED || !ngx_svc_jwk_is(jwk, "kty", "RSA")) {
        return rc;
    }

    *algs = ngx_svc_jwk_rsa_algs(jwk);

    if (*algs == 0
        || ngx_svc_jwk_rsa_modulus(jwk, n, sizeof(n), &len) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    rc = ngx_svc_jwk_rsa_key(n, len, RSA_F4, key);

    ERR_clear_error();

    return rc;
}


ngx_uint_t
ngx_svc_jwk_rsa_algs(const cJSON *jwk)
{
    ngx_uint_t     algs;
    ngx_svc_jwa_e  alg;

    algs = 0;

    for (alg = NGX_SVC_JWA_RS256; alg <= NGX_SVC_JWA_PS256; alg++) {
        if (ngx_svc_jwk_members(jwk, alg) == NGX_OK) {
            algs |= ngx_svc_jwa_bit(alg);
        }
    }

    return algs;
}


static ngx_int_t
ngx_svc_jwk_rsa_public(const cJSON *jwk, EVP_PKEY **key,
    u_char thumbprint[NGX_SVC_JWK_THUMBPRINT])
{
    size_t  len;
    u_char  n[NGX_SVC_JWK_RSA_BYTES];

    if (!ngx_svc_jwk_is(jwk, "kty", "RSA")
        || ngx_svc_jwk_members(jwk, NGX_SVC_JWA_RS256) != NGX_OK
        || ngx_svc_jwk_rsa_modulus(jwk, n, sizeof(n), &len) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (ngx_svc_jwk_rsa_thumbprint((u_char *) ngx_svc_jwk_string(jwk, "n"),
                                   thumbprint)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_jwk_rsa_key(n, len, RSA_F4, key);
}


/*
 * Reads a modulus of at most size bytes, which is odd, as a product of odd
 * primes is.  Each has one spelling: there are no leading zeroes, and
 * ngx_svc_base64url_decode() takes one text only.
 */

static ngx_int_t
ngx_svc_jwk_rsa_modulus(const cJSON *jwk, u_char *n, size_t size, size_t *len)
{
    size_t       chars;
    const char  *text;

    text = ngx_svc_jwk_string(jwk, "n");

    if (text == NULL
        || !ngx_svc_jwk_is(jwk, "e", NGX_SVC_JWK_RSA_EXPONENT))
    {
        return NGX_DECLINED;
    }

    chars = ngx_strlen(text);

    if (chars < NGX_SVC_JWK_RSA_CHARS || chars > ngx_svc_base64url_len(size)
        || ngx_svc_base64url_decode((u_char *) text, chars, n, len) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    return n[0] == 0 || (*len == NGX_SVC_JWK_RSA_BYTES && n[0] < 0x80)
           || !(n[*len - 1] & 1) ? NGX_DECLINED : NGX_OK;
}


ngx_int_t
ngx_svc_jwk_rsa_key(const u_char *n, size_t len, ngx_uint_t e, EVP_PKEY **key)
{
    u_char      native[NGX_SVC_JWK_RSA_BYTES_MAX];
    OSSL_PARAM  params[3];

    if (ngx_svc_jwk_native(n, native, len) != NGX_OK) {
        return NGX_ERROR;
    }

    params[0] = OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_N, native, len);
    params[1] = OSSL_PARAM_construct_ulong(OSSL_PKEY_PARAM_RSA_E, &e);
    params[2] = OSSL_PARAM_construct_end();

    return ngx_svc_jwk_of("RSA", EVP_PKEY_PUBLIC_KEY, params, key);
}
