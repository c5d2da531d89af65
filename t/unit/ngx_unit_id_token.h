/*
 * ID tokens and logout tokens of an identity provider, good ones and others.
 */

#ifndef _NGX_UNIT_ID_TOKEN_H_INCLUDED_
#define _NGX_UNIT_ID_TOKEN_H_INCLUDED_


#include "ngx_unit_foreign.h"
#include "ngx_svc_id_token.h"


#define NOW       1800000000

#define NO_AUD    "has an 'aud' that is not the clientId"
#define NO_AZP    "has an 'aud' of several clients, and an 'azp' that is not" \
                  " the clientId"
#define NO_ALG    "has an 'alg' that is none of RS256, PS256, ES256, ES384,"  \
                  " EdDSA and Ed25519"
#define NO_FIT    "has an 'alg' that its key is not for"
#define NO_KID    "has a 'kid' that no key has"
#define NO_SIGN   "has a signature that is not of its key"
#define NO_EXP    "has no 'exp' that is a number"
#define NO_IAT    "has no 'iat' that is a number"
#define OVER      "is over by its 'exp'"
#define OLD       "has an 'iat' that is more than 600 seconds ago"
#define AHEAD     "has an 'iat' that is more than 60 seconds ahead"
#define NO_NBF    "has an 'nbf' that is more than 60 seconds ahead, or no"    \
                  " number"
#define NO_ISS    "has an 'iss' that is not the provider's"
#define NO_NONCE  "has a 'nonce' that is not that of the request"
#define NO_HASH   "has an 'at_hash' that is not of its access token"
#define NO_SUB    "has no 'sub' of 1 to 255 bytes"
#define NO_AUTH   "has no 'auth_time'"
#define STALE     "has an 'auth_time' before that which was asked for"

#define BYTES_16  "0123456789abcdef"
#define BYTES_240                                                             \
    BYTES_16 BYTES_16 BYTES_16 BYTES_16 BYTES_16 BYTES_16 BYTES_16 BYTES_16   \
    BYTES_16 BYTES_16 BYTES_16 BYTES_16 BYTES_16 BYTES_16 BYTES_16


typedef struct {
    const char  *name;
    const char  *value;         /* NULL: there is no such member */
    const char  *why;           /* NULL: the token is good */
} claim_row_t;


static EVP_PKEY  *rsa;
static EVP_PKEY  *other;
static EVP_PKEY  *p256;
static EVP_PKEY  *p384;
static EVP_PKEY  *ed25519;

/* what the expected token has */

static const claim_row_t  base[] = {
    { "iss", "\"https://idp.example\"", NULL },
    { "aud", "\"client\"", NULL },
    { "exp", "1800000300", NULL },
    { "iat", "1800000000", NULL },
    { "nonce", "\"n-0S6_WzA2Mj\"", NULL },
    { "sub", "\"248289761001\"", NULL },
    { NULL, NULL, NULL }
};

static const claim_row_t  logout_base[] = {
    { "iss", "\"https://idp.example\"", NULL },
    { "aud", "\"client\"", NULL },
    { "exp", "1800000120", NULL },
    { "iat", "1800000000", NULL },
    { "jti", "\"bWJq\"", NULL },
    { "sub", "\"248289761001\"", NULL },
    { "sid", "\"08a5019c\"", NULL },
    { "events", "{\"http://schemas.openid.net/event/backchannel-logout\":{}}",
      NULL },
    { NULL, NULL, NULL }
};

static const ngx_svc_id_token_expected_t  usual = {
    .issuer = ngx_string("https://idp.example"),
    .client_id = ngx_string("client"),
    .nonce = ngx_string("n-0S6_WzA2Mj"),
    .now = NOW
};


static inline int
make(void **state)
{
    rsa = EVP_RSA_gen(2048);
    other = EVP_RSA_gen(2048);
    p256 = EVP_EC_gen("P-256");
    p384 = EVP_EC_gen("P-384");
    ed25519 = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");

    return !(rsa && other && p256 && p384 && ed25519);
}


static inline int
forget(void **state)
{
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(other);
    EVP_PKEY_free(p256);
    EVP_PKEY_free(p384);
    EVP_PKEY_free(ed25519);

    return 0;
}


/* Returns the members with another value for one, or with one more. */

static inline char *
claims(ngx_pool_t *pool, const claim_row_t *of, const char *name,
    const char *value)
{
    char         *text, *p;
    ngx_uint_t    i, found;
    const char   *is;

    p = text = ngx_palloc(pool, 4096);
    *p++ = '{';
    found = name == NULL;

    for (i = 0; of[i].name; i++) {
        is = of[i].value;

        if (name && strcmp(of[i].name, name) == 0) {
            is = value;
            found = 1;
        }

        if (is) {
            p += sprintf(p, "\"%s\":%s,", of[i].name, is);
        }
    }

    if (!found && value) {
        p += sprintf(p, "\"%s\":%s,", name, value);
    }

    strcpy(p - (p[-1] == ','), "}");

    return text;
}


/* Returns a key set of JWKs, whose last one is NULL. */

static inline char *
key_set(ngx_pool_t *pool, const char *jwk, ...)
{
    char     *text, *p;
    va_list   args;

    p = text = ngx_palloc(pool, 16384);
    p += sprintf(p, "{\"keys\":[");

    va_start(args, jwk);

    for ( /* void */ ; jwk; jwk = va_arg(args, const char *)) {
        p += sprintf(p, "%s,", jwk);
    }

    va_end(args);

    strcpy(p - (p[-1] == ','), "]}");

    return text;
}


static inline char *
one_key(ngx_pool_t *pool, EVP_PKEY *key)
{
    return key_set(pool, foreign_jwk(pool, key, "\"kid\":\"k\""), NULL);
}


static inline ngx_int_t
check(ngx_pool_t *pool, const char *text, const char *jwks,
    const ngx_svc_id_token_expected_t *expected, ngx_svc_id_token_t *token)
{
    ngx_int_t  rc;
    ngx_str_t  str, keys;

    str.data = (u_char *) text;
    str.len = strlen(text);
    keys.data = (u_char *) jwks;
    keys.len = strlen(jwks);

    rc = ngx_svc_id_token_check(pool, &str, &keys, expected, token);

    assert_int_equal(ERR_peek_error(), 0);
    assert_int_equal(token->why != NULL, rc == NGX_DECLINED || rc == NGX_AGAIN);

    return rc;
}


static inline void
refused(ngx_pool_t *pool, const char *text, const char *jwks,
    const ngx_svc_id_token_expected_t *expected, ngx_int_t rc, const char *why)
{
    ngx_int_t           is;
    ngx_svc_id_token_t  token;

    is = check(pool, text, jwks, expected, &token);

    if (is != (why ? rc : NGX_OK)
        || (why && (token.why == NULL || strcmp(token.why, why) != 0)))
    {
        fail_msg("%d \"%s\", not %d \"%s\": %s", (int) is,
                 token.why ? token.why : "", (int) rc, why ? why : "",
                 token.claims ? cJSON_PrintUnformatted(token.claims) : text);
    }
}


static inline char *
signed_by(ngx_pool_t *pool, EVP_PKEY *key, const char *payload)
{
    return foreign_sign(pool, key, "RS256", "{\"alg\":\"RS256\","
                        "\"kid\":\"k\"}", payload);
}


#endif /* _NGX_UNIT_ID_TOKEN_H_INCLUDED_ */
