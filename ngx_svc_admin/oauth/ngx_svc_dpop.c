/*
 * DPoP proofs.
 */

#include "ngx_svc_dpop.h"
#include "ngx_svc_application_resource.h"
#include "ngx_svc_jws.h"


static ngx_int_t ngx_svc_dpop_claims(ngx_pool_t *pool, const cJSON *payload,
    const ngx_svc_dpop_expect_t *expect, ngx_svc_dpop_t *dpop,
    ngx_str_t *jti, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_dpop_time(const cJSON *payload, time_t now,
    ngx_svc_dpop_t *dpop, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_dpop_is_htu(ngx_pool_t *pool, const cJSON *payload,
    const ngx_svc_dpop_expect_t *expect, ngx_svc_error_t *err);
static ngx_uint_t ngx_svc_dpop_below(const ngx_str_t *htu,
    const ngx_svc_dpop_expect_t *expect);
static ngx_int_t ngx_svc_dpop_is_ath(const cJSON *payload,
    const ngx_str_t *token, ngx_svc_error_t *err);
static ngx_uint_t ngx_svc_dpop_same(const cJSON *payload, const char *name,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_dpop_signed(const ngx_svc_jws_t *jws,
    ngx_svc_dpop_t *dpop, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_dpop_once(ngx_svc_dpop_t *dpop, const ngx_str_t *jti);
static ngx_int_t ngx_svc_dpop_refuse(ngx_svc_error_t *err, const char *why);


ngx_int_t
ngx_svc_dpop_htu(const ngx_str_t *uri, ngx_str_t *htu)
{
    ngx_str_t  str;

    str.data = uri->data;

    for (str.len = 0; str.len < uri->len; str.len++) {
        if (uri->data[str.len] == '?' || uri->data[str.len] == '#') {
            break;
        }
    }

    return ngx_svc_application_resource(&str, htu);
}


ngx_int_t
ngx_svc_dpop_check(ngx_pool_t *pool, const ngx_str_t *proof,
    const ngx_svc_dpop_expect_t *expect, ngx_svc_dpop_t *dpop,
    ngx_svc_error_t *err)
{
    ngx_int_t      rc;
    ngx_str_t      jti;
    ngx_svc_jws_t  jws;

    rc = ngx_svc_jws_parse(pool, proof, &jws);

    if (rc == NGX_DECLINED) {
        return ngx_svc_dpop_refuse(err, jws.why);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (jws.typ.len != sizeof("dpop+jwt") - 1
        || ngx_memcmp(jws.typ.data, "dpop+jwt", jws.typ.len) != 0)
    {
        return ngx_svc_dpop_refuse(err, "has a 'typ' that is not 'dpop+jwt'");
    }

    rc = ngx_svc_dpop_claims(pool, jws.payload, expect, dpop, &jti, err);

    if (rc == NGX_OK) {
        rc = ngx_svc_dpop_signed(&jws, dpop, err);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_dpop_once(dpop, &jti);
    }

    return rc;
}


static ngx_int_t
ngx_svc_dpop_claims(ngx_pool_t *pool, const cJSON *payload,
    const ngx_svc_dpop_expect_t *expect, ngx_svc_dpop_t *dpop, ngx_str_t *jti,
    ngx_svc_error_t *err)
{
    ngx_int_t  rc;

    if (ngx_svc_jws_text(payload, "jti", jti) != NGX_OK || jti->len == 0
        || jti->len > NGX_SVC_DPOP_JTI)
    {
        return ngx_svc_dpop_refuse(err, "has no 'jti' of 1 to 128 bytes");
    }

    if (!ngx_svc_dpop_same(payload, "htm", &expect->method)) {
        return ngx_svc_dpop_refuse(err, "has an 'htm' that is not the"
                                   " request's method");
    }

    rc = ngx_svc_dpop_is_htu(pool, payload, expect, err);

    if (rc == NGX_OK) {
        rc = ngx_svc_dpop_time(payload, expect->now, dpop, err);
    }

    if (rc == NGX_OK && expect->token.data) {
        rc = ngx_svc_dpop_is_ath(payload, &expect->token, err);
    }

    return rc;
}


static ngx_int_t
ngx_svc_dpop_is_htu(ngx_pool_t *pool, const cJSON *payload,
    const ngx_svc_dpop_expect_t *expect, ngx_svc_error_t *err)
{
    ngx_str_t         uri, htu;
    const ngx_str_t  *expected;

    expected = &expect->htu;

    if (ngx_svc_jws_text(payload, "htu", &uri) == NGX_OK && uri.data) {

        htu.data = ngx_pnalloc(pool, uri.len + 1);
        if (htu.data == NULL) {
            return NGX_ERROR;
        }

        if (ngx_svc_dpop_htu(&uri, &htu) == NGX_OK
            && ((htu.len == expected->len
                 && ngx_memcmp(htu.data, expected->data, htu.len) == 0)
                || ngx_svc_dpop_below(&htu, expect)))
        {
            return NGX_OK;
        }
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                        "The DPoP proof has an 'htu' that is not '%V'.",
                        expected);
}


/*
 * Returns 1 if htu is the expected URI, but below the issuer of a tenant that
 * the client may mean.
 */

static ngx_uint_t
ngx_svc_dpop_below(const ngx_str_t *htu, const ngx_svc_dpop_expect_t *expect)
{
    u_char  *p, *slug, *end;
    size_t   rest;

    if (expect->below == 0 || htu->len < expect->below + sizeof("/t/") - 1
        || ngx_memcmp(htu->data, expect->htu.data, expect->below) != 0
        || ngx_memcmp(htu->data + expect->below, "/t/", sizeof("/t/") - 1)
           != 0)
    {
        return 0;
    }

    slug = htu->data + expect->below + sizeof("/t/") - 1;
    end = htu->data + htu->len;
    p = ngx_strlchr(slug, end, '/');
    rest = expect->htu.len - expect->below;

    if (p == NULL || p == slug || (size_t) (end - p) != rest
        || ngx_memcmp(p, expect->htu.data + expect->below, rest) != 0)
    {
        return 0;
    }

    return expect->slug.len == 0
           || (expect->slug.len == (size_t) (p - slug)
               && ngx_memcmp(expect->slug.data, slug, p - slug) == 0);
}


static ngx_int_t
ngx_svc_dpop_time(const cJSON *payload, time_t now, ngx_svc_dpop_t *dpop,
    ngx_svc_error_t *err)
{
    int64_t  iat;

    if (ngx_svc_jws_date(payload, "iat", &iat) != NGX_OK) {
        return ngx_svc_dpop_refuse(err, "has no 'iat' that is a number");
    }

    if (ngx_svc_jws_text(payload, "nonce", &dpop->nonce) != NGX_OK) {
        return ngx_svc_dpop_refuse(err, "has a 'nonce' that is not a string");
    }

    dpop->iat = (time_t) iat;
    dpop->stale = iat < now - NGX_SVC_DPOP_DRIFT
                  || iat > now + NGX_SVC_DPOP_DRIFT;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_dpop_is_ath(const cJSON *payload, const ngx_str_t *token,
    ngx_svc_error_t *err)
{
    u_char     digest[NGX_SVC_SHA256_LEN];
    u_char     text[ngx_svc_base64url_len(NGX_SVC_SHA256_LEN)];
    ngx_str_t  ath;

    if (ngx_svc_sha256(token->data, token->len, digest) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(text, digest, sizeof(digest));

    ath.data = text;
    ath.len = sizeof(text);

    if (!ngx_svc_dpop_same(payload, "ath", &ath)) {
        return ngx_svc_dpop_refuse(err, "has an 'ath' that is not of the"
                                   " access token");
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_dpop_same(const cJSON *payload, const char *name,
    const ngx_str_t *value)
{
    ngx_str_t  text;

    return ngx_svc_jws_text(payload, name, &text) == NGX_OK
           && text.data && text.len == value->len
           && ngx_memcmp(text.data, value->data, text.len) == 0;
}


static ngx_int_t
ngx_svc_dpop_signed(const ngx_svc_jws_t *jws, ngx_svc_dpop_t *dpop,
    ngx_svc_error_t *err)
{
    EVP_PKEY       *key;
    ngx_int_t       rc;
    ngx_svc_jwa_e   alg;

    rc = ngx_svc_jwk_public(cJSON_GetObjectItemCaseSensitive(jws->header,
                                                             "jwk"),
                            &key, &alg, dpop->jkt);

    if (rc == NGX_DECLINED) {
        return ngx_svc_dpop_refuse(err, "has no 'jwk' that is a public key of"
                                   " P-256 or Ed25519");
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_jws_verify(jws, key, alg);
    }

    EVP_PKEY_free(key);

    if (rc == NGX_DECLINED) {
        return ngx_svc_dpop_refuse(err, "has a signature that is not of its"
                                   " 'jwk'");
    }

    return rc;
}


static ngx_int_t
ngx_svc_dpop_once(ngx_svc_dpop_t *dpop, const ngx_str_t *jti)
{
    u_char  text[NGX_SVC_JWK_THUMBPRINT + NGX_SVC_DPOP_JTI], *p;

    p = ngx_cpymem(text, dpop->jkt, sizeof(dpop->jkt));
    p = ngx_cpymem(p, jti->data, jti->len);

    return ngx_svc_sha256(text, p - text, dpop->once);
}


static ngx_int_t
ngx_svc_dpop_refuse(ngx_svc_error_t *err, const char *why)
{
    return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST, "The DPoP proof %s.",
                        why);
}
