/*
 * Tokens that other identity providers sign for us, and the keys for them.
 */

#include "ngx_unit_foreign.h"
#include "ngx_svc_id_token.h"
#include "ngx_svc_oidc_jwks.h"


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


static int
make(void **state)
{
    rsa = EVP_RSA_gen(2048);
    other = EVP_RSA_gen(2048);
    p256 = EVP_EC_gen("P-256");
    p384 = EVP_EC_gen("P-384");
    ed25519 = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");

    return !(rsa && other && p256 && p384 && ed25519);
}


static int
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

static char *
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

static char *
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


static char *
one_key(ngx_pool_t *pool, EVP_PKEY *key)
{
    return key_set(pool, foreign_jwk(pool, key, "\"kid\":\"k\""), NULL);
}


static ngx_int_t
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


static void
refused(ngx_pool_t *pool, const char *text, const char *jwks,
    const ngx_svc_id_token_expected_t *expected, ngx_int_t rc, const char *why)
{
    ngx_int_t           is;
    ngx_svc_id_token_t  token;

    is = check(pool, text, jwks, expected, &token);

    if (is != (why ? rc : NGX_OK)
        || (why && (token.why == NULL || strcmp(token.why, why) != 0)))
    {
        fail_msg("%d \"%s\", not %d \"%s\": %s", (int) is, token.why,
                 (int) rc, why,
                 token.claims ? cJSON_PrintUnformatted(token.claims) : text);
    }
}


static char *
signed_by(ngx_pool_t *pool, EVP_PKEY *key, const char *payload)
{
    return foreign_sign(pool, key, "RS256", "{\"alg\":\"RS256\","
                        "\"kid\":\"k\"}", payload);
}


/* One claim of a good token is another one, or missing. */

static void
test_claims(void **state)
{
    char        *jwks;
    ngx_uint_t   i;

    static const claim_row_t  rows[] = {
        { "x", "1", NULL },

        { "iss", NULL, "has no 'iss'" }, { "iss", "\"\"", "has no 'iss'" },
        { "iss", "[\"https://idp.example\"]", "has no 'iss'" },
        { "iss", "\"https://idp.example/\"", NO_ISS },
        { "iss", "\"https://IDP.example\"", NO_ISS },
        { "iss", "\"https://idp.exampl\"", NO_ISS },
        { "iss", "\"http://idp.example\"", NO_ISS },

        { "aud", "[\"client\"]", NULL },
        { "aud", NULL, NO_AUD }, { "aud", "\"\"", NO_AUD },
        { "aud", "\"Client\"", NO_AUD }, { "aud", "\"client2\"", NO_AUD },
        { "aud", "{\"client\":1}", NO_AUD }, { "aud", "null", NO_AUD },
        { "aud", "[]", "has an 'aud' without the clientId" },
        { "aud", "[\"x\"]", "has an 'aud' without the clientId" },
        { "aud", "[\"x\",\"y\"]", "has an 'aud' without the clientId" },
        { "aud", "[[\"client\"]]", "has an 'aud' with an element that is not a"
          " string" },
        { "aud", "[\"client\",1]", "has an 'aud' with an element that is not a"
          " string" },
        { "aud", "[\"client\",\"x\"]", NO_AZP },
        { "aud", "[\"x\",\"client\"]", NO_AZP },
        { "aud", "[\"client\",\"client\"]", NO_AZP },
        { "aud", "[\"x\",\"client\"],\"azp\":\"client\"", NULL },
        { "aud", "[\"client\",\"x\"],\"azp\":\"x\"", NO_AZP },
        { "aud", "[\"client\",\"x\"],\"azp\":[\"client\"]", NO_AZP },
        { "aud", "[\"x\",\"y\"],\"azp\":\"client\"",
          "has an 'aud' without the clientId" },
        { "azp", "\"x\"", NULL },

        { "exp", NULL, NO_EXP }, { "exp", "\"1800000300\"", NO_EXP },
        { "exp", "null", NO_EXP }, { "exp", "1e300", NO_EXP },
        { "exp", "1799999941", NULL }, { "exp", "1799999940", OVER },
        { "exp", "1799999940.9", OVER }, { "exp", "1799999939", OVER },
        { "exp", "-1", OVER }, { "exp", "0", OVER },
        { "exp", "18000000000", NULL },

        { "iat", NULL, NO_IAT }, { "iat", "\"1800000000\"", NO_IAT },
        { "iat", "true", NO_IAT },
        { "iat", "1799999400", NULL }, { "iat", "1799999399", OLD },
        { "iat", "1800000060", NULL }, { "iat", "1800000060.5", NULL },
        { "iat", "1800000061", AHEAD },

        { "nbf", "1800000060", NULL }, { "nbf", "0", NULL },
        { "nbf", "1800000061", NO_NBF }, { "nbf", "\"0\"", NO_NBF },
        { "nbf", "null", NO_NBF },

        { "nonce", NULL, NO_NONCE }, { "nonce", "\"\"", NO_NONCE },
        { "nonce", "\"n-0S6_WzA2Mk\"", NO_NONCE },
        { "nonce", "\"n-0S6_WzA2M\"", NO_NONCE },
        { "nonce", "\"n-0S6_WzA2Mj \"", NO_NONCE },
        { "nonce", "[\"n-0S6_WzA2Mj\"]", NO_NONCE },
        { "nonce", "null", NO_NONCE },

        { "at_hash", "\"x\"", NULL },

        { "sub", NULL, NO_SUB }, { "sub", "\"\"", NO_SUB },
        { "sub", "248289761001", NO_SUB }, { "sub", "null", NO_SUB },
        { "sub", "\"" BYTES_240 "0123456789abcde\"", NULL },
        { "sub", "\"" BYTES_240 BYTES_16 "\"", NO_SUB },
        { "sid", "1", NULL }, { "auth_time", "\"x\"", NULL },
    };

    jwks = one_key(*state, rsa);

    for (i = 0; i < ngx_unit_len(rows); i++) {
        refused(*state, signed_by(*state, rsa, claims(*state, base,
                                                      rows[i].name,
                                                      rows[i].value)),
                jwks, &usual, NGX_DECLINED, rows[i].why);
    }
}


