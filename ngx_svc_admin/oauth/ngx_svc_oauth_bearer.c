/*
 * Tokens that are presented.
 *
 * A signature that is good stays good, so a worker may remember it; whether
 * the token is live is asked each time.
 */

#include "ngx_svc_oauth_bearer.h"
#include "ngx_svc_json.h"
#include "ngx_svc_jwk_rsa.h"


#define NGX_SVC_OAUTH_VERIFIED  4096    /* tokens with a good signature */
#define NGX_SVC_OAUTH_PUBLIC    256     /* public keys */


typedef struct {
    EVP_PKEY       *key;                /* NULL: the place is free */
    ngx_svc_jwa_e   alg;
    u_char          kid[NGX_SVC_JWK_KID];
} ngx_svc_oauth_public_t;


static ngx_int_t ngx_svc_oauth_bearer_secret(ngx_svc_request_t *sr,
    const ngx_str_t *text, ngx_svc_oauth_bearer_t *bearer);
static ngx_int_t ngx_svc_oauth_bearer_opaque(ngx_svc_request_t *sr,
    u_char *bytes, ngx_svc_oauth_bearer_t *bearer);
static ngx_int_t ngx_svc_oauth_bearer_sealed(ngx_svc_request_t *sr,
    const ngx_str_t *text, ngx_svc_oauth_bearer_t *bearer);
static ngx_int_t ngx_svc_oauth_bearer_jwt(ngx_svc_request_t *sr,
    const ngx_str_t *text, ngx_svc_oauth_bearer_t *bearer);
static ngx_int_t ngx_svc_oauth_bearer_jti(ngx_svc_request_t *sr,
    const char *text, ngx_svc_oauth_bearer_t *bearer);
static ngx_int_t ngx_svc_oauth_bearer_time(ngx_svc_request_t *sr,
    ngx_svc_oauth_bearer_t *bearer);
static u_char *ngx_svc_oauth_bearer_known(ngx_svc_oauth_bearer_t *bearer);
static ngx_svc_oauth_public_t *ngx_svc_oauth_public(const ngx_str_t *kid);
static ngx_int_t ngx_svc_oauth_public_learn(ngx_pool_t *pool,
    ngx_svc_oauth_public_t *public, const ngx_str_t *kid,
    const ngx_str_t *jwk);
static ngx_int_t ngx_svc_oauth_bearer_check(ngx_svc_oauth_bearer_t *bearer,
    ngx_svc_oauth_public_t *public);


static u_char  ngx_svc_oauth_verified[NGX_SVC_OAUTH_VERIFIED]
                                     [NGX_SVC_SHA256_LEN];
static ngx_svc_oauth_public_t  ngx_svc_oauth_publics[NGX_SVC_OAUTH_PUBLIC];


ngx_int_t
ngx_svc_oauth_bearer_read(ngx_svc_request_t *sr, const ngx_str_t *text,
    ngx_svc_oauth_bearer_t *bearer)
{
    static const ngx_str_t  no = { 1, (u_char *) "\0" };

    ngx_memzero(bearer, sizeof(ngx_svc_oauth_bearer_t));

    bearer->unverified = no;

    if (text->len > sizeof(NGX_SVC_OAUTH_OPAQUE) - 1
        && (ngx_strncmp(text->data, NGX_SVC_OAUTH_OPAQUE,
                        sizeof(NGX_SVC_OAUTH_OPAQUE) - 1)
            == 0
            || ngx_strncmp(text->data, NGX_SVC_OAUTH_REFRESH,
                           sizeof(NGX_SVC_OAUTH_REFRESH) - 1)
               == 0))
    {
        return ngx_svc_oauth_bearer_secret(sr, text, bearer);
    }

    return ngx_svc_oauth_bearer_jwt(sr, text, bearer);
}


