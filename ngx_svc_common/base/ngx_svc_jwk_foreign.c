/*
 * JSON Web Keys of other identity providers.  OpenSSL's queue of errors is
 * cleared before each return.
 */

#include "ngx_svc_jwk_foreign.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_jwk_rsa.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>


#define NGX_SVC_JWK_P384     48     /* bytes of a coordinate */
#define NGX_SVC_JWK_NUMBER   (NGX_SVC_JWK_RSA_BYTES_MAX + 4)
#define NGX_SVC_JWK_LEAST    (NGX_SVC_JWK_RSA_BITS / 8)
#define NGX_SVC_JWK_E_BYTES  4


static ngx_uint_t ngx_svc_jwk_foreign_ops(const cJSON *jwk);
static ngx_int_t ngx_svc_jwk_foreign_p384(const cJSON *jwk, EVP_PKEY **key,
    ngx_uint_t *algs);
static ngx_int_t ngx_svc_jwk_foreign_rsa(const cJSON *jwk, EVP_PKEY **key,
    ngx_uint_t *algs);
static u_char *ngx_svc_jwk_foreign_number(const cJSON *jwk, const char *name,
    u_char *buf, size_t *len);


ngx_int_t
ngx_svc_jwk_foreign(const cJSON *jwk, EVP_PKEY **key, ngx_uint_t *algs)
{
    u_char         thumbprint[NGX_SVC_JWK_THUMBPRINT];
    ngx_int_t      rc;
    ngx_svc_jwa_e  alg;

    *key = NULL;
    *algs = 0;

    if (!ngx_svc_jwk_foreign_ops(jwk)) {
        return NGX_DECLINED;
    }

    if (ngx_svc_jwk_is(jwk, "kty", "RSA")) {
        rc = ngx_svc_jwk_foreign_rsa(jwk, key, algs);

    } else if (ngx_svc_jwk_is(jwk, "crv", "P-384")) {
        rc = ngx_svc_jwk_foreign_p384(jwk, key, algs);

    } else {
        rc = ngx_svc_jwk_public(jwk, key, &alg, thumbprint);
        *algs = ngx_svc_jwa_bit(alg);
    }

    if (rc != NGX_OK) {
        *algs = 0;
    }

    ERR_clear_error();

    return rc;
}


/* Returns 1 if the key may verify by its "key_ops" (RFC 7517, 4.3). */

static ngx_uint_t
ngx_svc_jwk_foreign_ops(const cJSON *jwk)
{
    const cJSON  *ops, *op;

    ops = cJSON_GetObjectItemCaseSensitive(jwk, "key_ops");

    if (ops == NULL) {
        return 1;
    }

    if (!cJSON_IsArray(ops)) {
        return 0;
    }

    cJSON_ArrayForEach(op, ops) {
        if (cJSON_IsString(op) && ngx_strcmp(op->valuestring, "verify") == 0) {
            return 1;
        }
    }

    return 0;
}


/* OpenSSL declines a point that is not on the curve. */

static ngx_int_t
ngx_svc_jwk_foreign_p384(const cJSON *jwk, EVP_PKEY **key, ngx_uint_t *algs)
{
    u_char      point[1 + 2 * NGX_SVC_JWK_P384];
    OSSL_PARAM  params[3];

    if (!ngx_svc_jwk_is(jwk, "kty", "EC")
        || ngx_svc_jwk_members(jwk, NGX_SVC_JWA_ES384) != NGX_OK
        || ngx_svc_jwk_coordinate(jwk, "x", &point[1], NGX_SVC_JWK_P384)
           != NGX_OK
        || ngx_svc_jwk_coordinate(jwk, "y", &point[1 + NGX_SVC_JWK_P384],
                                  NGX_SVC_JWK_P384)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    point[0] = POINT_CONVERSION_UNCOMPRESSED;
    *algs = ngx_svc_jwa_bit(NGX_SVC_JWA_ES384);

    params[0] = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME,
                                                 "secp384r1", 0);
    params[1] = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY,
                                                  point, sizeof(point));
    params[2] = OSSL_PARAM_construct_end();

    return ngx_svc_jwk_of("EC", EVP_PKEY_PUBLIC_KEY, params, key);
}


/* A large exponent would make a verification as slow as a signature. */

static ngx_int_t
ngx_svc_jwk_foreign_rsa(const cJSON *jwk, EVP_PKEY **key, ngx_uint_t *algs)
{
    u_char      n_buf[NGX_SVC_JWK_NUMBER], e_buf[NGX_SVC_JWK_NUMBER];
    u_char     *n, *e;
    size_t      n_len, e_len, i;
    ngx_uint_t  exponent;

    *algs = ngx_svc_jwk_rsa_algs(jwk);

    n = ngx_svc_jwk_foreign_number(jwk, "n", n_buf, &n_len);
    e = ngx_svc_jwk_foreign_number(jwk, "e", e_buf, &e_len);

    if (*algs == 0 || n == NULL || e == NULL
        || n_len < NGX_SVC_JWK_LEAST || n_len > NGX_SVC_JWK_RSA_BYTES_MAX
        || (n_len == NGX_SVC_JWK_LEAST && n[0] < 0x80)
        || !(n[n_len - 1] & 1)
        || e_len > NGX_SVC_JWK_E_BYTES)
    {
        return NGX_DECLINED;
    }

    exponent = 0;

    for (i = 0; i < e_len; i++) {
        exponent = exponent << 8 | e[i];
    }

    if (exponent < 3 || !(exponent & 1)) {
        return NGX_DECLINED;
    }

    return ngx_svc_jwk_rsa_key(n, n_len, exponent, key);
}


/*
 * Reads a number of RSA into buf, which has NGX_SVC_JWK_NUMBER bytes.  Returns
 * its first byte that is not zero; NULL: there is none.
 */

static u_char *
ngx_svc_jwk_foreign_number(const cJSON *jwk, const char *name, u_char *buf,
    size_t *len)
{
    size_t       chars;
    u_char      *p;
    const char  *text;

    text = ngx_svc_jwk_string(jwk, name);
    chars = text ? ngx_strlen(text) : 0;

    if (chars > ngx_svc_base64url_len(NGX_SVC_JWK_NUMBER)
        || ngx_svc_base64url_decode((u_char *) text, chars, buf, len) != NGX_OK)
    {
        return NULL;
    }

    for (p = buf; *len && *p == 0; p++) {
        (*len)--;
    }

    return *len ? p : NULL;
}