static void
test_result(void **state)
{
    char                         *jwks;
    ngx_svc_id_token_t            token;
    ngx_svc_id_token_expected_t   none;

    jwks = one_key(*state, rsa);

    assert_int_equal(check(*state, signed_by(*state, rsa, claims(*state, base,
                                             "auth_time", "1799990000.7")),
                           jwks, &usual, &token), NGX_OK);
    assert_string_equal((char *) token.sub.data, "248289761001");
    assert_int_equal(token.sub.len, 12);
    assert_null(token.sid.data);
    assert_int_equal(token.auth_time, 1799990000);
    assert_int_equal(token.jws.alg, NGX_SVC_JWA_RS256);
    assert_string_equal(ngx_svc_jwk_string(token.claims, "iss"),
                        "https://idp.example");

    assert_int_equal(check(*state, signed_by(*state, rsa, claims(*state, base,
                                             "sid", "\"s\"")),
                           jwks, &usual, &token), NGX_OK);
    assert_string_equal((char *) token.sid.data, "s");
    assert_int_equal(token.auth_time, 0);

    /* nothing is expected: nothing is equal to it */

    memset(&none, 0, sizeof(none));
    none.now = NOW;

    refused(*state, signed_by(*state, rsa, claims(*state, base, NULL, NULL)),
            jwks, &none, NGX_DECLINED, NO_ISS);

    none.issuer = usual.issuer;
    refused(*state, signed_by(*state, rsa, claims(*state, base, "aud",
                                                  "\"\"")),
            jwks, &none, NGX_DECLINED, NO_AUD);

    none.client_id = usual.client_id;
    refused(*state, signed_by(*state, rsa, claims(*state, base, "nonce",
                                                  "\"\"")),
            jwks, &none, NGX_DECLINED, NO_NONCE);
}


/* All is wrong, and is mended one by one: what is told is the first failure. */

static void
test_order(void **state)
{
    char                         *jwks, *p, payload[1024];
    ngx_uint_t                    i, k;
    ngx_svc_id_token_expected_t   e;

    static const struct {
        const char  *name;
        const char  *wrong;
        const char  *right;
        const char  *why;
    } rows[] = {
        { "iss", "\"x\"", "\"https://idp.example\"", NO_ISS },
        { "aud", "\"x\"", "\"client\"", NO_AUD },
        { "exp", "1", "1800000300", OVER },
        { "iat", "1", "1800000000", OLD },
        { "nbf", "1900000000", "1", NO_NBF },
        { "nonce", "\"x\"", "\"n-0S6_WzA2Mj\"", NO_NONCE },
        { "at_hash", "\"x\"", "\"77QmUPtjPfzWtF2AnpK9RQ\"", NO_HASH },
        { "sub", "\"\"", "\"248289761001\"", NO_SUB },
        { "auth_time", "1", "1800000000", STALE },
        { NULL, NULL, NULL, NULL }
    };

    e = usual;
    e.asked = NOW;

    /* OpenID Connect Core 1.0, A.3 */

    ngx_str_set(&e.access_token, "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y");

    jwks = one_key(*state, rsa);

    for (k = 0; k < ngx_unit_len(rows); k++) {
        p = payload;

        for (i = 0; rows[i].name; i++) {
            p += sprintf(p, "%c\"%s\":%s", i ? ',' : '{', rows[i].name,
                         i < k ? rows[i].right : rows[i].wrong);
        }

        strcpy(p, "}");

        /* the signature comes before all of them, and the key before it */

        refused(*state, signed_by(*state, other, payload), jwks, &e,
                NGX_DECLINED, NO_SIGN);
        refused(*state, signed_by(*state, rsa, payload), jwks, &e,
                NGX_DECLINED, rows[k].why);
    }

    refused(*state, foreign_sign(*state, other, "RS256", "{\"alg\":\"RS256\","
                                 "\"kid\":\"x\"}", payload),
            jwks, &e, NGX_AGAIN, NO_KID);
    refused(*state, foreign_sign(*state, other, "RS256", "{\"alg\":\"RS384\","
                                 "\"kid\":\"x\"}", payload),
            jwks, &e, NGX_DECLINED, NO_ALG);
    refused(*state, "a.b", jwks, &e, NGX_DECLINED,
            "is not a JWS of three parts");
}


