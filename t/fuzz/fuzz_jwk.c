/*
 * JSON Web Keys.  An input is a JWK; or, after a line "e" or "o", the bytes of
 * the coordinates of a P-256 or of an Ed25519 key.
 *
 * An accepted key has the thumbprint of OpenSSL's values, in any order of its
 * members, is public, and verifies only what its own private key has signed.
 * Of bytes all are accepted that OpenSSL accepts, except points of small order.
 */

#include "ngx_fuzz_jose.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>


static void fuzz_jwk(ngx_pool_t *pool, const ngx_str_t *text);
static void fuzz_bytes(ngx_pool_t *pool, int kty, const u_char *data,
    size_t size);
static int fuzz_on_curve(const u_char *xy);
static ngx_int_t fuzz_read(cJSON *json, u_char *thumbprint, ngx_svc_jwa_e *alg);
static void fuzz_members(cJSON *json, const u_char *thumbprint);
static void fuzz_thumbprint(EVP_PKEY *key, ngx_svc_jwa_e alg,
    const u_char *thumbprint);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t    text;
    ngx_pool_t  *pool;

    pool = fuzz_pool(4096);

    if (size >= 2 && data[1] == '\n' && (data[0] == 'e' || data[0] == 'o')) {
        fuzz_bytes(pool, data[0], data + 2, size - 2);

    } else {
        text.data = (u_char *) data;
        text.len = size;

        fuzz_jwk(pool, &text);
    }

    fuzz_assert(ERR_peek_error() == 0);

    ngx_destroy_pool(pool);

    return 0;
}


static void
fuzz_jwk(ngx_pool_t *pool, const ngx_str_t *text)
{
    cJSON            *json;
    u_char            thumbprint[NGX_SVC_JWK_THUMBPRINT];
    ngx_str_t         copy;
    ngx_svc_jwa_e     alg;
    ngx_svc_error_t   err;

    copy.len = text->len;
    copy.data = ngx_palloc(pool, text->len + 1);
    fuzz_assert(copy.data != NULL);

    memcpy(copy.data, text->data, text->len);
    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, &copy, &json, &err) != NGX_OK) {
        return;
    }

    if (fuzz_read(json, thumbprint, &alg) == NGX_OK) {
        fuzz_members(json, thumbprint);
    }
}


static void
fuzz_bytes(ngx_pool_t *pool, int kty, const u_char *data, size_t size)
{
    int              taken;
    u_char           xy[64], x[44], y[44], thumbprint[NGX_SVC_JWK_THUMBPRINT];
    ngx_str_t        text;
    ngx_svc_jwa_e    alg;
    ngx_svc_error_t  err;
    cJSON           *json;

    memset(xy, 0, sizeof(xy));
    memset(x, 0, sizeof(x));
    memset(y, 0, sizeof(y));
    memcpy(xy, data, ngx_min(size, sizeof(xy)));

    (void) ngx_svc_base64url(x, xy, 32);
    (void) ngx_svc_base64url(y, xy + 32, 32);

    text.data = ngx_palloc(pool, 256);
    fuzz_assert(text.data != NULL);

    text.len = kty == 'e'
               ? sprintf((char *) text.data, "{\"kty\":\"EC\",\"crv\":"
                         "\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}", x, y)
               : sprintf((char *) text.data, "{\"kty\":\"OKP\",\"crv\":"
                         "\"Ed25519\",\"x\":\"%s\"}", x);

    err.kind = NGX_SVC_E_NONE;
    fuzz_assert(ngx_svc_json_parse(pool, &text, &json, &err) == NGX_OK);

    taken = fuzz_read(json, thumbprint, &alg) == NGX_OK;

    if (kty == 'e') {
        fuzz_assert(taken == fuzz_on_curve(xy));
    }

    if (taken) {
        fuzz_assert(alg == (kty == 'e' ? NGX_SVC_JWA_ES256
                                       : NGX_SVC_JWA_EDDSA));
        fuzz_members(json, thumbprint);
    }
}


/*
 * Tells by OpenSSL's curves whether coordinates less than the prime are a
 * point.
 */

static int
fuzz_on_curve(const u_char *xy)
{
    int        rc;
    u_char     bytes[65];
    EC_GROUP  *group;
    EC_POINT  *point;

    bytes[0] = 4;
    memcpy(bytes + 1, xy, 64);

    group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    point = EC_POINT_new(group);
    fuzz_assert(group && point);

    rc = EC_POINT_oct2point(group, point, bytes, sizeof(bytes), NULL);

    EC_POINT_free(point);
    EC_GROUP_free(group);
    ERR_clear_error();

    return rc == 1;
}