static ngx_int_t
ngx_svc_oauth_bearer_secret(ngx_svc_request_t *sr, const ngx_str_t *text,
    ngx_svc_oauth_bearer_t *bearer)
{
    u_char      *bytes, *secret;
    size_t       len, want;
    ngx_pool_t  *pool;
    ngx_uint_t   opaque;

    pool = sr->request->pool;
    opaque = text->data[1] == 'a';
    want = opaque ? NGX_SVC_OAUTH_OPAQUE_BYTES : NGX_SVC_OAUTH_SECRET;
    len = text->len - (sizeof(NGX_SVC_OAUTH_OPAQUE) - 1);

    if (len != ngx_svc_base64url_len(want)) {
        return opaque ? ngx_svc_oauth_bearer_sealed(sr, text, bearer) : NGX_OK;
    }

    bytes = ngx_pnalloc(pool, NGX_SVC_OAUTH_OPAQUE_BYTES + 3
                              + NGX_SVC_SHA256_LEN);
    if (bytes == NULL
        || ngx_svc_wipe_later(pool, bytes, NGX_SVC_OAUTH_OPAQUE_BYTES)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_svc_base64url_decode(text->data + sizeof(NGX_SVC_OAUTH_OPAQUE) - 1,
                                 len, bytes, &len)
        != NGX_OK || len != want)
    {
        return NGX_OK;
    }

    secret = bytes + want - NGX_SVC_OAUTH_SECRET;

    bearer->secret_hash.data = bytes + NGX_SVC_OAUTH_OPAQUE_BYTES + 3;
    bearer->secret_hash.len = NGX_SVC_SHA256_LEN;

    if (ngx_svc_sha256(secret, NGX_SVC_OAUTH_SECRET, bearer->secret_hash.data)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (opaque) {
        return ngx_svc_oauth_bearer_opaque(sr, bytes, bearer);
    }

    bearer->kind = NGX_SVC_OAUTH_BEARER_REFRESH;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_bearer_opaque(ngx_svc_request_t *sr, u_char *bytes,
    ngx_svc_oauth_bearer_t *bearer)
{
    bearer->kind = NGX_SVC_OAUTH_BEARER_OPAQUE;
    bearer->tenant.data = bytes;
    bearer->tenant.len = NGX_SVC_UUID_LEN;
    bearer->jti.data = bytes + NGX_SVC_UUID_LEN;
    bearer->jti.len = NGX_SVC_UUID_LEN;

    return ngx_svc_oauth_bearer_time(sr, bearer);
}


/*
 * Opens an opaque token without a row.  It never has the length of one with a
 * row.
 */

static ngx_int_t
ngx_svc_oauth_bearer_sealed(ngx_svc_request_t *sr, const ngx_str_t *text,
    ngx_svc_oauth_bearer_t *bearer)
{
    u_char     *bytes;
    size_t      len;
    ngx_int_t   rc;

    if (text->len > NGX_SVC_OAUTH_SEALED_MAX) {
        return NGX_OK;
    }

    bytes = ngx_pnalloc(sr->request->pool, text->len);
    if (bytes == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_base64url_decode(text->data + sizeof(NGX_SVC_OAUTH_OPAQUE) - 1,
                                  text->len - sizeof(NGX_SVC_OAUTH_OPAQUE) + 1,
                                  bytes, &len);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_own_open(sr, bytes, len, &bearer->own);
    }

    if (rc != NGX_OK) {
        bearer->own = NULL;
        return rc == NGX_DECLINED ? NGX_OK : rc;
    }

    bearer->own->secret_hash.data = ngx_pnalloc(sr->request->pool,
                                                NGX_SVC_SHA256_LEN);
    if (bearer->own->secret_hash.data == NULL
        || ngx_svc_sha256(text->data, text->len,
                          bearer->own->secret_hash.data)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    bearer->own->secret_hash.len = NGX_SVC_SHA256_LEN;

    bearer->kind = NGX_SVC_OAUTH_BEARER_OPAQUE;
    bearer->tenant = bearer->own->tenant;
    bearer->secret_hash = bearer->own->secret_hash;
    bearer->jti.data = bearer->own->jti;
    bearer->jti.len = NGX_SVC_UUID_LEN;

    return ngx_svc_oauth_bearer_time(sr, bearer);
}


/* Takes an access token of RFC 9068; another JWT is no access token of ours. */

static ngx_int_t
ngx_svc_oauth_bearer_jwt(ngx_svc_request_t *sr, const ngx_str_t *text,
    ngx_svc_oauth_bearer_t *bearer)
{
    ngx_int_t       rc;
    const cJSON    *jti;
    ngx_svc_jws_t  *jws;

    static const ngx_str_t  typ = ngx_string("at+jwt");
    static const ngx_str_t  yes = { 1, (u_char *) "\1" };

    jws = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_jws_t));
    if (jws == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_jws_parse_signed(sr->request->pool, text, jws);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? NGX_OK : rc;
    }

    jti = cJSON_GetObjectItemCaseSensitive(jws->payload, "jti");

    if (jws->typ.len != typ.len
        || ngx_strncasecmp(jws->typ.data, typ.data, typ.len) != 0
        || jws->kid.len != NGX_SVC_JWK_KID || !cJSON_IsString(jti))
    {
        return NGX_OK;
    }

    rc = ngx_svc_oauth_bearer_jti(sr, jti->valuestring, bearer);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? NGX_OK : rc;
    }

    rc = ngx_svc_oauth_own_claims(sr, jws, &bearer->own);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc != NGX_OK) {
        bearer->own = NULL;
    }

    bearer->kind = NGX_SVC_OAUTH_BEARER_JWT;
    bearer->kid = jws->kid;
    bearer->jws = jws;
    bearer->unverified = yes;

    if (ngx_svc_sha256(text->data, text->len, bearer->digest) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_bearer_time(sr, bearer);
}


/* Returns NGX_OK; NGX_DECLINED: the text is no id of ours; NGX_ERROR. */

static ngx_int_t
ngx_svc_oauth_bearer_jti(ngx_svc_request_t *sr, const char *text,
    ngx_svc_oauth_bearer_t *bearer)
{
    bearer->jti.data = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);
    if (bearer->jti.data == NULL) {
        return NGX_ERROR;
    }

    bearer->jti.len = NGX_SVC_UUID_LEN;

    return ngx_svc_uuid_parse((u_char *) text, ngx_strlen(text),
                              bearer->jti.data);
}