static void
test_algs(void **state)
{
    char                         *payload, header[64];
    u_char                        digest[EVP_MAX_MD_SIZE], hash[128], *p;
    ngx_uint_t                    i;
    unsigned                      len;
    ngx_svc_id_token_expected_t   e;

    const struct {
        EVP_PKEY      *key;
        const char    *alg;
        const EVP_MD  *md;
    } rows[] = {
        { rsa, "RS256", EVP_sha256() }, { rsa, "PS256", EVP_sha256() },
        { p256, "ES256", EVP_sha256() }, { p384, "ES384", EVP_sha384() },
        { ed25519, "EdDSA", EVP_sha512() }
    };

    e = usual;
    ngx_str_set(&e.access_token, "token");

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(EVP_Digest("token", 5, digest, &len, rows[i].md,
                                    NULL), 1);

        hash[0] = '"';
        p = ngx_svc_base64url(hash + 1, digest, len / 2);
        p[0] = '"';
        p[1] = '\0';

        sprintf(header, "{\"alg\":\"%s\",\"kid\":\"k\"}", rows[i].alg);

        payload = claims(*state, base, "at_hash", (char *) hash);
        refused(*state, foreign_sign(*state, rows[i].key, rows[i].alg, header,
                                     payload),
                one_key(*state, rows[i].key), &e, NGX_OK, NULL);

        p[-1] ^= 1;
        payload = claims(*state, base, "at_hash", (char *) hash);
        refused(*state, foreign_sign(*state, rows[i].key, rows[i].alg, header,
                                     payload),
                one_key(*state, rows[i].key), &e, NGX_DECLINED, NO_HASH);
    }

    refused(*state, signed_by(*state, rsa, claims(*state, base, "at_hash",
                                                  "1")),
            one_key(*state, rsa), &e, NGX_DECLINED, NO_HASH);
    refused(*state, signed_by(*state, rsa, claims(*state, base, NULL, NULL)),
            one_key(*state, rsa), &e, NGX_OK, NULL);
}


/* One key's text is used as another kind of key, or a key comes along. */

static void
test_confusion(void **state)
{
    char        *jwks, *good, *token, *dot, header[2048];
    ngx_uint_t   i;

    static const char *const  headers[] = {
        "\"jku\":\"https://evil.example/jwks\"",
        "\"x5u\":\"https://evil.example/cert\"", "\"x5c\":[\"MII\"]",
        "\"typ\":\"at+jwt\"", "\"b64\":false"
    };

    jwks = one_key(*state, rsa);
    good = claims(*state, base, NULL, NULL);

    /* HS256 with the text of the RSA key, and with its header changed */

    refused(*state, foreign_sign(*state, rsa, "HS256", "{\"alg\":\"HS256\","
                                 "\"kid\":\"k\"}", good),
            jwks, &usual, NGX_DECLINED, NO_ALG);
    refused(*state, foreign_sign(*state, rsa, "HS256", "{\"alg\":\"RS256\","
                                 "\"kid\":\"k\"}", good),
            jwks, &usual, NGX_DECLINED,
            "has a signature that is not 256 to 1024 bytes in base64url");

    /* none, with and without a signature */

    token = foreign_sign(*state, rsa, "RS256", "{\"alg\":\"none\","
                         "\"kid\":\"k\"}", good);
    refused(*state, token, jwks, &usual, NGX_DECLINED, NO_ALG);
    strrchr(token, '.')[1] = '\0';
    refused(*state, token, jwks, &usual, NGX_DECLINED, NO_ALG);

    /* another kind of key with the kid, and another padding */

    refused(*state, foreign_sign(*state, p256, "ES256", "{\"alg\":\"ES256\","
                                 "\"kid\":\"k\"}", good),
            jwks, &usual, NGX_DECLINED, NO_FIT);
    refused(*state, signed_by(*state, rsa, good), one_key(*state, p256),
            &usual, NGX_DECLINED, NO_FIT);
    refused(*state, foreign_sign(*state, rsa, "PS256", "{\"alg\":\"PS256\","
                                 "\"kid\":\"k\"}", good),
            key_set(*state, foreign_jwk(*state, rsa, "\"kid\":\"k\","
                                        "\"alg\":\"RS256\""), NULL),
            &usual, NGX_DECLINED, NO_FIT);
    refused(*state, foreign_sign(*state, rsa, "PS256", "{\"alg\":\"RS256\","
                                 "\"kid\":\"k\"}", good),
            jwks, &usual, NGX_DECLINED, NO_SIGN);
    refused(*state, foreign_sign(*state, p384, "ES384", "{\"alg\":\"ES384\","
                                 "\"kid\":\"k\"}", good),
            one_key(*state, p256), &usual, NGX_DECLINED, NO_FIT);

    /* a header names a key of its own: that is no key */

    for (i = 0; i < ngx_unit_len(headers); i++) {
        sprintf(header, "{\"alg\":\"RS256\",\"kid\":\"k\",%s}", headers[i]);

        refused(*state, foreign_sign(*state, other, "RS256", header, good),
                jwks, &usual, NGX_DECLINED, NO_SIGN);
        refused(*state, foreign_sign(*state, rsa, "RS256", header, good),
                jwks, &usual, NGX_OK, NULL);
    }

    sprintf(header, "{\"alg\":\"RS256\",\"jwk\":%s}",
            foreign_jwk(*state, other, ""));
    refused(*state, foreign_sign(*state, other, "RS256", header, good), jwks,
            &usual, NGX_AGAIN, NO_SIGN);
    refused(*state, foreign_sign(*state, rsa, "RS256", header, good), jwks,
            &usual, NGX_OK, NULL);

    refused(*state, foreign_sign(*state, rsa, "RS256", "{\"alg\":\"RS256\","
                                 "\"kid\":\"k\",\"crit\":[\"b64\"]}", good),
            jwks, &usual, NGX_DECLINED, "has a 'crit' in its header");

    /* a payload of another token */

    token = signed_by(*state, rsa, good);
    dot = strchr(token, '.');
    dot[1] ^= 1;
    refused(*state, token, jwks, &usual, NGX_DECLINED,
            "has a payload that is not a JSON object in base64url");

    dot[1] ^= 1;
    dot = strrchr(token, '.');
    dot[1] = dot[1] == 'A' ? 'B' : 'A';
    refused(*state, token, jwks, &usual, NGX_DECLINED, NO_SIGN);
}


