/*
 * JSON Web Signatures and Keys.  An input's first line says what follows it:
 *
 *   s   header, payload: signed
 *   p   header, payload, signature (64 bytes are made of it): put together
 *   k   a JWK
 *
 * and without such a line it is a JWS as it came.  What is taken is of one
 * spelling, what was signed verifies, and nothing else does.
 */

#include "ngx_fuzz_jose.h"

#include <openssl/core_names.h>


static ngx_str_t fuzz_put(ngx_pool_t *pool, ngx_str_t *text);
static void fuzz_jws(ngx_pool_t *pool, const ngx_str_t *text, int is_signed);
static void fuzz_spelling(const ngx_str_t *text);
static void fuzz_jwk(ngx_pool_t *pool, ngx_str_t *text);
static void fuzz_thumbprint(EVP_PKEY *key, ngx_svc_jwa_e alg,
    const u_char *thumbprint);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t    text, header, payload, made;
    ngx_pool_t  *pool;

    pool = fuzz_pool(4096);

    text.data = (u_char *) data;
    text.len = size;

    if (size >= 2 && data[1] == '\n' && strchr("spk", data[0])) {
        text.data += 2;
        text.len -= 2;
    }

    if (text.len == size) {
        made.data = ngx_palloc(pool, size + 1);
        made.len = size;
        memcpy(made.data, data, size);

        fuzz_jws(pool, &made, 0);

    } else if (data[0] == 's') {
        header = fuzz_line(pool, &text);
        payload = fuzz_line(pool, &text);
        made = fuzz_signed(pool, &header, &payload);

        fuzz_jws(pool, &made, 1);

    } else if (data[0] == 'p') {
        made = fuzz_put(pool, &text);

        fuzz_jws(pool, &made, 0);

    } else {
        fuzz_jwk(pool, &text);
    }

    fuzz_assert(ERR_peek_error() == 0);

    ngx_destroy_pool(pool);

    return 0;
}


static ngx_str_t
fuzz_put(ngx_pool_t *pool, ngx_str_t *text)
{
    u_char     *p, signature[NGX_SVC_JWS_SIGNATURE];
    ngx_str_t   header, payload, made;

    header = fuzz_line(pool, text);
    payload = fuzz_line(pool, text);

    memset(signature, 0, sizeof(signature));

    if (text->len) {
        memcpy(signature, text->data, ngx_min(text->len, sizeof(signature)));
    }

    made.len = ngx_svc_jws_len(header.len, payload.len);
    made.data = ngx_palloc(pool, made.len);
    fuzz_assert(made.data != NULL);

    p = ngx_svc_base64url(made.data, header.data, header.len);
    *p++ = '.';
    p = ngx_svc_base64url(p, payload.data, payload.len);
    *p++ = '.';
    p = ngx_svc_base64url(p, signature, sizeof(signature));

    fuzz_assert(p == made.data + made.len);

    return made;
}


static void
fuzz_jws(ngx_pool_t *pool, const ngx_str_t *text, int is_signed)
{
    ngx_int_t      rc;
    ngx_svc_jws_t  jws;

    rc = ngx_svc_jws_parse(pool, text, &jws);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED && jws.why != NULL);
        return;
    }

    fuzz_assert(jws.why == NULL && text->len <= NGX_SVC_JWS_MAX);
    fuzz_assert(jws.alg == NGX_SVC_JWA_ES256 || jws.alg == NGX_SVC_JWA_EDDSA);
    fuzz_assert(cJSON_IsObject(jws.header) && cJSON_IsObject(jws.payload));
    fuzz_assert(cJSON_GetObjectItem(jws.header, "alg") != NULL);
    fuzz_assert(jws.signed_text.data == text->data);
    fuzz_assert(jws.signed_text.len + 1 + 86 == text->len);

    fuzz_spelling(text);

    rc = ngx_svc_jws_verify(&jws, fuzz_key, NGX_SVC_JWA_ES256);

    if (!is_signed || jws.alg != NGX_SVC_JWA_ES256) {
        fuzz_assert(rc == NGX_DECLINED);
        return;
    }

    fuzz_assert(rc == NGX_OK);

    jws.signature[text->len % sizeof(jws.signature)] ^= 1 << text->len % 7;

    fuzz_assert(ngx_svc_jws_verify(&jws, fuzz_key, NGX_SVC_JWA_ES256)
                == NGX_DECLINED);
    fuzz_assert(ngx_svc_jws_verify(&jws, fuzz_key, NGX_SVC_JWA_EDDSA)
                == NGX_DECLINED);
}


/* Of each part: decoded, by OpenSSL, and encoded again. */

static void
fuzz_spelling(const ngx_str_t *text)
{
    int      n;
    size_t   i, len, start;
    u_char  *part, *bytes, *again;

    part = malloc(text->len + 4);
    bytes = malloc(text->len + 4);
    again = malloc(text->len + 8);
    fuzz_assert(part && bytes && again);

    for (i = 0, start = 0; i <= text->len; i++) {

        if (i < text->len && text->data[i] != '.') {
            part[i - start] = text->data[i] == '-' ? '+'
                              : text->data[i] == '_' ? '/' : text->data[i];
            continue;
        }

        for (len = i - start; len % 4; len++) {
            part[len] = '=';
        }

        n = EVP_DecodeBlock(bytes, part, (int) len);
        fuzz_assert(n >= 0);

        n -= (int) (len - (i - start));
        fuzz_assert(EVP_EncodeBlock(again, bytes, n) == (int) len);
        fuzz_assert(memcmp(again, part, len) == 0);

        start = i + 1;
    }

    free(part);
    free(bytes);
    free(again);
}


static void
fuzz_jwk(ngx_pool_t *pool, ngx_str_t *text)
{
    cJSON            *json;
    u_char            thumbprint[NGX_SVC_JWK_THUMBPRINT];
    EVP_PKEY         *key;
    ngx_int_t         rc;
    ngx_str_t         copy;
    ngx_svc_jwa_e     alg;
    ngx_svc_error_t   err;

    copy.len = text->len;
    copy.data = ngx_palloc(pool, text->len + 1);
    memcpy(copy.data, text->data, text->len);
    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, &copy, &json, &err) != NGX_OK) {
        return;
    }

    rc = ngx_svc_jwk_public(json, &key, &alg, thumbprint);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED && key == NULL);
        return;
    }

    fuzz_assert(cJSON_GetObjectItemCaseSensitive(json, "d") == NULL);
    fuzz_assert(cJSON_GetObjectItemCaseSensitive(json, "k") == NULL);

    fuzz_thumbprint(key, alg, thumbprint);

    EVP_PKEY_free(key);
}


/* RFC 7638 of what OpenSSL has for a key. */

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
