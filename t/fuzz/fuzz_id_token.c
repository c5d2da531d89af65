/*
 * Tokens of other identity providers.  An input has a header and a payload, one
 * line each, which the key signs, and then a key set, or nothing for the key's
 * own; or, with one line only, a token as it is.  An accepted one has the
 * claims that are expected, and the key has signed it.  No token is both an ID
 * token and a logout token.
 */

#include "ngx_fuzz_jose.h"
#include "ngx_svc_id_token.h"


#define FUZZ_NOW   1800000000
#define FUZZ_JWKS                                                             \
    "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"k\","             \
    "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","                  \
    "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}"


static void fuzz_token(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *jwks, int is_signed);
static void fuzz_why(ngx_int_t rc, const ngx_svc_id_token_t *token);
static void fuzz_claims(const cJSON *claims);
static void fuzz_aud(const cJSON *claims);
static void fuzz_date(const cJSON *claims, const char *name, double least,
    double most);
static int fuzz_is(const cJSON *item, const char *text);


static const ngx_svc_id_token_expected_t  fuzz_expected = {
    .issuer = ngx_string("https://idp.example"),
    .client_id = ngx_string("client"),
    .nonce = ngx_string("n"),
    .access_token = ngx_string("token"),
    .now = FUZZ_NOW
};


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t    text, header, payload, made, jwks;
    ngx_pool_t  *pool;

    pool = fuzz_pool(4096);

    text.data = (u_char *) data;
    text.len = size;

    ngx_str_set(&jwks, FUZZ_JWKS);
    header = fuzz_line(pool, &text);

    if (header.len == size) {
        fuzz_token(pool, &header, &jwks, 0);

    } else {
        payload = fuzz_line(pool, &text);
        made = fuzz_signed(pool, &header, &payload);

        if (text.len) {
            jwks.data = ngx_palloc(pool, text.len);
            jwks.len = text.len;
            memcpy(jwks.data, text.data, text.len);
        }

        fuzz_token(pool, &made, &jwks, 1);
    }

    fuzz_assert(ERR_peek_error() == 0);

    ngx_destroy_pool(pool);

    return 0;
}


static void
fuzz_token(ngx_pool_t *pool, const ngx_str_t *text, const ngx_str_t *jwks,
    int is_signed)
{
    ngx_int_t             rc, logout;
    const cJSON          *nonce;
    ngx_svc_id_token_t    token, other;

    rc = ngx_svc_id_token_check(pool, text, jwks, &fuzz_expected, &token);
    fuzz_why(rc, &token);

    logout = ngx_svc_logout_token_check(pool, text, jwks, &fuzz_expected,
                                        &other);
    fuzz_why(logout, &other);

    fuzz_assert(rc != NGX_OK || logout != NGX_OK);

    if (logout == NGX_OK) {
        fuzz_claims(other.claims);
        fuzz_assert(other.jti.len && (other.sub.len || other.sid.len));
    }

    if (rc != NGX_OK) {
        return;
    }

    fuzz_assert(is_signed && token.jws.alg == NGX_SVC_JWA_ES256);
    fuzz_assert(ngx_svc_jws_verify(&token.jws, fuzz_key, NGX_SVC_JWA_ES256)
                == NGX_OK);

    fuzz_claims(token.claims);

    nonce = cJSON_GetObjectItemCaseSensitive(token.claims, "nonce");
    fuzz_assert(fuzz_is(nonce, "n"));
    fuzz_assert(token.sub.len >= 1 && token.sub.len <= 255);

    text->data[text->len / 2] ^= 1;
    fuzz_assert(ngx_svc_id_token_check(pool, text, jwks, &fuzz_expected,
                                       &token) != NGX_OK);
}


static void
fuzz_why(ngx_int_t rc, const ngx_svc_id_token_t *token)
{
    size_t  i;

    fuzz_assert(rc == NGX_OK || rc == NGX_DECLINED || rc == NGX_AGAIN);
    fuzz_assert((token->why == NULL) == (rc == NGX_OK));

    for (i = 0; token->why && token->why[i]; i++) {
        fuzz_assert(token->why[i] >= ' ' && token->why[i] < 0x7f
                    && token->why[i] != '"' && token->why[i] != '\\');
    }
}


static void
fuzz_claims(const cJSON *claims)
{
    fuzz_assert(fuzz_is(cJSON_GetObjectItemCaseSensitive(claims, "iss"),
                        "https://idp.example"));

    fuzz_aud(claims);

    fuzz_date(claims, "exp", FUZZ_NOW - 59, 1e300);
    fuzz_date(claims, "iat", FUZZ_NOW - 600, FUZZ_NOW + 61);

    if (cJSON_GetObjectItemCaseSensitive(claims, "nbf")) {
        fuzz_date(claims, "nbf", -1e300, FUZZ_NOW + 61);
    }
}


static void
fuzz_aud(const cJSON *claims)
{
    int           ours;
    const cJSON  *aud, *item;

    aud = cJSON_GetObjectItemCaseSensitive(claims, "aud");

    if (!cJSON_IsArray(aud)) {
        fuzz_assert(fuzz_is(aud, "client"));
        return;
    }

    ours = 0;

    cJSON_ArrayForEach(item, aud) {
        fuzz_assert(cJSON_IsString(item));
        ours |= fuzz_is(item, "client");
    }

    fuzz_assert(ours);
    fuzz_assert(cJSON_GetArraySize(aud) == 1
                || fuzz_is(cJSON_GetObjectItemCaseSensitive(claims, "azp"),
                           "client"));
}


static void
fuzz_date(const cJSON *claims, const char *name, double least, double most)
{
    const cJSON  *item;

    item = cJSON_GetObjectItemCaseSensitive(claims, name);

    fuzz_assert(cJSON_IsNumber(item) && item->valuedouble >= least
                && item->valuedouble < most);
}


static int
fuzz_is(const cJSON *item, const char *text)
{
    return cJSON_IsString(item) && strcmp(item->valuestring, text) == 0;
}