/*
 * Sets bearer->ms.  A UUID of version 7 begins with 48 bits of milliseconds
 * (RFC 9562).
 */

static ngx_int_t
ngx_svc_oauth_bearer_time(ngx_svc_request_t *sr,
    ngx_svc_oauth_bearer_t *bearer)
{
    uint64_t    ms;
    ngx_uint_t  i;

    ms = 0;

    for (i = 0; i < 6; i++) {
        ms = ms << 8 | bearer->jti.data[i];
    }

    bearer->ms.data = ngx_pnalloc(sr->request->pool, NGX_INT64_LEN);
    if (bearer->ms.data == NULL) {
        return NGX_ERROR;
    }

    bearer->ms.len = ngx_sprintf(bearer->ms.data, "%uL", ms) - bearer->ms.data;

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_bearer_verify(ngx_svc_oauth_bearer_t *bearer)
{
    ngx_svc_oauth_public_t  *public;

    if (*bearer->unverified.data == 0) {
        return NGX_OK;
    }

    if (ngx_memcmp(ngx_svc_oauth_bearer_known(bearer), bearer->digest,
                   NGX_SVC_SHA256_LEN)
        == 0)
    {
        bearer->unverified.data = (u_char *) "\0";
        return NGX_OK;
    }

    public = ngx_svc_oauth_public(&bearer->kid);

    return public->key && ngx_memcmp(public->kid, bearer->kid.data,
                                     NGX_SVC_JWK_KID)
                          == 0
           ? ngx_svc_oauth_bearer_check(bearer, public) : NGX_AGAIN;
}


ngx_int_t
ngx_svc_oauth_bearer_verify_by(ngx_pool_t *pool,
    ngx_svc_oauth_bearer_t *bearer, const ngx_str_t *jwk)
{
    ngx_int_t                rc;
    ngx_svc_oauth_public_t  *public;

    public = ngx_svc_oauth_public(&bearer->kid);

    rc = ngx_svc_oauth_public_learn(pool, public, &bearer->kid, jwk);

    return rc == NGX_OK ? ngx_svc_oauth_bearer_check(bearer, public) : rc;
}


static ngx_int_t
ngx_svc_oauth_bearer_check(ngx_svc_oauth_bearer_t *bearer,
    ngx_svc_oauth_public_t *public)
{
    ngx_int_t  rc;

    rc = ngx_svc_jws_verify(bearer->jws, public->key, public->alg);

    if (rc == NGX_OK) {
        ngx_memcpy(ngx_svc_oauth_bearer_known(bearer), bearer->digest,
                   NGX_SVC_SHA256_LEN);
        bearer->unverified.data = (u_char *) "\0";
    }

    return rc;
}


/* Returns the token's place, which most often has another token. */

static u_char *
ngx_svc_oauth_bearer_known(ngx_svc_oauth_bearer_t *bearer)
{
    ngx_uint_t  n;

    n = bearer->digest[0] << 8 | bearer->digest[1];

    return ngx_svc_oauth_verified[n % NGX_SVC_OAUTH_VERIFIED];
}


static ngx_svc_oauth_public_t *
ngx_svc_oauth_public(const ngx_str_t *kid)
{
    return &ngx_svc_oauth_publics[ngx_crc32_short(kid->data, kid->len)
                                  % NGX_SVC_OAUTH_PUBLIC];
}


/*
 * Keeps a key.  Returns NGX_DECLINED if it is no key, or has another
 * thumbprint.
 */

static ngx_int_t
ngx_svc_oauth_public_learn(ngx_pool_t *pool, ngx_svc_oauth_public_t *public,
    const ngx_str_t *kid, const ngx_str_t *jwk)
{
    cJSON            *json;
    u_char            thumbprint[NGX_SVC_JWK_THUMBPRINT];
    u_char            text[NGX_SVC_JWK_KID];
    EVP_PKEY         *key;
    ngx_int_t         rc;
    ngx_str_t         copy;
    ngx_svc_jwa_e     alg;
    ngx_svc_error_t   err;

    key = NULL;
    alg = NGX_SVC_JWA_NONE;
    copy = *jwk;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_json_parse(pool, &copy, &json, &err);

    if (rc == NGX_OK) {
        rc = ngx_svc_jwk_signing(json, &key, &alg, thumbprint);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    (void) ngx_svc_base64url(text, thumbprint, sizeof(thumbprint));

    if (ngx_memcmp(text, kid->data, sizeof(text)) != 0) {
        EVP_PKEY_free(key);
        return NGX_DECLINED;
    }

    EVP_PKEY_free(public->key);

    public->key = key;
    public->alg = alg;
    ngx_memcpy(public->kid, text, sizeof(text));

    return NGX_OK;
}


void
ngx_svc_oauth_bearer_exit_worker(void)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_OAUTH_PUBLIC; i++) {
        EVP_PKEY_free(ngx_svc_oauth_publics[i].key);
        ngx_svc_oauth_publics[i].key = NULL;
    }
}
