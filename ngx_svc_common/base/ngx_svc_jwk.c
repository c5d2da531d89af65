/*
 * JSON Web Keys.  OpenSSL's queue of errors is cleared before each return: it
 * may have errors also when a call has succeeded.
 */

#include "ngx_svc_jwk.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_crypto.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>


#define NGX_SVC_JWK_COORDINATE  32
#define NGX_SVC_JWK_CHARS       ngx_svc_base64url_len(NGX_SVC_JWK_COORDINATE)
#define NGX_SVC_JWK_POINT       (1 + 2 * NGX_SVC_JWK_COORDINATE)
#define NGX_SVC_JWK_GROUP       "prime256v1"


static ngx_int_t ngx_svc_jwk_p256(const cJSON *jwk, EVP_PKEY **key,
    u_char *thumbprint);
static ngx_int_t ngx_svc_jwk_key(const u_char point[NGX_SVC_JWK_POINT],
    const u_char *number, EVP_PKEY **key);
static ngx_int_t ngx_svc_jwk_ed25519(const cJSON *jwk, EVP_PKEY **key,
    u_char *thumbprint);
static ngx_int_t ngx_svc_jwk_ed25519_good(
    const u_char y[NGX_SVC_JWK_COORDINATE]);
static ngx_int_t ngx_svc_jwk_write(ngx_svc_jwk_new_t *new, EVP_PKEY *key);
static ngx_int_t ngx_svc_jwk_write_der(ngx_svc_jwk_new_t *new, EVP_PKEY *key,
    const u_char point[NGX_SVC_JWK_POINT]);


static const struct {
    const char     *name;
    ngx_svc_jwa_e   alg;
} ngx_svc_jwa_names[] = {
    { "ES256", NGX_SVC_JWA_ES256 },
    { "EdDSA", NGX_SVC_JWA_EDDSA },
    { "Ed25519", NGX_SVC_JWA_EDDSA },
    { "RS256", NGX_SVC_JWA_RS256 },
    { "PS256", NGX_SVC_JWA_PS256 },
    { "ES384", NGX_SVC_JWA_ES384 },
    { NULL, NGX_SVC_JWA_NONE }
};

static const struct {
    const char     *kty;
    const char     *crv;
    ngx_svc_jwa_e   alg;
    ngx_int_t     (*read)(const cJSON *jwk, EVP_PKEY **key,
                          u_char *thumbprint);
} ngx_svc_jwk_types[] = {
    { "EC", "P-256", NGX_SVC_JWA_ES256, ngx_svc_jwk_p256 },
    { "OKP", "Ed25519", NGX_SVC_JWA_EDDSA, ngx_svc_jwk_ed25519 },
    { NULL, NULL, NGX_SVC_JWA_NONE, NULL }
};

/* private and secret members: RFC 7518, 6.2.2, 6.3.2 and 6.4 */

static const char *const  ngx_svc_jwk_secrets[] = {
    "d", "p", "q", "dp", "dq", "qi", "oth", "k", NULL
};

/*
 * The constant parts of PKCS#8 (RFC 5958) for a P-256 key (RFC 5915) with both
 * halves: the private half follows the first part, the public one the second.
 * OpenSSL's own reader tries all formats that it knows, which takes 400 us.
 */

static const u_char  ngx_svc_jwk_der_private[] = {
    0x30, 0x81, 0x87,                                   /* PrivateKeyInfo */
    0x02, 0x01, 0x00,                                   /* version 0 */
    0x30, 0x13,                                         /* algorithm */
    0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,   /* ecPublicKey */
    0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,   /* P-256 */
    0x04, 0x6d, 0x30, 0x6b,                             /* ECPrivateKey */
    0x02, 0x01, 0x01,                                   /* version 1 */
    0x04, 0x20                                          /* 32 bytes */
};

static const u_char  ngx_svc_jwk_der_public[] = {
    0xa1, 0x44, 0x03, 0x42, 0x00                        /* 65 bytes */
};

/*
 * Points of order 4, 1, 8, 8, and 2, in little-endian order, without the sign
 * of x.
 */

