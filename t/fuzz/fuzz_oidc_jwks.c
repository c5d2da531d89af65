/*
 * Key sets of other identity providers.  What is kept of one is kept the same
 * once more, and has the same key for each token.
 */

#include "ngx_fuzz_jose.h"
#include "ngx_svc_jwk_foreign.h"
#include "ngx_svc_oidc_jwks.h"


static void fuzz_key_of(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *kept, const char *kid, ngx_svc_jwa_e alg);
static void fuzz_each(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *kept);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_int_t      rc;
    ngx_str_t      text, kept, again;
    ngx_pool_t    *pool;
    const char    *why;
    ngx_svc_jwa_e  alg;

    pool = fuzz_pool(4096);

    text.data = ngx_palloc(pool, size + 1);
    text.len = size;
    memcpy(text.data, data, size);

    why = NULL;
    rc = ngx_svc_oidc_jwks_keep(pool, &text, &kept, &why);

    if (rc == NGX_OK) {
        fuzz_assert(kept.len <= NGX_SVC_OIDC_JWKS_KEPT);
        fuzz_assert(ngx_svc_oidc_jwks_keep(pool, &kept, &again, &why)
                    == NGX_OK);
        fuzz_assert(ngx_svc_same(&kept, &again));

        for (alg = NGX_SVC_JWA_ES256; alg <= NGX_SVC_JWA_ES384; alg++) {
            fuzz_key_of(pool, &text, &kept, NULL, alg);
            fuzz_key_of(pool, &text, &kept, "k", alg);
        }

        fuzz_each(pool, &text, &kept);

    } else {
        fuzz_assert(rc == NGX_DECLINED && why != NULL);
    }

    fuzz_assert(ERR_peek_error() == 0);

    ngx_destroy_pool(pool);

    return 0;
}


/*
 * Both texts have the same key.  One whose "kid" is no string is not kept, but
 * may be the only one of the other text.
 */

static void
fuzz_key_of(ngx_pool_t *pool, const ngx_str_t *text, const ngx_str_t *kept,
    const char *kid, ngx_svc_jwa_e alg)
{
    EVP_PKEY       *one, *two;
    ngx_int_t       rc, of_kept;
    const char     *why;
    const cJSON    *jwk;
    ngx_svc_jws_t   jws;

    memset(&jws, 0, sizeof(jws));
    jws.alg = alg;

    if (kid) {
        jws.kid.data = (u_char *) kid;
        jws.kid.len = strlen(kid);
    }

    rc = ngx_svc_oidc_jwks_key(pool, text, &jws, &one, &jwk, &why);
    of_kept = ngx_svc_oidc_jwks_key(pool, kept, &jws, &two, &jwk, &why);

    fuzz_assert((rc == NGX_OK) == (one != NULL));
    fuzz_assert((of_kept == NGX_OK) == (two != NULL));

    if (kid) {
        fuzz_assert(rc == of_kept);
    }

    if (one && two) {
        fuzz_assert(EVP_PKEY_eq(one, two) == 1);
    }

    EVP_PKEY_free(one);
    EVP_PKEY_free(two);
}


/* Each key that is kept is one that is verified, and public. */

static void
fuzz_each(ngx_pool_t *pool, const ngx_str_t *text, const ngx_str_t *kept)
{
    cJSON            *json;
    EVP_PKEY         *key;
    ngx_str_t         copy;
    ngx_uint_t        algs;
    const cJSON      *jwk;
    const char       *kid;
    ngx_svc_jwa_e     alg;
    ngx_svc_error_t   err;

    copy = *kept;
    err.kind = NGX_SVC_E_NONE;

    fuzz_assert(ngx_svc_json_parse(pool, &copy, &json, &err) == NGX_OK);

    cJSON_ArrayForEach(jwk, json->child) {
        fuzz_assert(ngx_svc_jwk_foreign(jwk, &key, &algs) == NGX_OK);
        fuzz_assert(algs != 0 && !(algs & ngx_svc_jwa_bit(NGX_SVC_JWA_NONE)));
        fuzz_assert(!ngx_svc_jwk_private_members(jwk));
        fuzz_assert(EVP_PKEY_get_bits(key) >= 253
                    && EVP_PKEY_get_bits(key) <= 8192);
        EVP_PKEY_free(key);

        kid = ngx_svc_jwk_string(jwk, "kid");

        for (alg = NGX_SVC_JWA_ES256; kid && alg <= NGX_SVC_JWA_ES384; alg++) {
            fuzz_key_of(pool, text, kept, kid, alg);
        }
    }
}
