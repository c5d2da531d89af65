/*
 * The keys and signatures of tokens that other identity providers sign for us,
 * and what is stored of their keys.
 */

#include "ngx_unit_id_token.h"
#include "ngx_svc_oidc_jwks.h"


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
        { "{\"keys\":[{}]}", NO_KEY },
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

    assert_int_equal(keep(*state, "{\"keys\":[]}", &kept, &why), NGX_OK);
    assert_memory_equal(kept.data, "{\"keys\":[]}", kept.len);
}


static void
test_memory(void **state)
{
    char        *jwks;
    ngx_int_t    rc, n;
    ngx_str_t    kept, set;
    const char  *why;

    jwks = one_key(*state, rsa);

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
        ngx_unit_test(test_algs),
        ngx_unit_test(test_confusion),
        ngx_unit_test(test_kids),
        ngx_unit_test(test_keep),
        ngx_unit_test(test_keep_none),
        ngx_unit_test(test_memory),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("id_token_key", tests, make, forget);
}
