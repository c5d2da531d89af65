/*
 * Assertions of clients.  An input has a header and a payload, one line each,
 * which the key signs; or, with one line only, an assertion as it is.  An
 * accepted one has the required claims, and the key has signed it, if the
 * header says so.
 */

#include "ngx_fuzz_jose.h"
#include "ngx_svc_oauth_assertion.h"


#define FUZZ_NOW  1800000000


static void fuzz_check(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *payload);
static void fuzz_taken(const ngx_svc_oauth_assertion_t *a, const cJSON *json);
static void fuzz_times(const cJSON *json);
static void fuzz_signature(ngx_svc_oauth_assertion_t *a);
static const char *fuzz_claim(const cJSON *json, const char *name);
static void fuzz_same(const ngx_str_t *str, const char *text);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t    text, header, payload, made;
    ngx_pool_t  *pool;

    pool = fuzz_pool(4096);

    text.data = (u_char *) data;
    text.len = size;

    header = fuzz_line(pool, &text);

    if (header.len == size) {
        fuzz_check(pool, &header, NULL);

    } else {
        payload = fuzz_line(pool, &text);
        made = fuzz_signed(pool, &header, &payload);

        fuzz_check(pool, &made, &payload);
    }

    fuzz_assert(ERR_peek_error() == 0);

    ngx_destroy_pool(pool);

    return 0;
}


static void
fuzz_check(ngx_pool_t *pool, const ngx_str_t *text, const ngx_str_t *payload)
{
    size_t                      i;
    cJSON                      *json;
    ngx_int_t                   rc;
    ngx_str_t                   copy;
    ngx_svc_error_t             err;
    ngx_svc_oauth_assertion_t   a;

    rc = ngx_svc_oauth_assertion(pool, text, FUZZ_NOW, &a);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED && a.why != NULL);

        /* it goes to the log, and must be valid for RFC 6749, 5.2 */

        for (i = 0; a.why[i]; i++) {
            fuzz_assert(a.why[i] >= ' ' && a.why[i] < 0x7f
                        && a.why[i] != '"' && a.why[i] != '\\');
        }

        return;
    }

    fuzz_assert(a.why == NULL);

    if (payload) {
        copy = *payload;
        err.kind = NGX_SVC_E_NONE;

        fuzz_assert(ngx_svc_json_parse(pool, &copy, &json, &err) == NGX_OK);

        fuzz_taken(&a, json);
        fuzz_times(json);
        fuzz_signature(&a);
    }
}


static void
fuzz_taken(const ngx_svc_oauth_assertion_t *a, const cJSON *json)
{
    size_t        len;
    u_char        text[256], digest[32];
    const char   *sub, *jti;
    const cJSON  *aud;

    sub = fuzz_claim(json, "sub");
    jti = fuzz_claim(json, "jti");

    fuzz_assert(sub && jti && strcmp(sub, fuzz_claim(json, "iss")) == 0);
    fuzz_same(&a->client_id, sub);

    aud = cJSON_GetObjectItemCaseSensitive(json, "aud");

    fuzz_assert(a->listed == (cJSON_IsArray(aud) ? 1 : 0));
    fuzz_assert(!a->listed || cJSON_GetArraySize(aud) == 1);
    fuzz_same(&a->aud, cJSON_GetStringValue(a->listed ? aud->child : aud));

    len = strlen(jti);
    fuzz_assert(len >= 1 && len <= 128 && strlen(sub) <= 64);

    len = sprintf((char *) text, "%s", sub);
    text[len++] = '\0';
    len += sprintf((char *) text + len, "%s", jti);

    fuzz_assert(ngx_svc_sha256(text, len, digest) == NGX_OK);
    fuzz_assert(memcmp(a->once, digest, 32) == 0);
}


static void
fuzz_times(const cJSON *json)
{
    ngx_uint_t    i;
    const cJSON  *date;

    static const char *const  begun[] = { "iat", "nbf" };

    date = cJSON_GetObjectItemCaseSensitive(json, "exp");

    fuzz_assert(cJSON_IsNumber(date));
    fuzz_assert(date->valuedouble >= FUZZ_NOW + 1
                && date->valuedouble < FUZZ_NOW + 301);

    for (i = 0; i < 2; i++) {
        date = cJSON_GetObjectItemCaseSensitive(json, begun[i]);

        fuzz_assert(date == NULL
                    || (cJSON_IsNumber(date)
                        && date->valuedouble < FUZZ_NOW + 61));
    }
}


/* The key verifies what it has signed, and only under its own algorithm. */

static void
fuzz_signature(ngx_svc_oauth_assertion_t *a)
{
    ngx_svc_jwa_e  alg;

    for (alg = NGX_SVC_JWA_NONE; alg <= NGX_SVC_JWA_ES384; alg++) {
        fuzz_assert(ngx_svc_jws_verify(&a->jws, fuzz_key, alg)
                    == (alg == NGX_SVC_JWA_ES256 && a->jws.alg == alg
                        ? NGX_OK : NGX_DECLINED));
    }

    a->jws.signature[a->jws.signature_len / 2] ^= 1;

    fuzz_assert(ngx_svc_jws_verify(&a->jws, fuzz_key, NGX_SVC_JWA_ES256)
                == NGX_DECLINED);
}


static const char *
fuzz_claim(const cJSON *json, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
}


static void
fuzz_same(const ngx_str_t *str, const char *text)
{
    fuzz_assert(text && strlen(text) == str->len
                && memcmp(text, str->data, str->len) == 0);
}