static void
test_kids(void **state)
{
    char        *good, *with, *without, *k1, *k2, *bare, *bare2, *ec;
    ngx_uint_t   i;

    static const char *const  none[] = {
        "", "{}", "{\"keys\":{}}", "{\"keys\":[]}", "[]", "<html>",
        "{\"keys\":[1,null,[],\"k\"]}", "{\"keys\":[{}]}"
    };

    good = claims(*state, base, NULL, NULL);
    with = signed_by(*state, rsa, good);
    without = foreign_sign(*state, rsa, "RS256", "{\"alg\":\"RS256\"}", good);

    k1 = foreign_jwk(*state, rsa, "\"kid\":\"k\"");
    k2 = foreign_jwk(*state, other, "\"kid\":\"k2\"");
    bare = foreign_jwk(*state, rsa, "");
    bare2 = foreign_jwk(*state, other, "");
    ec = foreign_jwk(*state, p256, "\"kid\":\"k\"");

    refused(*state, with, key_set(*state, k2, k1, NULL), &usual, NGX_OK, NULL);

    /* the caller may fetch the key set again */

    refused(*state, with, key_set(*state, k2, NULL), &usual, NGX_AGAIN, NO_KID);
    refused(*state, with, key_set(*state, bare, NULL), &usual, NGX_AGAIN,
            NO_KID);
    refused(*state, with, key_set(*state, foreign_jwk(*state, rsa,
                                  "\"kid\":\"k\",\"use\":\"enc\""), k2, NULL),
            &usual, NGX_AGAIN, NO_KID);
    refused(*state, with, key_set(*state, foreign_jwk(*state, rsa,
                                  "\"kid\":\"K\""), NULL),
            &usual, NGX_AGAIN, NO_KID);
    refused(*state, with, key_set(*state, foreign_jwk(*state, rsa,
                                  "\"kid\":[\"k\"]"), NULL),
            &usual, NGX_AGAIN, NO_KID);

    for (i = 0; i < ngx_unit_len(none); i++) {
        refused(*state, with, none[i], &usual, NGX_AGAIN, NO_KID);
        refused(*state, without, none[i], &usual, NGX_AGAIN,
                "has no 'kid', and there is no key");
    }

    /* twice: of two kinds the one that fits is meant */

    refused(*state, with, key_set(*state, k1, k1, NULL), &usual, NGX_DECLINED,
            "has a 'kid' that several keys have");
    refused(*state, with, key_set(*state, foreign_jwk(*state, other,
                                  "\"kid\":\"k\""), k1, NULL),
            &usual, NGX_DECLINED, "has a 'kid' that several keys have");
    refused(*state, with, key_set(*state, ec, k1, NULL), &usual, NGX_OK, NULL);
    refused(*state, with, key_set(*state, k1, ec, NULL), &usual, NGX_OK, NULL);
    refused(*state, with, key_set(*state, foreign_jwk(*state, other,
                                  "\"kid\":\"k\",\"alg\":\"PS256\""),
                                  foreign_jwk(*state, rsa, "\"kid\":\"k\","
                                  "\"alg\":\"RS256\""), NULL),
            &usual, NGX_OK, NULL);

    /* without a kid the only key is meant */

    refused(*state, without, key_set(*state, k1, NULL), &usual, NGX_OK, NULL);
    refused(*state, without, key_set(*state, bare, NULL), &usual, NGX_OK, NULL);
    refused(*state, without, key_set(*state, bare, foreign_jwk(*state, other,
                                     "\"use\":\"enc\""), NULL),
            &usual, NGX_OK, NULL);
    refused(*state, without, key_set(*state, bare2, NULL), &usual, NGX_AGAIN,
            NO_SIGN);
    refused(*state, without, key_set(*state, ec, NULL), &usual, NGX_DECLINED,
            NO_FIT);
    refused(*state, without, key_set(*state, bare, bare2, NULL), &usual,
            NGX_DECLINED, "has no 'kid', and there are several keys");
    refused(*state, without, key_set(*state, bare, ec, NULL), &usual,
            NGX_DECLINED, "has no 'kid', and there are several keys");
    refused(*state, foreign_sign(*state, rsa, "RS256", "{\"alg\":\"RS256\","
                                 "\"kid\":1}", good),
            key_set(*state, bare, NULL), &usual, NGX_DECLINED,
            "has a 'kid' that is not a string");
}


