/*
 * The claims of tokens that other identity providers sign for us.
 */

#include "ngx_unit_id_token.h"


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


/* No memory is never a good token. */

static void
test_memory(void **state)
{
    char                *text, *jwks;
    ngx_int_t            rc, n;
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
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_claims),
        ngx_unit_test(test_result),
        ngx_unit_test(test_order),
        ngx_unit_test(test_microsoft),
        ngx_unit_test(test_linkedin),
        ngx_unit_test(test_auth_time),
        ngx_unit_test(test_logout),
        ngx_unit_test(test_true),
        ngx_unit_test(test_memory),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("id_token", tests, make, forget);
}
