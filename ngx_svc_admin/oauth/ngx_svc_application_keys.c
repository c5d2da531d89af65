/*
 * The keys of applications: the members "jwks" and "jwksUri".
 */

#include "ngx_svc_application_keys.h"
#include "ngx_svc_federation.h"
#include "ngx_svc_jwk_rsa.h"
#include "ngx_svc_jwks.h"


static ngx_uint_t ngx_svc_application_keys_fit(const cJSON *json,
    size_t *room);
static ngx_int_t ngx_svc_application_key(const cJSON *jwk, const char *path,
    ngx_uint_t i, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_application_key_id(const cJSON *jwk,
    const char *path, ngx_uint_t i, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_application_keys_usable(const cJSON *jwk,
    void *data);


/* The keys of a set that are kept so far. */

typedef struct {
    const char  *kids[NGX_SVC_APPLICATION_PUBLISHED];
    ngx_uint_t   n;
} ngx_svc_application_kids_t;


/* What is kept of a key that was fetched. */

static const char *const  ngx_svc_application_keys_members[] = {
    "kty", "crv", "x", "y", "n", "e", "alg", "kid", NULL
};


ngx_int_t
ngx_svc_application_keys_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    int          n;
    size_t       room;
    ngx_int_t    rc;
    ngx_uint_t   i;
    cJSON       *keys, *jwk;

    keys = cJSON_GetObjectItemCaseSensitive(value->json, "keys");
    n = cJSON_IsArray(keys) ? cJSON_GetArraySize(keys) : 0;

    if (n < 1 || n > NGX_SVC_APPLICATION_KEYS) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must be a JWK Set with \"keys\", which "
                            "has 1 to %d public keys.", path,
                            NGX_SVC_APPLICATION_KEYS);
    }

    room = NGX_SVC_APPLICATION_KEYS_SIZE;

    if (!ngx_svc_application_keys_fit(value->json, &room)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must have at most %d bytes, and no "
                            "numbers but whole ones of 32 bits, without 0.",
                            path,
                            NGX_SVC_APPLICATION_KEYS_SIZE);
    }

    i = 0;

    for (jwk = keys->child; jwk; jwk = jwk->next) {
        rc = ngx_svc_application_key_id(jwk, path, i, err);

        if (rc == NGX_OK) {
            rc = ngx_svc_application_key(jwk, path, i, err);
        }

        if (rc != NGX_OK) {
            return rc;
        }

        i++;
    }

    return NGX_OK;
}


/*
 * Returns 0 for keys that are too long, or have numbers that cannot be stored.
 * All members are stored and answered, also those that we do not know.
 * PostgreSQL writes a number such as 1e300 with all its zeroes, and 0e-300,
 * too, which is more than our parser takes when the keys are read again.
 */

static ngx_uint_t
ngx_svc_application_keys_fit(const cJSON *json, size_t *room)
{
    size_t        size;
    const cJSON  *child;

    size = sizeof("null") - 1
           + (json->string ? ngx_strlen(json->string) : 0)
           + (json->valuestring ? ngx_strlen(json->valuestring) : 0);

    if (size > *room
        || (cJSON_IsNumber(json) && (json->valueint == 0
                                     || json->valuedouble != json->valueint)))
    {
        return 0;
    }

    *room -= size;

    cJSON_ArrayForEach(child, json) {
        if (!ngx_svc_application_keys_fit(child, room)) {
            return 0;
        }
    }

    return 1;
}


/* Checks "kid", by which an assertion may name its key. */

static ngx_int_t
ngx_svc_application_key_id(const cJSON *jwk, const char *path, ngx_uint_t i,
    ngx_svc_error_t *err)
{
    size_t        len;
    const char   *kid;
    const cJSON  *other;

    kid = ngx_svc_jwk_string(jwk, "kid");
    len = kid ? ngx_strlen(kid) : 0;

    if (len < 1 || len > NGX_SVC_APPLICATION_KID) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s.keys[%ui].kid\" must be a string of 1 to "
                            "%d bytes.", path, i, NGX_SVC_APPLICATION_KID);
    }

    for (other = jwk->next; other; other = other->next) {
        if (ngx_svc_jwk_is(other, "kid", kid)) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s.keys[%ui].kid\" is that of another key "
                                "as well.", path, i);
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_application_key(const cJSON *jwk, const char *path, ngx_uint_t i,
    ngx_svc_error_t *err)
{
    EVP_PKEY    *key;
    ngx_int_t    rc;
    ngx_uint_t   algs;

    if (ngx_svc_jwk_private_members(jwk)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s.keys[%ui]\" has a private member: make a "
                            "new key, and give its public half alone.", path,
                            i);
    }

    key = NULL;
    rc = ngx_svc_jwk_client(jwk, &key, &algs);

    EVP_PKEY_free(key);

    return rc != NGX_DECLINED ? rc
           : ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                          "\"%s.keys[%ui]\" must be a public key for "
                          "signatures: of EC with P-256, of OKP with Ed25519, "
                          "or of RSA with 2048 to 4096 bits and the exponent "
                          "AQAB; \"alg\" and \"use\", if there, must be of "
                          "that.", path, i);
}


ngx_int_t
ngx_svc_application_keys_uri(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    return ngx_svc_federation_url(&value->str, path, err);
}


ngx_int_t
ngx_svc_application_keys_keep(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_str_t *kept, const char **why)
{
    ngx_int_t                    rc;
    ngx_uint_t                   n;
    const cJSON                 *keys;
    ngx_svc_jwks_kept_t          keep;
    ngx_svc_application_kids_t   kids;

    rc = ngx_svc_jwks_read(pool, text, &keys);

    if (rc != NGX_OK) {
        *why = "the answer is no JSON with an array of keys";
        return rc;
    }

    if (cJSON_GetArraySize(keys) > NGX_SVC_APPLICATION_PUBLISHED) {
        *why = "the answer has more than 100 keys";
        return NGX_DECLINED;
    }

    kids.n = 0;

    keep.members = ngx_svc_application_keys_members;
    keep.usable = ngx_svc_application_keys_usable;
    keep.data = &kids;

    if (ngx_svc_jwks_write(pool, keys, &keep, &n, kept) != NGX_OK) {
        return NGX_ERROR;
    }

    if (n == 0 || kept->len > NGX_SVC_APPLICATION_PUBLISHED_SIZE) {
        *why = n ? "the answer has more keys than 65536 bytes hold"
                 : "the answer has no key that can be used";
        return NGX_DECLINED;
    }

    return NGX_OK;
}


/* The first of several keys with one "kid" is kept. */

static ngx_int_t
ngx_svc_application_keys_usable(const cJSON *jwk, void *data)
{
    ngx_svc_application_kids_t *kids = data;

    size_t       len;
    EVP_PKEY    *key;
    ngx_int_t    rc;
    ngx_uint_t   i, algs;
    const char  *kid;

    kid = ngx_svc_jwk_string(jwk, "kid");
    len = kid ? ngx_strlen(kid) : 0;

    if (len < 1 || len > NGX_SVC_APPLICATION_KID) {
        return NGX_DECLINED;
    }

    for (i = 0; i < kids->n; i++) {
        if (ngx_strcmp(kids->kids[i], kid) == 0) {
            return NGX_DECLINED;
        }
    }

    key = NULL;
    rc = ngx_svc_jwk_client(jwk, &key, &algs);

    EVP_PKEY_free(key);

    if (rc == NGX_OK) {
        kids->kids[kids->n++] = kid;
    }

    return rc;
}