/* Microsoft's iss, tid, and keys that are for one tenant. */

#define TID_A     "11111111-2222-3333-4444-555555555555"
#define TID_B     "9188040d-6c67-4c5b-b112-36a304b66dad"
#define MS(tid)   "https://login.microsoftonline.com/" tid "/v2.0"

static void
test_microsoft(void **state)
{
    char                         *jwks;
    ngx_uint_t                    i;
    ngx_svc_id_token_expected_t   e;

    static const ngx_str_t  tids[] = {
        ngx_string("00000000-0000-0000-0000-000000000000"), ngx_string(TID_A),
        ngx_string(TID_B)
    };

    static const struct {
        const char  *iss;
        const char  *tid;
        const char  *key;           /* the key's issuer, as members */
        ngx_uint_t   n;             /* of tids */
        const char  *why;
    } rows[] = {
        { MS(TID_A), "\"" TID_A "\"", "", 2, NULL },
        { MS(TID_A), "\"" TID_A "\"",
          ",\"issuer\":\"" MS("{tenantid}") "\"", 2, NULL },
        { MS(TID_A), "\"" TID_A "\"", ",\"issuer\":\"" MS(TID_A) "\"", 2,
          NULL },
        { MS(TID_B), "\"" TID_B "\"", ",\"issuer\":\"" MS(TID_B) "\"", 3,
          NULL },

        { MS(TID_B), "\"" TID_B "\"", "", 2,
          "has a 'tid' that is not allowed" },
        { MS(TID_A), "\"" TID_A "\"", "", 0,
          "has a 'tid' that is not allowed" },
        { MS(TID_A), "\"" TID_B "\"", "", 3,
          "has an 'iss' that is not of its 'tid'" },
        { MS("{tenantid}"), "\"" TID_A "\"", "", 3,
          "has an 'iss' that is not of its 'tid'" },
        { MS(TID_A) "/", "\"" TID_A "\"", "", 3,
          "has an 'iss' that is not of its 'tid'" },
        { "https://login.microsoftonline.co/" TID_A "/v2.0x",
          "\"" TID_A "\"", "", 3, "has an 'iss' that is not of its 'tid'" },
        { "https://login.microsoftonlins.com/" TID_A "/v2.0",
          "\"" TID_A "\"", "", 3, "has an 'iss' that is not of its 'tid'" },
        { "https://login.microsoftonline.com/" TID_A "/v2.1",
          "\"" TID_A "\"", "", 3, "has an 'iss' that is not of its 'tid'" },
        { "https://sts.windows.net/" TID_A "/", "\"" TID_A "\"", "", 3,
          "has an 'iss' that is not of its 'tid'" },
        { MS(TID_A), "\"\"", "", 3, "has no 'tid'" },
        { MS(TID_A), "1", "", 3, "has no 'tid'" },
        { MS(TID_A), NULL, "", 3, "has no 'tid'" },

        /* a key of one tenant signs for another one */

        { MS(TID_A), "\"" TID_A "\"", ",\"issuer\":\"" MS(TID_B) "\"", 3,
          "has a key that is not of its 'tid'" },
        { MS(TID_A), "\"" TID_A "\"", ",\"issuer\":\"\"", 3,
          "has a key that is not of its 'tid'" },
    };

    e = usual;
    e.tenant = 1;
    e.tids = tids;
    ngx_str_set(&e.issuer, MS("{tenantid}"));

    for (i = 0; i < ngx_unit_len(rows); i++) {
        char         more[256];
        claim_row_t  of[8];

        memcpy(of, base, sizeof(base));
        sprintf(more, "\"%s\"", rows[i].iss);
        of[0].value = more;

        e.ntids = rows[i].n;

        jwks = ngx_palloc(*state, 256);
        sprintf(jwks, "\"kid\":\"k\"%s", rows[i].key);

        refused(*state, signed_by(*state, rsa, claims(*state, of, "tid",
                                                      rows[i].tid)),
                key_set(*state, foreign_jwk(*state, rsa, jwks), NULL), &e,
                NGX_DECLINED, rows[i].why);
    }

    /* elsewhere a tid and a key's issuer mean nothing */

    refused(*state, signed_by(*state, rsa, claims(*state, base, "tid", "1")),
            key_set(*state, foreign_jwk(*state, rsa, "\"kid\":\"k\","
                                        "\"issuer\":\"x\""), NULL),
            &usual, NGX_OK, NULL);
}