static ngx_int_t
fuzz_read(cJSON *json, u_char *thumbprint, ngx_svc_jwa_e *alg)
{
    u_char          header[] = "{\"alg\":\"ES256\"}", own[NGX_SVC_JWK_KID];
    EVP_PKEY       *key;
    ngx_int_t       rc;
    ngx_str_t       head, payload, made;
    ngx_svc_jws_t   jws;
    ngx_pool_t     *pool;

    rc = ngx_svc_jwk_public(json, &key, alg, thumbprint);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED && key == NULL);
        return rc;
    }

    fuzz_thumbprint(key, *alg, thumbprint);

    pool = fuzz_pool(4096);

    head.data = header;
    head.len = sizeof(header) - 1;
    payload.data = (u_char *) "{}";
    payload.len = 2;
    made = fuzz_signed(pool, &head, &payload);

    fuzz_assert(ngx_svc_jws_parse(pool, &made, &jws) == NGX_OK);

    (void) ngx_svc_base64url(own, thumbprint, NGX_SVC_JWK_THUMBPRINT);

    fuzz_assert((ngx_svc_jws_verify(&jws, key, *alg) == NGX_OK)
                == (memcmp(own, FUZZ_THUMBPRINT, NGX_SVC_JWK_KID) == 0));

    EVP_PKEY_free(key);
    ngx_destroy_pool(pool);

    return NGX_OK;
}


/* In another order it is the same key; with a private member it is refused. */

static void
fuzz_members(cJSON *json, const u_char *thumbprint)
{
    cJSON          *last;
    const char     *secret;
    u_char          again[NGX_SVC_JWK_THUMBPRINT];
    EVP_PKEY       *key;
    ngx_svc_jwa_e   alg;

    static const char *const  secrets[] = {
        "d", "p", "q", "dp", "dq", "qi", "oth", "k"
    };

    fuzz_assert(cJSON_GetArraySize(json) >= 3);

    last = cJSON_DetachItemFromArray(json, cJSON_GetArraySize(json) - 1);
    fuzz_assert(last && cJSON_InsertItemInArray(json, 0, last));

    fuzz_assert(ngx_svc_jwk_public(json, &key, &alg, again) == NGX_OK);
    fuzz_assert(memcmp(again, thumbprint, sizeof(again)) == 0);
    EVP_PKEY_free(key);

    secret = secrets[thumbprint[0] % 8];

    fuzz_assert(cJSON_AddNullToObject(json, secret) != NULL);
    fuzz_assert(ngx_svc_jwk_public(json, &key, &alg, again) == NGX_DECLINED);
    fuzz_assert(key == NULL);

    /* the only member that is not allocated from the pool */

    cJSON_DeleteItemFromObjectCaseSensitive(json, secret);
}


/* Computes RFC 7638's thumbprint from OpenSSL's values of a key. */

static void
fuzz_thumbprint(EVP_PKEY *key, ngx_svc_jwa_e alg, const u_char *thumbprint)
{
    char    text[256];
    size_t  len;
    u_char  bytes[65], x[64], y[64], digest[32];

    memset(x, 0, sizeof(x));
    memset(y, 0, sizeof(y));

    if (alg == NGX_SVC_JWA_EDDSA) {
        len = sizeof(bytes);
        fuzz_assert(EVP_PKEY_get_raw_public_key(key, bytes, &len) == 1);
        fuzz_assert(len == 32);

        (void) ngx_svc_base64url(x, bytes, 32);

        sprintf(text, "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"%s\"}", x);

    } else {
        fuzz_assert(alg == NGX_SVC_JWA_ES256);
        fuzz_assert(EVP_PKEY_get_octet_string_param(key,
                                                    OSSL_PKEY_PARAM_PUB_KEY,
                                                    bytes, 65, &len) == 1);
        fuzz_assert(len == 65 && bytes[0] == 4);

        (void) ngx_svc_base64url(x, bytes + 1, 32);
        (void) ngx_svc_base64url(y, bytes + 33, 32);

        sprintf(text, "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"%s\","
                "\"y\":\"%s\"}", x, y);
    }

    fuzz_assert(ngx_svc_sha256((u_char *) text, strlen(text), digest)
                == NGX_OK);
    fuzz_assert(memcmp(digest, thumbprint, sizeof(digest)) == 0);
}
