/*
 * Keys of applications.  An input is a JWK Set.  An accepted one has 1 to 5
 * public keys, each with a name of its own, and is accepted again when it is
 * read from what cJSON writes of the set.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_application_keys.h"
#include "ngx_svc_jwk_rsa.h"

#include <openssl/err.h>
#include <openssl/rsa.h>


static void fuzz_set(cJSON *json);
static void fuzz_jwk(const cJSON *jwk);
static void fuzz_again(const cJSON *json);
static ngx_int_t fuzz_check(cJSON *json);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON            *json;
    ngx_str_t         text;
    ngx_pool_t       *pool;
    ngx_svc_error_t   err;

    pool = fuzz_pool(4096);

    text.len = size;
    text.data = ngx_palloc(pool, size + 1);
    fuzz_assert(text.data != NULL);

    memcpy(text.data, data, size);
    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, &text, &json, &err) == NGX_OK
        && cJSON_IsObject(json) && fuzz_check(json) == NGX_OK)
    {
        fuzz_set(json);
        fuzz_again(json);
    }

    fuzz_assert(ERR_peek_error() == 0);

    ngx_destroy_pool(pool);

    return 0;
}


static ngx_int_t
fuzz_check(cJSON *json)
{
    ngx_int_t        rc;
    ngx_svc_error_t  err;
    ngx_svc_value_t  value;

    memset(&value, 0, sizeof(value));
    value.json = json;
    value.set = 1;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_application_keys_check(NULL, &value, "jwks", &err);

    fuzz_assert(rc == NGX_OK ? err.kind == NGX_SVC_E_NONE
                             : rc == NGX_DECLINED
                               && err.kind == NGX_SVC_E_INVALID_VALUE);

    return rc;
}


static void
fuzz_set(cJSON *json)
{
    int           n;
    const cJSON  *jwk, *other;

    n = 0;

    cJSON_ArrayForEach(jwk, cJSON_GetObjectItemCaseSensitive(json, "keys")) {
        n++;
        fuzz_jwk(jwk);

        for (other = jwk->next; other; other = other->next) {
            fuzz_assert(strcmp(ngx_svc_jwk_string(jwk, "kid"),
                               ngx_svc_jwk_string(other, "kid"))
                        != 0);
        }
    }

    fuzz_assert(n >= 1 && n <= NGX_SVC_APPLICATION_KEYS);
}


/* A key verifies by its type: an RSA key by one alg, or by two. */

static void
fuzz_jwk(const cJSON *jwk)
{
    int          id, bits;
    EVP_PKEY    *key;
    ngx_uint_t   algs;

    key = NULL;

    fuzz_assert(ngx_svc_jwk_client(jwk, &key, &algs) == NGX_OK);
    fuzz_assert(!ngx_svc_jwk_private_members(jwk));

    id = EVP_PKEY_get_base_id(key);
    bits = EVP_PKEY_get_bits(key);

    switch (id) {

    case EVP_PKEY_EC:
        fuzz_assert(algs == 1 << NGX_SVC_JWA_ES256);
        break;

    case EVP_PKEY_ED25519:
        fuzz_assert(algs == 1 << NGX_SVC_JWA_EDDSA);
        break;

    default:
        fuzz_assert(id == EVP_PKEY_RSA && bits >= 2048 && bits <= 4096);
        fuzz_assert(algs && (algs & ~(1 << NGX_SVC_JWA_RS256
                                      | 1 << NGX_SVC_JWA_PS256)) == 0);
    }

    EVP_PKEY_free(key);
}


/* Reads the set again, as from PostgreSQL. */

static void
fuzz_again(const cJSON *json)
{
    char             *printed;
    cJSON            *read;
    ngx_str_t         text;
    ngx_pool_t       *pool;
    ngx_svc_error_t   err;

    printed = cJSON_PrintUnformatted(json);
    fuzz_assert(printed != NULL);

    pool = fuzz_pool(4096);

    text.len = strlen(printed);
    text.data = ngx_palloc(pool, text.len + 1);
    fuzz_assert(text.data != NULL);

    memcpy(text.data, printed, text.len);
    err.kind = NGX_SVC_E_NONE;

    fuzz_assert(ngx_svc_json_parse(pool, &text, &read, &err) == NGX_OK);
    fuzz_assert(fuzz_check(read) == NGX_OK);

    cJSON_free(printed);
    ngx_destroy_pool(pool);
}