/* LinkedIn has two spellings of its issuer, and no nonce. */

static void
test_linkedin(void **state)
{
    ngx_uint_t                    i;
    ngx_svc_id_token_expected_t   e;

    static const claim_row_t  rows[] = {
        { "nonce", NULL, NULL }, { "nonce", "\"n-0S6_WzA2Mj\"", NULL },
        { "nonce", "\"x\"", NO_NONCE }, { "nonce", "null", NO_NONCE },
        { "iss", "\"https://idp.example/too\"", NULL },
        { "iss", "\"https://idp.example/to\"", NO_ISS },
        { "iss", "\"\"", "has no 'iss'" },
    };

    e = usual;
    e.no_nonce = 1;
    ngx_str_set(&e.issuer_too, "https://idp.example/too");

    for (i = 0; i < ngx_unit_len(rows); i++) {
        refused(*state, signed_by(*state, rsa, claims(*state, base,
                                                      rows[i].name,
                                                      rows[i].value)),
                one_key(*state, rsa), &e, NGX_DECLINED, rows[i].why);
    }
}


static void
test_auth_time(void **state)
{
    ngx_uint_t                    i;
    ngx_svc_id_token_t            token;
    ngx_svc_id_token_expected_t   e;

    static const claim_row_t  rows[] = {
        { "auth_time", "1799999700", NULL },
        { "auth_time", "1799999640", NULL },
        { "auth_time", "1799999639", STALE },
        { "auth_time", "1800000500", NULL },
        { "auth_time", NULL, NO_AUTH }, { "auth_time", "null", NO_AUTH },
        { "auth_time", "\"1799999700\"", NO_AUTH },
        { "auth_time", "0", NO_AUTH }, { "auth_time", "-5", NO_AUTH },
    };

    e = usual;
    e.asked = NOW - 300;

    for (i = 0; i < ngx_unit_len(rows); i++) {
        refused(*state, signed_by(*state, rsa, claims(*state, base,
                                                      rows[i].name,
                                                      rows[i].value)),
                one_key(*state, rsa), &e, NGX_DECLINED, rows[i].why);
    }

    assert_int_equal(check(*state, signed_by(*state, rsa, claims(*state, base,
                                             "auth_time", "1800000500")),
                           one_key(*state, rsa), &e, &token), NGX_OK);
    assert_int_equal(token.auth_time, NOW);
}