static const u_char  ngx_svc_jwk_small[][NGX_SVC_JWK_COORDINATE] = {

    { 0 },

    { 1 },

    { 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89,
      0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39,
      0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05 },

    { 0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76,
      0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6,
      0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a },

    { 0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
};


ngx_svc_jwa_e
ngx_svc_jwa(const char *name)
{
    ngx_uint_t  i;

    for (i = 0; ngx_svc_jwa_names[i].name; i++) {
        if (ngx_strcmp(ngx_svc_jwa_names[i].name, name) == 0) {
            break;
        }
    }

    return ngx_svc_jwa_names[i].alg;
}


ngx_int_t
ngx_svc_jwk_public(const cJSON *jwk, EVP_PKEY **key, ngx_svc_jwa_e *alg,
    u_char thumbprint[NGX_SVC_JWK_THUMBPRINT])
{
    ngx_int_t   rc;
    ngx_uint_t  i;

    *key = NULL;
    *alg = NGX_SVC_JWA_NONE;

    for (i = 0; ngx_svc_jwk_types[i].kty; i++) {

        if (!ngx_svc_jwk_is(jwk, "kty", ngx_svc_jwk_types[i].kty)
            || !ngx_svc_jwk_is(jwk, "crv", ngx_svc_jwk_types[i].crv))
        {
            continue;
        }

        if (ngx_svc_jwk_members(jwk, ngx_svc_jwk_types[i].alg) != NGX_OK) {
            return NGX_DECLINED;
        }

        *alg = ngx_svc_jwk_types[i].alg;

        rc = ngx_svc_jwk_types[i].read(jwk, key, thumbprint);

        ERR_clear_error();

        return rc;
    }

    return NGX_DECLINED;
}


const char *
ngx_svc_jwk_string(const cJSON *jwk, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(jwk, name));
}


ngx_uint_t
ngx_svc_jwk_is(const cJSON *jwk, const char *name, const char *value)
{
    const char  *text;

    text = ngx_svc_jwk_string(jwk, name);

    return text != NULL && ngx_strcmp(text, value) == 0;
}


