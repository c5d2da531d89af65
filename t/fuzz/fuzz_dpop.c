/*
 * DPoP proofs.  An input has a header and a payload, one line each, which the
 * key signs, and a nonce; or, with one line only, a proof as it is.
 */

#include "ngx_fuzz_jose.h"
#include "ngx_svc_dpop.h"
#include "ngx_svc_dpop_nonce.h"


#define FUZZ_NOW  1800000000


static void fuzz_check(ngx_pool_t *pool, const ngx_str_t *proof,
    const ngx_str_t *payload, int with_token);
static void fuzz_taken(ngx_pool_t *pool, const ngx_str_t *payload,
    const ngx_svc_dpop_t *dpop, int with_token);
static const char *fuzz_claim(const cJSON *json, const char *name);
static void fuzz_refused(const ngx_svc_error_t *err);
static void fuzz_nonce(const ngx_str_t *nonce);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t    text, header, payload, proof;
    ngx_pool_t  *pool;

    pool = fuzz_pool(4096);

    text.data = (u_char *) data;
    text.len = size;

    header = fuzz_line(pool, &text);

    if (header.len == size) {
        fuzz_check(pool, &header, NULL, size % 2);

    } else {
        payload = fuzz_line(pool, &text);
        proof = fuzz_signed(pool, &header, &payload);

        fuzz_check(pool, &proof, &payload, size % 2);
        fuzz_nonce(&text);
    }

    fuzz_assert(ERR_peek_error() == 0);

    ngx_destroy_pool(pool);

    return 0;
}


static void
fuzz_check(ngx_pool_t *pool, const ngx_str_t *proof, const ngx_str_t *payload,
    int with_token)
{
    ngx_int_t              rc;
    ngx_svc_dpop_t         dpop;
    ngx_svc_error_t        err;
    ngx_svc_dpop_expect_t  expect;

    ngx_memzero(&expect, sizeof(expect));

    ngx_str_set(&expect.method, "POST");
    ngx_str_set(&expect.htu, "https://as.test/oauth/token");
    expect.below = sizeof("https://as.test/oauth") - 1;
    expect.now = FUZZ_NOW;

    if (with_token) {
        ngx_str_set(&expect.token, "token");

    } else {
        ngx_str_null(&expect.token);
    }

    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_dpop_check(pool, proof, &expect, &dpop, &err);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED);
        fuzz_refused(&err);
        return;
    }

    if (payload) {
        fuzz_taken(pool, payload, &dpop, with_token);

        /* one bit of the signature; the last one has unused bits */

        proof->data[proof->len - 2 - proof->len % 80] ^= 1;

        fuzz_assert(ngx_svc_dpop_check(pool, proof, &expect, &dpop, &err)
                    == NGX_DECLINED);
    }
}


static void
fuzz_taken(ngx_pool_t *pool, const ngx_str_t *payload,
    const ngx_svc_dpop_t *dpop, int with_token)
{
    size_t            len;
    double            iat;
    cJSON            *json;
    u_char            text[256], digest[32];
    ngx_str_t         copy;
    const char       *jti, *htu, *nonce;
    ngx_svc_error_t   err;

    copy = *payload;
    err.kind = NGX_SVC_E_NONE;

    fuzz_assert(ngx_svc_json_parse(pool, &copy, &json, &err) == NGX_OK);

    /* no other key can have signed it */

    (void) ngx_svc_base64url(text, dpop->jkt, sizeof(dpop->jkt));
    fuzz_assert(memcmp(text, FUZZ_THUMBPRINT, NGX_SVC_JWK_KID) == 0);

    jti = fuzz_claim(json, "jti");
    fuzz_assert(jti != NULL);

    len = strlen(jti);
    fuzz_assert(len >= 1 && len <= 128);

    memcpy(text, dpop->jkt, 32);
    memcpy(text + 32, jti, len);
    fuzz_assert(ngx_svc_sha256(text, 32 + len, digest) == NGX_OK);
    fuzz_assert(memcmp(dpop->once, digest, 32) == 0);

    fuzz_assert(strcmp(fuzz_claim(json, "htm"), "POST") == 0);

    htu = fuzz_claim(json, "htu");
    fuzz_assert(strncasecmp(htu, "https://as.test", 15) == 0);
    fuzz_assert(htu[15] == '/' || strncmp(htu + 15, ":443/", 5) == 0);

    iat = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, "iat"));
    fuzz_assert((double) dpop->iat == iat);
    fuzz_assert(dpop->stale
                == (iat < FUZZ_NOW - 60 || iat > FUZZ_NOW + 60));

    nonce = fuzz_claim(json, "nonce");
    fuzz_assert((nonce == NULL) == (dpop->nonce.data == NULL));
    fuzz_assert(nonce == NULL || strlen(nonce) == dpop->nonce.len);

    if (with_token) {
        fuzz_assert(strcmp(fuzz_claim(json, "ath"),
                           "PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A")
                    == 0);
    }
}


static const char *
fuzz_claim(const cJSON *json, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
}


/* RFC 6749, 5.2 */

static void
fuzz_refused(const ngx_svc_error_t *err)
{
    size_t  i;

    fuzz_assert(err->kind == NGX_SVC_E_INVALID_REQUEST && err->len > 0);

    for (i = 0; i < err->len; i++) {
        fuzz_assert(err->detail[i] >= ' ' && err->detail[i] < 0x7f
                    && err->detail[i] != '"' && err->detail[i] != '\\');
    }
}


/* No nonce is valid that we have not made. */

static void
fuzz_nonce(const ngx_str_t *nonce)
{
    u_char     good[NGX_SVC_DPOP_NONCE];
    ngx_str_t  str;

    static ngx_svc_macs_t  macs;
    static ngx_svc_keys_t  keys;

    if (macs.n == 0) {
        keys.n = 2;
        keys.keys[0].key[0] = 1;
        fuzz_assert(ngx_svc_mac_init(&macs, &keys, NGX_SVC_DPOP_NONCE_LABEL)
                    == NGX_OK);
    }

    fuzz_assert(ngx_svc_dpop_nonce(&macs, FUZZ_NOW, good) == NGX_OK);

    str.data = good;
    str.len = sizeof(good);

    fuzz_assert(ngx_svc_dpop_nonce_check(&macs, FUZZ_NOW, &str) == NGX_OK);
    fuzz_assert(ngx_svc_dpop_nonce_check(&macs, FUZZ_NOW, nonce)
                == NGX_DECLINED
                || (nonce->len == sizeof(good)
                    && memcmp(nonce->data, good, 11) == 0));
}