static void
test_logout(void **state)
{
    char                *text, *jwks;
    ngx_int_t            rc;
    ngx_str_t            str, keys;
    ngx_uint_t           i;
    ngx_svc_id_token_t   token;

#define NO_EVENT  "has no 'events' with that of a logout"
#define NO_WHO    "has a 'sub' or a 'sid' that is no string of 1 to 255 bytes"
#define NO_JTI    "has no 'jti' of 1 to 255 bytes"

    static const claim_row_t  rows[] = {
        { "x", NULL, NULL }, { "sub", NULL, NULL }, { "sid", NULL, NULL },
        { "iss", "\"https://idp.example/\"", NO_ISS },
        { "aud", "\"x\"", NO_AUD }, { "aud", "[\"client\",\"x\"]", NO_AZP },
        { "exp", NULL, NO_EXP }, { "exp", "1799999939", OVER },
        { "iat", NULL, NO_IAT }, { "iat", "1799999399", OLD },
        { "iat", "1800000061", AHEAD },
        { "nbf", "1800000061", NO_NBF },
        { "events", NULL, NO_EVENT }, { "events", "{}", NO_EVENT },
        { "events", "[\"http://schemas.openid.net/event/"
          "backchannel-logout\"]", NO_EVENT },
        { "events", "{\"http://schemas.openid.net/event/"
          "backchannel-logout\":null}", NO_EVENT },
        { "nonce", "\"n\"", "has a 'nonce'" },
        { "nonce", "null", "has a 'nonce'" },
        { "jti", NULL, NO_JTI }, { "jti", "\"\"", NO_JTI },
        { "jti", "1", NO_JTI }, { "jti", "\"" BYTES_240 BYTES_16 "\"", NO_JTI },
        { "sub", "\"\"", NO_WHO }, { "sub", "1", NO_WHO },
        { "sid", "\"\"", NO_WHO }, { "sid", "null", NO_WHO },
        { "sid", "\"" BYTES_240 BYTES_16 "\"", NO_WHO },
        { "events", "{\"http://schemas.openid.net/event/"
          "backchannel-logout\":{\"a\":1},\"x\":1}", NULL },
    };

    static const claim_row_t  nobody[] = {
        { "iss", "\"https://idp.example\"", NULL },
        { "aud", "\"client\"", NULL }, { "exp", "1800000120", NULL },
        { "iat", "1800000000", NULL }, { "jti", "\"bWJq\"", NULL },
        { "events", "{\"http://schemas.openid.net/event/"
          "backchannel-logout\":{}}", NULL },
        { NULL, NULL, NULL }
    };

    jwks = one_key(*state, rsa);
    keys.data = (u_char *) jwks;
    keys.len = strlen(jwks);

    for (i = 0; i <= ngx_unit_len(rows); i++) {
        text = signed_by(*state, rsa,
                         i < ngx_unit_len(rows)
                         ? claims(*state, logout_base, rows[i].name,
                                  rows[i].value)
                         : claims(*state, nobody, NULL, NULL));
        str.data = (u_char *) text;
        str.len = strlen(text);

        rc = ngx_svc_logout_token_check(*state, &str, &keys, &usual, &token);

        if (i == ngx_unit_len(rows)) {
            assert_int_equal(rc, NGX_DECLINED);
            assert_string_equal(token.why, "has neither a 'sub' nor a 'sid'");

        } else if (rows[i].why) {
            assert_int_equal(rc, NGX_DECLINED);
            assert_string_equal(token.why, rows[i].why);

        } else {
            assert_int_equal(rc, NGX_OK);
            assert_int_equal(token.jti.len, 4);
            assert_int_equal(token.sub.len, strcmp(rows[i].name, "sub") == 0
                                            ? 0 : 12);
            assert_int_equal(token.sid.len, strcmp(rows[i].name, "sid") == 0
                                            ? 0 : 8);
        }
    }

    /* an ID token is no logout token, and the other way round */

    text = signed_by(*state, rsa, claims(*state, base, NULL, NULL));
    str.data = (u_char *) text;
    str.len = strlen(text);
    assert_int_equal(ngx_svc_logout_token_check(*state, &str, &keys, &usual,
                                                &token), NGX_DECLINED);

    refused(*state, signed_by(*state, rsa, claims(*state, logout_base, NULL,
                                                  NULL)),
            jwks, &usual, NGX_DECLINED, NO_NONCE);

    /* and an unknown key is told as there */

    refused(*state, foreign_sign(*state, rsa, "RS256", "{\"alg\":\"RS256\","
                                 "\"kid\":\"x\"}", claims(*state, logout_base,
                                                          NULL, NULL)),
            jwks, &usual, NGX_AGAIN, NO_KID);
}


static void
test_true(void **state)
{
    cJSON       *json;
    ngx_uint_t   i;

    static const struct {
        const char  *text;
        ngx_uint_t   is;
    } rows[] = {
        { "{\"v\":true}", 1 }, { "{\"v\":\"true\"}", 1 },
        { "{\"v\":false}", 0 }, { "{\"v\":\"false\"}", 0 },
        { "{\"v\":\"True\"}", 0 }, { "{\"v\":1}", 0 }, { "{\"v\":\"1\"}", 0 },
        { "{\"v\":null}", 0 }, { "{\"v\":[true]}", 0 }, { "{\"V\":true}", 0 },
        { "{}", 0 }
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        json = unit_json(*state, rows[i].text);
        assert_int_equal(ngx_svc_id_token_true(json, "v"), rows[i].is);
    }
}


static ngx_int_t
keep(ngx_pool_t *pool, const char *text, ngx_str_t *kept, const char **why)
{
    ngx_int_t  rc;
    ngx_str_t  str;

    str.data = (u_char *) text;
    str.len = strlen(text);
    *why = NULL;

    rc = ngx_svc_oidc_jwks_keep(pool, &str, kept, why);

    assert_int_equal(ERR_peek_error(), 0);

    return rc;
}


/* What is stored has what a check needs, and is stored the same once more. */

