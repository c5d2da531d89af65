/*
 * Key sets of other identity providers.
 */

#include "ngx_svc_oidc_jwks.h"
#include "ngx_svc_jwk_foreign.h"
#include "ngx_svc_jwks.h"


static ngx_int_t ngx_svc_oidc_jwks_usable(const cJSON *jwk, void *data);
static ngx_uint_t ngx_svc_oidc_jwks_named(const cJSON *jwk,
    const ngx_svc_jws_t *jws);
static ngx_int_t ngx_svc_oidc_jwks_none(const ngx_svc_jws_t *jws,
    ngx_uint_t found, ngx_uint_t fit, const char **why);


/* What is stored of a key.  Microsoft's have an "issuer". */

static const char *const  ngx_svc_oidc_jwks_members[] = {
    "kty", "crv", "x", "y", "n", "e", "alg", "kid", "issuer", NULL
};


ngx_int_t
ngx_svc_oidc_jwks_keep(ngx_pool_t *pool, const ngx_str_t *text, ngx_str_t *kept,
    const char **why)
{
    ngx_int_t     rc;
    ngx_uint_t    n;
    const cJSON  *keys;

    static const ngx_svc_jwks_kept_t  keep = {
        .members = ngx_svc_oidc_jwks_members,
        .usable = ngx_svc_oidc_jwks_usable
    };

    rc = ngx_svc_jwks_read(pool, text, &keys);

    if (rc != NGX_OK) {
        *why = "is no JSON object with an array 'keys'";
        return rc;
    }

    if (cJSON_GetArraySize(keys) > NGX_SVC_OIDC_JWKS_KEYS) {
        *why = "has more than 100 keys";
        return NGX_DECLINED;
    }

    if (ngx_svc_jwks_write(pool, keys, &keep, &n, kept) != NGX_OK) {
        return NGX_ERROR;
    }

    if (n == 0 && cJSON_GetArraySize(keys)) {
        *why = "has no key for signatures of a kind that is verified";
        return NGX_DECLINED;
    }

    if (kept->len > NGX_SVC_OIDC_JWKS_KEPT) {
        *why = "has keys of more than 65536 bytes";
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oidc_jwks_usable(const cJSON *jwk, void *data)
{
    EVP_PKEY    *key;
    ngx_int_t    rc;
    ngx_str_t    kid;
    ngx_uint_t   algs;

    if (!cJSON_IsObject(jwk) || ngx_svc_jws_text(jwk, "kid", &kid) != NGX_OK) {
        return NGX_DECLINED;
    }

    rc = ngx_svc_jwk_foreign(jwk, &key, &algs);

    EVP_PKEY_free(key);

    return rc;
}


ngx_int_t
ngx_svc_oidc_jwks_key(ngx_pool_t *pool, const ngx_str_t *jwks,
    const ngx_svc_jws_t *jws, EVP_PKEY **key, const cJSON **jwk,
    const char **why)
{
    EVP_PKEY     *one;
    ngx_int_t     rc;
    ngx_uint_t    found, fit, algs;
    const cJSON  *keys, *item;

    *key = NULL;
    found = 0;
    fit = 0;

    rc = ngx_svc_jwks_read(pool, jwks, &keys);

    if (rc != NGX_OK) {
        return rc == NGX_ERROR ? rc : ngx_svc_oidc_jwks_none(jws, 0, 0, why);
    }

    cJSON_ArrayForEach(item, keys) {

        if (!ngx_svc_oidc_jwks_named(item, jws)) {
            continue;
        }

        rc = ngx_svc_jwk_foreign(item, &one, &algs);

        if (rc == NGX_ERROR) {
            EVP_PKEY_free(*key);
            *key = NULL;
            return NGX_ERROR;
        }

        if (rc == NGX_OK) {
            found++;
        }

        if (!(algs & ngx_svc_jwa_bit(jws->alg)) || ++fit > 1) {
            EVP_PKEY_free(one);
            continue;
        }

        *key = one;
        *jwk = item;
    }

    if (fit == 1 && (jws->kid.data || found == 1)) {
        return NGX_OK;
    }

    EVP_PKEY_free(*key);
    *key = NULL;

    return ngx_svc_oidc_jwks_none(jws, found, fit, why);
}


/* Returns 1 if the key may be meant: any may without a "kid" in the token. */

static ngx_uint_t
ngx_svc_oidc_jwks_named(const cJSON *jwk, const ngx_svc_jws_t *jws)
{
    return cJSON_IsObject(jwk)
           && (jws->kid.data == NULL
               || ngx_svc_jwk_is(jwk, "kid", (char *) jws->kid.data));
}


/*
 * Says why no key verifies the token.  found: those that may be meant; fit:
 * those of them that may verify by its "alg".
 */

static ngx_int_t
ngx_svc_oidc_jwks_none(const ngx_svc_jws_t *jws, ngx_uint_t found,
    ngx_uint_t fit, const char **why)
{
    if (found == 0) {
        *why = jws->kid.data ? "has a 'kid' that no key has"
                             : "has no 'kid', and there is no key";
        return NGX_AGAIN;
    }

    if (jws->kid.data == NULL && found > 1) {
        *why = "has no 'kid', and there are several keys";

    } else if (fit > 1) {
        *why = "has a 'kid' that several keys have";

    } else {
        *why = "has an 'alg' that its key is not for";
    }

    return NGX_DECLINED;
}
