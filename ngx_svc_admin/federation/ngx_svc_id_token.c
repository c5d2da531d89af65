/*
 * Tokens that other identity providers sign for us.
 */

#include "ngx_svc_id_token.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_oidc_jwks.h"

#include <openssl/err.h>


#define NGX_SVC_ID_TOKEN_LOGOUT                                               \
    "http://schemas.openid.net/event/backchannel-logout"


typedef ngx_int_t (*ngx_svc_id_token_pt)(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);


static ngx_int_t ngx_svc_id_token_run(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *jwks, const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t, const ngx_svc_id_token_pt *checks);
static ngx_int_t ngx_svc_id_token_signed(ngx_pool_t *pool,
    const ngx_str_t *text, const ngx_str_t *jwks, ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_id_token_refuse(ngx_svc_id_token_t *t,
    const char *why);
static ngx_uint_t ngx_svc_id_token_text(const ngx_svc_id_token_t *t,
    const char *name, ngx_str_t *text);
static ngx_int_t ngx_svc_id_token_iss(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_id_token_tenant(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t, const ngx_str_t *iss);
static ngx_int_t ngx_svc_id_token_aud(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_id_token_listed(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t, const cJSON *aud);
static ngx_uint_t ngx_svc_id_token_client(const ngx_svc_id_token_expected_t *e,
    const cJSON *item);
static ngx_int_t ngx_svc_id_token_exp(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_id_token_iat(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_id_token_nbf(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_id_token_nonce(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_id_token_at_hash(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_id_token_sub(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_id_token_auth_time(
    const ngx_svc_id_token_expected_t *e, ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_logout_token_events(
    const ngx_svc_id_token_expected_t *e, ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_logout_token_nonce(
    const ngx_svc_id_token_expected_t *e, ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_logout_token_jti(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);
static ngx_int_t ngx_svc_logout_token_who(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t);


/* The checks of a token's claims, in their order. */

static const ngx_svc_id_token_pt  ngx_svc_id_token_checks[] = {
    ngx_svc_id_token_iss,
    ngx_svc_id_token_aud,
    ngx_svc_id_token_exp,
    ngx_svc_id_token_iat,
    ngx_svc_id_token_nbf,
    ngx_svc_id_token_nonce,
    ngx_svc_id_token_at_hash,
    ngx_svc_id_token_sub,
    ngx_svc_id_token_auth_time,
    NULL
};

static const ngx_svc_id_token_pt  ngx_svc_logout_token_checks[] = {
    ngx_svc_id_token_iss,
    ngx_svc_id_token_aud,
    ngx_svc_id_token_exp,
    ngx_svc_id_token_iat,
    ngx_svc_id_token_nbf,
    ngx_svc_logout_token_events,
    ngx_svc_logout_token_nonce,
    ngx_svc_logout_token_jti,
    ngx_svc_logout_token_who,
    NULL
};


ngx_int_t
ngx_svc_id_token_check(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *jwks, const ngx_svc_id_token_expected_t *expected,
    ngx_svc_id_token_t *token)
{
    return ngx_svc_id_token_run(pool, text, jwks, expected, token,
                                ngx_svc_id_token_checks);
}


ngx_int_t
ngx_svc_logout_token_check(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *jwks, const ngx_svc_id_token_expected_t *expected,
    ngx_svc_id_token_t *token)
{
    return ngx_svc_id_token_run(pool, text, jwks, expected, token,
                                ngx_svc_logout_token_checks);
}


static ngx_int_t
ngx_svc_id_token_run(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *jwks, const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t, const ngx_svc_id_token_pt *checks)
{
    ngx_int_t   rc;
    ngx_uint_t  i;

    ngx_memzero(t, sizeof(ngx_svc_id_token_t));

    rc = ngx_svc_id_token_signed(pool, text, jwks, t);

    for (i = 0; rc == NGX_OK && checks[i]; i++) {
        rc = checks[i](e, t);
    }

    return rc;
}


/*
 * Verifies the signature.  A provider that gives its keys no "kid" may have
 * replaced the only one: that is found out by the signature.
 */

static ngx_int_t
ngx_svc_id_token_signed(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *jwks, ngx_svc_id_token_t *t)
{
    EVP_PKEY     *key;
    ngx_int_t     rc;
    const cJSON  *jwk;

    rc = ngx_svc_jws_parse_foreign(pool, text, &t->jws);

    if (rc != NGX_OK) {
        t->why = t->jws.why;
        return rc;
    }

    t->claims = t->jws.payload;

    rc = ngx_svc_oidc_jwks_key(pool, jwks, &t->jws, &key, &jwk, &t->why);

    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_jws_verify(&t->jws, key, t->jws.alg);

    EVP_PKEY_free(key);

    if (rc == NGX_DECLINED) {
        t->why = "has a signature that is not of its key";
        return t->jws.kid.data ? NGX_DECLINED : NGX_AGAIN;
    }

    (void) ngx_svc_jws_text(jwk, "issuer", &t->key_issuer);

    return rc;
}


static ngx_int_t
ngx_svc_id_token_refuse(ngx_svc_id_token_t *t, const char *why)
{
    t->why = why;

    return NGX_DECLINED;
}


/* Returns 1 if a claim is a string of 1 to NGX_SVC_ID_TOKEN_SUB bytes. */

static ngx_uint_t
ngx_svc_id_token_text(const ngx_svc_id_token_t *t, const char *name,
    ngx_str_t *text)
{
    return ngx_svc_jws_text(t->claims, name, text) == NGX_OK
           && text->len >= 1 && text->len <= NGX_SVC_ID_TOKEN_SUB;
}


static ngx_int_t
ngx_svc_id_token_iss(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    ngx_str_t  iss;

    if (ngx_svc_jws_text(t->claims, "iss", &iss) != NGX_OK || iss.len == 0) {
        return ngx_svc_id_token_refuse(t, "has no 'iss'");
    }

    if (e->tenant) {
        return ngx_svc_id_token_tenant(e, t, &iss);
    }

    return ngx_svc_same(&iss, &e->issuer) || ngx_svc_same(&iss, &e->issuer_too)
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has an 'iss' that is not the"
                                              " provider's");
}


/*
 * Checks Microsoft's iss and tid.  A key of theirs may be for one tenant: that
 * of accounts which no organization has signs for no organization.
 */

static ngx_int_t
ngx_svc_id_token_tenant(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t, const ngx_str_t *iss)
{
    ngx_str_t   tid;
    ngx_uint_t  i;

    if (!ngx_svc_id_token_text(t, "tid", &tid)) {
        return ngx_svc_id_token_refuse(t, "has no 'tid'");
    }

    if (!ngx_svc_id_token_issued(&e->issuer, &tid, iss)) {
        return ngx_svc_id_token_refuse(t, "has an 'iss' that is not of its"
                                       " 'tid'");
    }

    if (t->key_issuer.data
        && !ngx_svc_id_token_issued(&t->key_issuer, &tid, iss))
    {
        return ngx_svc_id_token_refuse(t, "has a key that is not of its"
                                       " 'tid'");
    }

    for (i = 0; i < e->ntids; i++) {
        if (ngx_svc_same(&tid, &e->tids[i])) {
            return NGX_OK;
        }
    }

    return ngx_svc_id_token_refuse(t, "has a 'tid' that is not allowed");
}


ngx_uint_t
ngx_svc_id_token_issued(const ngx_str_t *issuer, const ngx_str_t *tid,
    const ngx_str_t *iss)
{
    u_char  *mark;
    size_t   before, after;

    mark = ngx_strnstr(issuer->data, NGX_SVC_ID_TOKEN_TID, issuer->len);

    if (mark == NULL) {
        return ngx_svc_same(issuer, iss);
    }

    before = mark - issuer->data;
    mark += sizeof(NGX_SVC_ID_TOKEN_TID) - 1;
    after = issuer->data + issuer->len - mark;

    return iss->len == before + tid->len + after
           && ngx_memcmp(iss->data, issuer->data, before) == 0
           && ngx_memcmp(iss->data + before, tid->data, tid->len) == 0
           && ngx_memcmp(iss->data + before + tid->len, mark, after) == 0;
}


static ngx_int_t
ngx_svc_id_token_aud(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    const cJSON  *aud;

    aud = cJSON_GetObjectItemCaseSensitive(t->claims, "aud");

    if (cJSON_IsArray(aud)) {
        return ngx_svc_id_token_listed(e, t, aud);
    }

    return ngx_svc_id_token_client(e, aud)
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has an 'aud' that is not the"
                                              " clientId");
}


static ngx_int_t
ngx_svc_id_token_listed(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t, const cJSON *aud)
{
    ngx_uint_t    found;
    const cJSON  *item;

    found = 0;

    cJSON_ArrayForEach(item, aud) {
        if (!cJSON_IsString(item)) {
            return ngx_svc_id_token_refuse(t, "has an 'aud' with an element"
                                           " that is not a string");
        }

        found |= ngx_svc_id_token_client(e, item);
    }

    if (!found) {
        return ngx_svc_id_token_refuse(t, "has an 'aud' without the clientId");
    }

    item = cJSON_GetObjectItemCaseSensitive(t->claims, "azp");

    return aud->child->next == NULL || ngx_svc_id_token_client(e, item)
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has an 'aud' of several"
                                              " clients, and an 'azp' that is"
                                              " not the clientId");
}


/* Returns 1 if the item, which may be NULL, is our client_id. */

static ngx_uint_t
ngx_svc_id_token_client(const ngx_svc_id_token_expected_t *e,
    const cJSON *item)
{
    ngx_str_t  text;

    if (!cJSON_IsString(item)) {
        return 0;
    }

    text.data = (u_char *) item->valuestring;
    text.len = ngx_strlen(item->valuestring);

    return text.len && ngx_svc_same(&text, &e->client_id);
}


static ngx_int_t
ngx_svc_id_token_exp(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    int64_t  exp;

    if (ngx_svc_jws_date(t->claims, "exp", &exp) != NGX_OK) {
        return ngx_svc_id_token_refuse(t, "has no 'exp' that is a number");
    }

    return exp > e->now - NGX_SVC_ID_TOKEN_DRIFT
           ? NGX_OK : ngx_svc_id_token_refuse(t, "is over by its 'exp'");
}


static ngx_int_t
ngx_svc_id_token_iat(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    int64_t  iat;

    if (ngx_svc_jws_date(t->claims, "iat", &iat) != NGX_OK) {
        return ngx_svc_id_token_refuse(t, "has no 'iat' that is a number");
    }

    if (iat < e->now - NGX_SVC_ID_TOKEN_AGE) {
        return ngx_svc_id_token_refuse(t, "has an 'iat' that is more than 600"
                                       " seconds ago");
    }

    return iat <= e->now + NGX_SVC_ID_TOKEN_DRIFT
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has an 'iat' that is more"
                                              " than 60 seconds ahead");
}


static ngx_int_t
ngx_svc_id_token_nbf(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    int64_t  nbf;

    return cJSON_GetObjectItemCaseSensitive(t->claims, "nbf") == NULL
           || (ngx_svc_jws_date(t->claims, "nbf", &nbf) == NGX_OK
               && nbf <= e->now + NGX_SVC_ID_TOKEN_DRIFT)
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has an 'nbf' that is more"
                                              " than 60 seconds ahead, or no"
                                              " number");
}


static ngx_int_t
ngx_svc_id_token_nonce(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    ngx_str_t  nonce;

    if (e->no_nonce
        && cJSON_GetObjectItemCaseSensitive(t->claims, "nonce") == NULL)
    {
        return NGX_OK;
    }

    return ngx_svc_jws_text(t->claims, "nonce", &nonce) == NGX_OK
           && nonce.len && nonce.len == e->nonce.len
           && ngx_svc_equal(nonce.data, e->nonce.data, nonce.len)
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has a 'nonce' that is not"
                                              " that of the request");
}


/*
 * Compares at_hash (OpenID Connect Core 1.0, 3.1.3.6): the left half of a hash
 * of the access token, whose name is in "alg".  That of Ed25519 is SHA-512.
 */

static ngx_int_t
ngx_svc_id_token_at_hash(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    u_char         digest[EVP_MAX_MD_SIZE];
    u_char         chars[ngx_svc_base64url_len(EVP_MAX_MD_SIZE)];
    ngx_str_t      at_hash, is;
    unsigned int   len;
    const EVP_MD  *hash;

    if (e->access_token.data == NULL
        || cJSON_GetObjectItemCaseSensitive(t->claims, "at_hash") == NULL)
    {
        return NGX_OK;
    }

    hash = t->jws.alg == NGX_SVC_JWA_ES384 ? EVP_sha384()
           : t->jws.alg == NGX_SVC_JWA_EDDSA ? EVP_sha512()
                                             : EVP_sha256();

    if (EVP_Digest(e->access_token.data, e->access_token.len, digest, &len,
                   hash, NULL)
        != 1)
    {
        ERR_clear_error();
        return NGX_ERROR;
    }

    is.data = chars;
    is.len = ngx_svc_base64url(chars, digest, len / 2) - chars;

    return ngx_svc_jws_text(t->claims, "at_hash", &at_hash) == NGX_OK
           && ngx_svc_same(&at_hash, &is)
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has an 'at_hash' that is not"
                                              " of its access token");
}


static ngx_int_t
ngx_svc_id_token_sub(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    if (!ngx_svc_id_token_text(t, "sub", &t->sub)) {
        return ngx_svc_id_token_refuse(t, "has no 'sub' of 1 to 255 bytes");
    }

    if (!ngx_svc_id_token_text(t, "sid", &t->sid)) {
        ngx_str_null(&t->sid);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_id_token_auth_time(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    int64_t  at;

    if (ngx_svc_jws_date(t->claims, "auth_time", &at) == NGX_OK && at > 0) {
        t->auth_time = ngx_min(at, e->now);
    }

    if (e->asked == 0) {
        return NGX_OK;
    }

    if (t->auth_time == 0) {
        return e->undated ? NGX_OK
                          : ngx_svc_id_token_refuse(t, "has no 'auth_time'");
    }

    return t->auth_time >= e->asked - NGX_SVC_ID_TOKEN_DRIFT
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has an 'auth_time' before"
                                              " that which was asked for");
}


static ngx_int_t
ngx_svc_logout_token_events(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    const cJSON  *events;

    events = cJSON_GetObjectItemCaseSensitive(t->claims, "events");

    return cJSON_IsObject(events)
           && cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(events,
                                                     NGX_SVC_ID_TOKEN_LOGOUT))
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has no 'events' with that of"
                                              " a logout");
}


/* An ID token with a nonce is never a logout token. */

static ngx_int_t
ngx_svc_logout_token_nonce(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    return cJSON_GetObjectItemCaseSensitive(t->claims, "nonce") == NULL
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has a 'nonce'");
}


static ngx_int_t
ngx_svc_logout_token_jti(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    return ngx_svc_id_token_text(t, "jti", &t->jti)
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has no 'jti' of 1 to 255"
                                              " bytes");
}


static ngx_int_t
ngx_svc_logout_token_who(const ngx_svc_id_token_expected_t *e,
    ngx_svc_id_token_t *t)
{
    if ((!ngx_svc_id_token_text(t, "sub", &t->sub)
         && cJSON_GetObjectItemCaseSensitive(t->claims, "sub"))
        || (!ngx_svc_id_token_text(t, "sid", &t->sid)
            && cJSON_GetObjectItemCaseSensitive(t->claims, "sid")))
    {
        return ngx_svc_id_token_refuse(t, "has a 'sub' or a 'sid' that is no"
                                       " string of 1 to 255 bytes");
    }

    return t->sub.data || t->sid.data
           ? NGX_OK : ngx_svc_id_token_refuse(t, "has neither a 'sub' nor a"
                                              " 'sid'");
}


ngx_uint_t
ngx_svc_id_token_true(const cJSON *claims, const char *name)
{
    const cJSON  *item;

    item = cJSON_GetObjectItemCaseSensitive(claims, name);

    return cJSON_IsTrue(item)
           || (cJSON_IsString(item)
               && ngx_strcmp(item->valuestring, "true") == 0);
}