static void
test_keep(void **state)
{
    char         *text, *p;
    ngx_str_t     kept, again;
    ngx_uint_t    i;
    const char   *why, *jwk;

    text = key_set(*state,
                   foreign_jwk(*state, rsa, "\"kid\":\"k\",\"use\":\"sig\","
                               "\"alg\":\"RS256\",\"x5t\":\"x\",\"x5c\":[\"M"
                               "II\"],\"issuer\":\"i\\\"\""),
                   "1", "null", "{\"kty\":\"oct\",\"k\":\"AQ\"}",
                   foreign_jwk(*state, other, "\"use\":\"enc\""),
                   foreign_jwk(*state, other, "\"d\":\"AQ\""),
                   foreign_jwk(*state, other, "\"kid\":1"),
                   foreign_jwk(*state, p384, "\"key_ops\":[\"verify\"]"),
                   foreign_jwk(*state, p256, "\"kid\":\"k\""),
                   foreign_jwk(*state, ed25519, "\"alg\":\"EdDSA\""), NULL);

    assert_int_equal(keep(*state, text, &kept, &why), NGX_OK);

    text = ngx_pnalloc(*state, kept.len + 1);
    *(u_char *) ngx_cpymem(text, kept.data, kept.len) = '\0';

    assert_int_equal(cJSON_GetArraySize(unit_json(*state, text)->child), 4);
    assert_non_null(strstr(text, "\"alg\":\"RS256\",\"kid\":\"k\","
                           "\"issuer\":\"i\\\"\"}"));
    assert_null(strstr(text, "\"x5"));
    assert_null(strstr(text, "\"use"));
    assert_null(strstr(text, "\"key_ops"));

    assert_int_equal(keep(*state, text, &again, &why), NGX_OK);
    assert_true(ngx_svc_same(&kept, &again));

    refused(*state, signed_by(*state, rsa, claims(*state, base, NULL, NULL)),
            text, &usual, NGX_OK, NULL);

    /* at most 100 keys, and 65,536 bytes */

    jwk = foreign_jwk(*state, ed25519, "");
    p = text = ngx_palloc(*state, 400000);
    p += sprintf(p, "{\"keys\":[%s", jwk);

    for (i = 1; i < NGX_SVC_OIDC_JWKS_KEYS; i++) {
        p += sprintf(p, ",%s", jwk);
    }

    strcpy(p, "]}");
    assert_int_equal(keep(*state, text, &kept, &why), NGX_OK);
    sprintf(p, ",{}]}");
    assert_int_equal(keep(*state, text, &kept, &why), NGX_DECLINED);
    assert_string_equal(why, "has more than 100 keys");

    memset(text + 200000, 'x', 65536);
    text[265536] = '\0';
    jwk = text + 200000;
    p = ngx_palloc(*state, 70000);
    sprintf(p, "\"kid\":\"%s\"", jwk);
    text = ngx_palloc(*state, 70000);
    sprintf(text, "{\"keys\":[{" UNIT_OKP ",%s}]}", p);
    assert_int_equal(keep(*state, text, &kept, &why), NGX_DECLINED);
    assert_string_equal(why, "has keys of more than 65536 bytes");
}


static void
test_keep_none(void **state)
{
    ngx_str_t    kept;
    ngx_uint_t   i;
    const char  *why;

#define NO_SET  "is no JSON object with an array 'keys'"
#define NO_KEY  "has no key for signatures of a kind that is verified"

    static const struct {
        const char  *text;
        const char  *why;
    } rows[] = {
        { "", NO_SET }, { "[]", NO_SET }, { "{}", NO_SET },
        { "<html>", NO_SET }, { "{\"keys\":{}}", NO_SET },
        { "{\"keys\":null}", NO_SET }, { "{\"Keys\":[]}", NO_SET },
        { "{\"keys\":[],\"keys\":[]}", NO_SET },
        { "{\"keys\":[]}", NO_KEY }, { "{\"keys\":[{}]}", NO_KEY },
        { "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
          NO_KEY },
        { "{\"keys\":[{" UNIT_EC ",\"use\":\"enc\"}]}", NO_KEY },
        { "{\"keys\":[{" UNIT_EC ",\"d\":\"" UNIT_A3_D "\"}]}", NO_KEY },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(keep(*state, rows[i].text, &kept, &why),
                         NGX_DECLINED);
        assert_string_equal(why, rows[i].why);
    }
}


/* No memory is never a good token. */

static void
test_memory(void **state)
{
    char                *text, *jwks;
    ngx_int_t            rc, n;
    ngx_str_t            kept, set;
    const char          *why;
    ngx_svc_id_token_t   token;

    text = signed_by(*state, rsa, claims(*state, base, NULL, NULL));
    jwks = one_key(*state, rsa);

    for (n = 0; n < 200; n++) {
        ngx_env_alloc_limit(n);
        rc = check(*state, text, jwks, &usual, &token);
        ngx_env_alloc_limit(-1);

        if (rc == NGX_OK) {
            break;
        }

        assert_int_equal(rc, NGX_ERROR);
    }

    assert_in_range(n, 20, 150);

    set.data = (u_char *) jwks;
    set.len = strlen(jwks);

    for (n = 0; n < 200; n++) {
        ngx_env_alloc_limit(n);
        rc = ngx_svc_oidc_jwks_keep(*state, &set, &kept, &why);
        ngx_env_alloc_limit(-1);

        if (rc == NGX_OK) {
            break;
        }

        assert_int_equal(rc, NGX_ERROR);
    }

    assert_in_range(n, 5, 150);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_claims),
        ngx_unit_test(test_result),
        ngx_unit_test(test_order),
        ngx_unit_test(test_algs),
        ngx_unit_test(test_confusion),
        ngx_unit_test(test_kids),
        ngx_unit_test(test_microsoft),
        ngx_unit_test(test_linkedin),
        ngx_unit_test(test_auth_time),
        ngx_unit_test(test_logout),
        ngx_unit_test(test_true),
        ngx_unit_test(test_keep),
        ngx_unit_test(test_keep_none),
        ngx_unit_test(test_memory),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("id_token", tests, make, forget);
}