ngx_uint_t
ngx_svc_jwk_private_members(const cJSON *jwk)
{
    ngx_uint_t  i;

    for (i = 0; ngx_svc_jwk_secrets[i]; i++) {
        if (cJSON_GetObjectItemCaseSensitive(jwk, ngx_svc_jwk_secrets[i])) {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_svc_jwk_members(const cJSON *jwk, ngx_svc_jwa_e alg)
{
    const char  *name;

    if (ngx_svc_jwk_private_members(jwk)) {
        return NGX_DECLINED;
    }

    if (cJSON_GetObjectItemCaseSensitive(jwk, "alg")) {
        name = ngx_svc_jwk_string(jwk, "alg");

        if (name == NULL || ngx_svc_jwa(name) != alg) {
            return NGX_DECLINED;
        }
    }

    if (cJSON_GetObjectItemCaseSensitive(jwk, "use")
        && !ngx_svc_jwk_is(jwk, "use", "sig"))
    {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_jwk_coordinate(const cJSON *jwk, const char *name, u_char *out,
    size_t len)
{
    size_t       n;
    const char  *text;

    text = ngx_svc_jwk_string(jwk, name);

    if (text == NULL || ngx_strlen(text) != ngx_svc_base64url_len(len)) {
        return NGX_DECLINED;
    }

    return ngx_svc_base64url_decode((u_char *) text, ngx_svc_base64url_len(len),
                                    out, &n);
}


static ngx_int_t
ngx_svc_jwk_p256(const cJSON *jwk, EVP_PKEY **key, u_char *thumbprint)
{
    u_char     point[NGX_SVC_JWK_POINT], text[NGX_SVC_JWK_TEXT], *p;
    ngx_int_t  rc;

    point[0] = POINT_CONVERSION_UNCOMPRESSED;

    if (ngx_svc_jwk_coordinate(jwk, "x", &point[1], NGX_SVC_JWK_COORDINATE)
        != NGX_OK
        || ngx_svc_jwk_coordinate(jwk, "y", &point[1 + NGX_SVC_JWK_COORDINATE],
                                  NGX_SVC_JWK_COORDINATE)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    rc = ngx_svc_jwk_key(point, NULL, key);
    if (rc != NGX_OK) {
        return rc;
    }

    p = ngx_slprintf(text, text + sizeof(text), "{\"crv\":\"P-256\","
                     "\"kty\":\"EC\",\"x\":\"%s\",\"y\":\"%s\"}",
                     ngx_svc_jwk_string(jwk, "x"),
                     ngx_svc_jwk_string(jwk, "y"));

    rc = ngx_svc_sha256(text, p - text, thumbprint);

    if (rc != NGX_OK) {
        EVP_PKEY_free(*key);
        *key = NULL;
    }

    return rc;
}


/*
 * Makes a private key when number is not NULL, or else a public one.  OpenSSL
 * declines a point that is not on the curve.
 */

static ngx_int_t
ngx_svc_jwk_key(const u_char point[NGX_SVC_JWK_POINT], const u_char *number,
    EVP_PKEY **key)
{
    u_char       native[NGX_SVC_JWK_COORDINATE];
    ngx_int_t    rc;
    OSSL_PARAM   params[4], *p;

    if (number && ngx_svc_jwk_native(number, native, sizeof(native))
                  != NGX_OK)
    {
        return NGX_ERROR;
    }

    p = params;

    *p++ = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME,
                                            NGX_SVC_JWK_GROUP, 0);
    *p++ = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY,
                                             (void *) point,
                                             NGX_SVC_JWK_POINT);

    if (number) {
        *p++ = OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, native,
                                       sizeof(native));
    }

    *p = OSSL_PARAM_construct_end();

    rc = ngx_svc_jwk_of("EC", number ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY,
                        params, key);

    ngx_explicit_memzero(native, sizeof(native));

    return rc;
}


ngx_int_t
ngx_svc_jwk_of(const char *type, int selection, void *params, EVP_PKEY **key)
{
    ngx_int_t      rc;
    EVP_PKEY_CTX  *ctx;

    ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);

    if (ctx == NULL || EVP_PKEY_fromdata_init(ctx) != 1) {
        EVP_PKEY_CTX_free(ctx);
        return NGX_ERROR;
    }

    rc = EVP_PKEY_fromdata(ctx, key, selection, params) == 1
         ? NGX_OK : ngx_svc_jwk_refused();

    EVP_PKEY_CTX_free(ctx);

    return rc;
}


ngx_int_t
ngx_svc_jwk_native(const u_char *number, u_char *native, size_t len)
{
    BIGNUM     *bn;
    ngx_int_t   rc;

    bn = BN_bin2bn(number, len, NULL);
    if (bn == NULL) {
        return NGX_ERROR;
    }

    rc = BN_bn2nativepad(bn, native, len) > 0 ? NGX_OK : NGX_ERROR;

    BN_clear_free(bn);

    return rc;
}


static ngx_int_t
ngx_svc_jwk_ed25519(const cJSON *jwk, EVP_PKEY **key, u_char *thumbprint)
{
    u_char      y[NGX_SVC_JWK_COORDINATE], text[NGX_SVC_JWK_TEXT], *p;
    EVP_PKEY   *pkey;

    if (ngx_svc_jwk_coordinate(jwk, "x", y, sizeof(y)) != NGX_OK
        || ngx_svc_jwk_ed25519_good(y) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    p = ngx_slprintf(text, text + sizeof(text), "{\"crv\":\"Ed25519\","
                     "\"kty\":\"OKP\",\"x\":\"%s\"}",
                     ngx_svc_jwk_string(jwk, "x"));

    if (ngx_svc_sha256(text, p - text, thumbprint) != NGX_OK) {
        return NGX_ERROR;
    }

    pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, y, sizeof(y));
    if (pkey == NULL) {
        return NGX_ERROR;
    }

    *key = pkey;

    return NGX_OK;
}


/*
 * Checks that y is below 2^255 - 19 (RFC 8032, 5.1.3), and no point of a small
 * order.
 */

static ngx_int_t
ngx_svc_jwk_ed25519_good(const u_char y[NGX_SVC_JWK_COORDINATE])
{
    u_char      c[NGX_SVC_JWK_COORDINATE];
    ngx_uint_t  i;

    ngx_memcpy(c, y, sizeof(c));
    c[sizeof(c) - 1] &= 0x7f;

    for (i = 0; i < sizeof(ngx_svc_jwk_small) / sizeof(c); i++) {
        if (ngx_memcmp(c, ngx_svc_jwk_small[i], sizeof(c)) == 0) {
            return NGX_DECLINED;
        }
    }

    /* the last element of the table is 2^255 - 20 */

    return ngx_memcmp(c + 1, ngx_svc_jwk_small[i - 1] + 1, sizeof(c) - 1) == 0
           && c[0] > ngx_svc_jwk_small[i - 1][0]
           ? NGX_DECLINED : NGX_OK;
}


ngx_int_t
ngx_svc_jwk_generate(ngx_svc_jwk_new_t *new)
{
    return ngx_svc_jwk_made(new, EVP_EC_gen(NGX_SVC_JWK_GROUP),
                            ngx_svc_jwk_write);
}


ngx_int_t
ngx_svc_jwk_made(ngx_svc_jwk_new_t *new, EVP_PKEY *key,
    ngx_int_t (*write)(ngx_svc_jwk_new_t *new, EVP_PKEY *key))
{
    ngx_int_t  rc;

    rc = key ? write(new, key) : NGX_ERROR;

    EVP_PKEY_free(key);
    ERR_clear_error();

    return rc;
}


static ngx_int_t
ngx_svc_jwk_write(ngx_svc_jwk_new_t *new, EVP_PKEY *key)
{
    size_t     len;
    u_char     point[NGX_SVC_JWK_POINT], digest[NGX_SVC_JWK_THUMBPRINT];
    u_char     x[NGX_SVC_JWK_CHARS], y[NGX_SVC_JWK_CHARS], *p;

    if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point,
                                        sizeof(point), &len)
        != 1
        || len != sizeof(point) || point[0] != POINT_CONVERSION_UNCOMPRESSED)
    {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(x, &point[1], NGX_SVC_JWK_COORDINATE);
    (void) ngx_svc_base64url(y, &point[1 + NGX_SVC_JWK_COORDINATE],
                             NGX_SVC_JWK_COORDINATE);

    p = ngx_slprintf(new->jwk, new->jwk + sizeof(new->jwk),
                     "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"%*s\","
                     "\"y\":\"%*s\"}", sizeof(x), x, sizeof(y), y);

    if (ngx_svc_sha256(new->jwk, p - new->jwk, digest) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(new->kid, digest, sizeof(digest));

    p = ngx_slprintf(new->jwk, new->jwk + sizeof(new->jwk),
                     "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%*s\","
                     "\"y\":\"%*s\",\"alg\":\"ES256\",\"use\":\"sig\","
                     "\"kid\":\"%*s\"}", sizeof(x), x, sizeof(y), y,
                     sizeof(new->kid), new->kid);

    new->jwk_len = p - new->jwk;
    new->der_len = NGX_SVC_JWK_DER;

    return ngx_svc_jwk_write_der(new, key, point);
}


static ngx_int_t
ngx_svc_jwk_write_der(ngx_svc_jwk_new_t *new, EVP_PKEY *key,
    const u_char point[NGX_SVC_JWK_POINT])
{
    u_char     *p;
    BIGNUM     *bn;
    ngx_int_t   rc;

    bn = NULL;

    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &bn) != 1) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(new->der, ngx_svc_jwk_der_private,
                   sizeof(ngx_svc_jwk_der_private));

    rc = BN_bn2binpad(bn, p, NGX_SVC_JWK_COORDINATE) > 0 ? NGX_OK : NGX_ERROR;

    p = ngx_cpymem(p + NGX_SVC_JWK_COORDINATE, ngx_svc_jwk_der_public,
                   sizeof(ngx_svc_jwk_der_public));
    ngx_memcpy(p, point, NGX_SVC_JWK_POINT);

    BN_clear_free(bn);

    return rc;
}


EVP_PKEY *
ngx_svc_jwk_private(const u_char *der, size_t len)
{
    EVP_PKEY      *key;
    const u_char  *number, *public, *point;

    number = der + sizeof(ngx_svc_jwk_der_private);
    public = number + NGX_SVC_JWK_COORDINATE;
    point = public + sizeof(ngx_svc_jwk_der_public);

    if (len != NGX_SVC_JWK_DER
        || ngx_memcmp(der, ngx_svc_jwk_der_private,
                      sizeof(ngx_svc_jwk_der_private))
           != 0
        || ngx_memcmp(public, ngx_svc_jwk_der_public,
                      sizeof(ngx_svc_jwk_der_public))
           != 0
        || point[0] != POINT_CONVERSION_UNCOMPRESSED)
    {
        return NULL;
    }

    key = NULL;

    (void) ngx_svc_jwk_key(point, number, &key);

    ERR_clear_error();

    return key;
}


ngx_int_t
ngx_svc_jwk_refused(void)
{
    ngx_int_t      rc;
    unsigned long  error;

    rc = NGX_DECLINED;

    for (error = ERR_get_error(); error; error = ERR_get_error()) {
        if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE) {
            rc = NGX_ERROR;
        }
    }

    return rc;
}
