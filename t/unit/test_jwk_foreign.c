/*
 * Keys of other identity providers, and their signatures.
 */

#include "ngx_unit_foreign.h"
#include "ngx_svc_jwk_foreign.h"
#include "ngx_svc_jwk_rsa.h"


#define NO_ALG    "has an 'alg' that is none of RS256, PS256, ES256, ES384,"  \
                  " EdDSA and Ed25519"

#define RSA_ALGS  (ngx_svc_jwa_bit(NGX_SVC_JWA_RS256)                         \
                   | ngx_svc_jwa_bit(NGX_SVC_JWA_PS256))


static EVP_PKEY  *rsa;
static EVP_PKEY  *p256;
static EVP_PKEY  *p384;
static EVP_PKEY  *ed25519;


static int
make(void **state)
{
    rsa = EVP_RSA_gen(2048);
    p256 = EVP_EC_gen("P-256");
    p384 = EVP_EC_gen("P-384");
    ed25519 = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");

    return !(rsa && p256 && p384 && ed25519);
}


static int
forget(void **state)
{
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(p256);
    EVP_PKEY_free(p384);
    EVP_PKEY_free(ed25519);

    return 0;
}


static ngx_int_t
read_key(ngx_pool_t *pool, const char *jwk, EVP_PKEY **key, ngx_uint_t *algs)
{
    ngx_int_t  rc;

    rc = ngx_svc_jwk_foreign(unit_json(pool, jwk), key, algs);

    assert_int_equal(ERR_peek_error(), 0);

    if (rc != NGX_OK) {
        assert_null(*key);
        assert_int_equal(*algs, 0);
    }

    return rc;
}


/* Says whether the key's JWK, with more members, verifies what it signs. */

static ngx_int_t
verified(ngx_pool_t *pool, EVP_PKEY *key, const char *alg, const char *more,
    ngx_uint_t algs)
{
    char           header[64], *text;
    EVP_PKEY      *public;
    ngx_int_t      rc;
    ngx_str_t      str;
    ngx_uint_t     is;
    ngx_svc_jws_t  jws;

    sprintf(header, "{\"alg\":\"%s\"}", alg);
    text = foreign_sign(pool, key, alg, header, "{}");
    str.data = (u_char *) text;
    str.len = strlen(text);

    assert_int_equal(ngx_svc_jws_parse_foreign(pool, &str, &jws), NGX_OK);

    if (read_key(pool, foreign_jwk(pool, key, more), &public, &is) != NGX_OK) {
        return NGX_DECLINED;
    }

    assert_int_equal(is, algs);

    rc = ngx_svc_jws_verify(&jws, public, jws.alg);

    jws.signature[jws.signature_len - 1] ^= 1;
    assert_int_equal(ngx_svc_jws_verify(&jws, public, jws.alg), NGX_DECLINED);

    jws.signature[jws.signature_len - 1] ^= 1;
    jws.signed_text.len--;
    assert_int_equal(ngx_svc_jws_verify(&jws, public, jws.alg), NGX_DECLINED);

    assert_int_equal(ERR_peek_error(), 0);

    EVP_PKEY_free(public);

    return rc;
}


static void
test_keys(void **state)
{
    EVP_PKEY    *key;
    ngx_uint_t   i;

    static const struct {
        int       bits;
        int       primes;
        BN_ULONG  e;
    } sizes[] = {
        { 2048, 2, 3 }, { 2049, 2, RSA_F4 }, { 3072, 2, 17 },
        { 4096, 4, RSA_F4 }, { 8192, 5, RSA_F4 }, { 2048, 2, 4294967295UL }
    };

    assert_int_equal(verified(*state, rsa, "RS256", "", RSA_ALGS), NGX_OK);
    assert_int_equal(verified(*state, rsa, "PS256", "\"use\":\"sig\"",
                              RSA_ALGS), NGX_OK);
    assert_int_equal(verified(*state, p256, "ES256", "\"alg\":\"ES256\"",
                              ngx_svc_jwa_bit(NGX_SVC_JWA_ES256)), NGX_OK);
    assert_int_equal(verified(*state, p384, "ES384", "\"alg\":\"ES384\"",
                              ngx_svc_jwa_bit(NGX_SVC_JWA_ES384)), NGX_OK);
    assert_int_equal(verified(*state, ed25519, "EdDSA", "\"key_ops\":[1,"
                              "\"sign\",\"verify\"]",
                              ngx_svc_jwa_bit(NGX_SVC_JWA_EDDSA)), NGX_OK);

    for (i = 0; i < ngx_unit_len(sizes); i++) {
        key = foreign_rsa(sizes[i].bits, sizes[i].primes, sizes[i].e);

        assert_int_equal(verified(*state, key, "RS256", "\"alg\":\"RS256\"",
                                  ngx_svc_jwa_bit(NGX_SVC_JWA_RS256)), NGX_OK);
        assert_int_equal(verified(*state, key, "PS256", "\"x5c\":[\"MII\"]",
                                  RSA_ALGS), NGX_OK);

        EVP_PKEY_free(key);
    }
}


/* Members that no key of theirs may have, and those that fit another key. */

static void
test_members(void **state)
{
    EVP_PKEY    *key;
    ngx_uint_t   i, k, algs;

    static const char *const  refused[] = {
        "\"use\":\"enc\"", "\"use\":1", "\"key_ops\":[]",
        "\"key_ops\":[\"sign\"]", "\"key_ops\":\"verify\"",
        "\"key_ops\":[\"Verify\"]", "\"alg\":\"none\"", "\"alg\":\"HS256\"",
        "\"alg\":\"RS512\"", "\"alg\":1", "\"alg\":\"RSA-OAEP\"",
        "\"d\":\"AQ\"", "\"k\":\"AQ\"", "\"p\":\"AQ\"", "\"oth\":[]"
    };

    EVP_PKEY *const  keys[] = { rsa, p256, p384, ed25519 };

    static const char *const  algs_of[] = {
        "\"alg\":\"RS256\"", "\"alg\":\"ES256\"", "\"alg\":\"ES384\"",
        "\"alg\":\"EdDSA\""
    };

    for (k = 0; k < ngx_unit_len(keys); k++) {

        for (i = 0; i < ngx_unit_len(refused); i++) {
            assert_int_equal(read_key(*state, foreign_jwk(*state, keys[k],
                                                          refused[i]),
                                      &key, &algs), NGX_DECLINED);
        }

        for (i = 0; i < ngx_unit_len(algs_of); i++) {
            assert_int_equal(read_key(*state, foreign_jwk(*state, keys[k],
                                                          algs_of[i]),
                                      &key, &algs),
                             i == k ? NGX_OK : NGX_DECLINED);
            EVP_PKEY_free(key);
        }
    }
}


/* One part of a good key is replaced. */

static void
replaced(ngx_pool_t *pool, EVP_PKEY *of, const char *is, const char *becomes,
    ngx_int_t rc)
{
    char        *p, *jwk, text[4096];
    EVP_PKEY    *key;
    ngx_uint_t   algs;

    jwk = foreign_jwk(pool, of, "\"kid\":\"k\"");
    p = strstr(jwk, is);
    assert_non_null(p);

    sprintf(text, "%.*s%s%s", (int) (p - jwk), jwk, becomes, p + strlen(is));

    if (read_key(pool, text, &key, &algs) != rc) {
        fail_msg("%s for %s", becomes, is);
    }

    EVP_PKEY_free(key);
}


static void
test_parts(void **state)
{
    char        *jwk;
    EVP_PKEY    *key;
    ngx_uint_t   i, algs;

    static const char *const  exponents[] = {
        "\"e\":\"\"", "\"e\":\"AA\"", "\"e\":\"AQ\"", "\"e\":\"Ag\"",
        "\"e\":\"AQAA\"", "\"e\":\"AQAAAAE\"", "\"e\":65537", "\"f\":\"AQAB\"",
        "\"e\":\"AQAB=\""
    };

    static const int  bits[] = { 1024, 2040, 2047 };

    for (i = 0; i < ngx_unit_len(exponents); i++) {
        replaced(*state, rsa, "\"e\":\"AQAB\"", exponents[i], NGX_DECLINED);
    }

    /* zeroes before a number are no part of it */

    replaced(*state, rsa, "\"e\":\"AQAB\"", "\"e\":\"AAEAAQ\"", NGX_OK);
    replaced(*state, rsa, "\"n\":\"", "\"n\":\"AAAA", NGX_OK);
    replaced(*state, rsa, "\"n\":\"", "\"n\":\"AAAAAAAA", NGX_OK);
    replaced(*state, rsa, "\"n\":\"", "\"n\":\"AQAB", NGX_OK);

    replaced(*state, rsa, "\"n\":\"", "\"n\":\"A", NGX_DECLINED);
    replaced(*state, rsa, "\"n\":\"", "\"m\":\"", NGX_DECLINED);
    replaced(*state, rsa, "\"RSA\"", "\"rsa\"", NGX_DECLINED);
    replaced(*state, rsa, "\"RSA\"", "\"EC\"", NGX_DECLINED);
    replaced(*state, p256, "P-256", "P-384", NGX_DECLINED);
    replaced(*state, p256, "P-256", "secp256k1", NGX_DECLINED);
    replaced(*state, p384, "P-384", "P-256", NGX_DECLINED);
    replaced(*state, p384, "P-384", "P-521", NGX_DECLINED);
    replaced(*state, p384, "\"EC\"", "\"RSA\"", NGX_DECLINED);
    replaced(*state, p384, "\"EC\"", "\"OKP\"", NGX_DECLINED);
    replaced(*state, p384, "\"x\":\"", "\"x\":\"A", NGX_DECLINED);
    replaced(*state, p384, "\"y\":\"", "\"z\":\"", NGX_DECLINED);
    replaced(*state, p384, "\"x\":\"", "\"x\":\"AAAA", NGX_DECLINED);
    replaced(*state, ed25519, "Ed25519", "Ed448", NGX_DECLINED);

    /* a modulus that is even, too short, or too long */

    jwk = foreign_jwk(*state, rsa, "");
    strstr(jwk, "\",\"e\"")[-1] = 'A';
    assert_int_equal(read_key(*state, jwk, &key, &algs), NGX_DECLINED);

    for (i = 0; i < ngx_unit_len(bits); i++) {
        key = foreign_rsa_odd(bits[i]);
        jwk = foreign_jwk(*state, key, "");
        EVP_PKEY_free(key);
        assert_int_equal(read_key(*state, jwk, &key, &algs), NGX_DECLINED);
    }

    key = foreign_rsa_odd(8200);
    jwk = foreign_jwk(*state, key, "");
    EVP_PKEY_free(key);
    assert_int_equal(read_key(*state, jwk, &key, &algs), NGX_DECLINED);

    /* a point that is not on the curve */

    jwk = foreign_jwk(*state, p384, "");
    ngx_memcpy(strstr(jwk, "\"x\":\"") + 5, "AAAA", 4);
    assert_int_equal(read_key(*state, jwk, &key, &algs), NGX_DECLINED);
}


/* What is theirs does not widen what is ours. */

static void
test_ours(void **state)
{
    char           *text;
    u_char          thumbprint[NGX_SVC_JWK_THUMBPRINT];
    cJSON          *jwk;
    EVP_PKEY       *key;
    ngx_str_t       str;
    ngx_uint_t      i, algs;
    ngx_svc_jws_t   jws;
    ngx_svc_jwa_e   alg;

    static ngx_int_t (*const  parse[])(ngx_pool_t *pool, const ngx_str_t *text,
                                       ngx_svc_jws_t *jws) = {
        ngx_svc_jws_parse, ngx_svc_jws_parse_signed, ngx_svc_jws_parse_client
    };

    jwk = unit_json(*state, foreign_jwk(*state, p384, ""));
    assert_int_equal(ngx_svc_jwk_public(jwk, &key, &alg, thumbprint),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_jwk_signing(jwk, &key, &alg, thumbprint),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_jwk_client(jwk, &key, &algs), NGX_DECLINED);

    jwk = unit_json(*state, foreign_jwk(*state, rsa, ""));
    assert_int_equal(ngx_svc_jwk_public(jwk, &key, &alg, thumbprint),
                     NGX_DECLINED);

    text = foreign_sign(*state, p384, "ES384", "{\"alg\":\"ES384\"}", "{}");
    str.data = (u_char *) text;
    str.len = strlen(text);

    for (i = 0; i < ngx_unit_len(parse); i++) {
        assert_int_equal(parse[i](*state, &str, &jws), NGX_DECLINED);
    }
}


/* A curve's key verifies nothing of the other curve. */

static void
test_curves(void **state)
{
    char           *text;
    u_char          raw[NGX_SVC_JWS_ES384];
    ngx_str_t       str;
    ngx_svc_jws_t   jws;

    text = foreign_sign(*state, p384, "ES384", "{\"alg\":\"ES384\"}", "{}");
    str.data = (u_char *) text;
    str.len = strlen(text);

    assert_int_equal(ngx_svc_jws_parse_foreign(*state, &str, &jws), NGX_OK);
    assert_int_equal(ngx_svc_jws_verify(&jws, p384, NGX_SVC_JWA_ES384),
                     NGX_OK);
    assert_int_equal(ngx_svc_jws_verify(&jws, p256, NGX_SVC_JWA_ES384),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_jws_verify(&jws, p384, NGX_SVC_JWA_ES256),
                     NGX_DECLINED);

    /* a P-256 signature that claims to be one by ES384 */

    text = foreign_sign(*state, p256, "ES256", "{\"alg\":\"ES256\"}", "{}");
    str.data = (u_char *) text;
    str.len = strlen(text);

    assert_int_equal(ngx_svc_jws_parse_foreign(*state, &str, &jws), NGX_OK);
    assert_int_equal(ngx_svc_jws_verify(&jws, p256, NGX_SVC_JWA_ES256),
                     NGX_OK);
    assert_int_equal(ngx_svc_jws_verify(&jws, p384, NGX_SVC_JWA_ES256),
                     NGX_DECLINED);

    jws.alg = NGX_SVC_JWA_ES384;
    assert_int_equal(ngx_svc_jws_verify(&jws, p384, NGX_SVC_JWA_ES384),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_jws_verify(&jws, p256, NGX_SVC_JWA_ES384),
                     NGX_DECLINED);

    /* one of SHA-384 with the zeroes that make it as long */

    text = foreign_sign(*state, p256, "ES384", "{\"alg\":\"ES256\"}", "{}");
    str.data = (u_char *) text;
    str.len = strlen(text);

    assert_int_equal(ngx_svc_jws_parse_foreign(*state, &str, &jws), NGX_OK);

    memset(raw, 0, sizeof(raw));
    memcpy(raw + 16, jws.signature, 32);
    memcpy(raw + 64, jws.signature + 32, 32);

    jws.alg = NGX_SVC_JWA_ES384;
    jws.signature = raw;
    jws.signature_len = sizeof(raw);
    assert_int_equal(ngx_svc_jws_verify(&jws, p256, NGX_SVC_JWA_ES384),
                     NGX_DECLINED);
    assert_int_equal(ERR_peek_error(), 0);
}


static void
test_texts(void **state)
{
    char           *payload, *text;
    ngx_str_t       str;
    ngx_uint_t      i, n;
    ngx_svc_jws_t   jws;

    static const struct {
        const char  *text;
        const char  *why;
    } rows[] = {
        { "{\"alg\":\"none\"}", NO_ALG }, { "{\"alg\":\"HS256\"}", NO_ALG },
        { "{\"alg\":\"RS512\"}", NO_ALG }, { "{}", NO_ALG },
        { "{\"alg\":\"ES256\"}",
          "has a signature that is not 64 bytes in base64url" },
        { "{\"alg\":\"ES384\"}",
          "has a signature that is not 96 bytes in base64url" }
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        text = foreign_sign(*state, rsa, "RS256", rows[i].text, "{}");
        str.data = (u_char *) text;
        str.len = strlen(text);

        assert_int_equal(ngx_svc_jws_parse_foreign(*state, &str, &jws),
                         NGX_DECLINED);
        assert_string_equal(jws.why, rows[i].why);
    }

    /* 16,384 bytes, and one more */

    payload = ngx_palloc(*state, 16384);

    for (n = 11000; n < 12500; n++) {
        memset(payload, ' ', n);
        strcpy(payload + n - 2, "{}");

        text = foreign_sign(*state, ed25519, "EdDSA", "{\"alg\":\"EdDSA\"}",
                            payload);
        str.data = (u_char *) text;
        str.len = strlen(text);

        if (str.len >= NGX_SVC_JWS_FOREIGN_MAX) {
            break;
        }
    }

    assert_int_equal(str.len, NGX_SVC_JWS_FOREIGN_MAX);
    assert_int_equal(ngx_svc_jws_parse_foreign(*state, &str, &jws), NGX_OK);

    strcpy(text + str.len++, "A");
    assert_int_equal(ngx_svc_jws_parse_foreign(*state, &str, &jws),
                     NGX_DECLINED);
    assert_string_equal(jws.why, "is longer than 16384 bytes");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_keys),
        ngx_unit_test(test_members),
        ngx_unit_test(test_parts),
        ngx_unit_test(test_ours),
        ngx_unit_test(test_curves),
        ngx_unit_test(test_texts),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("jwk_foreign", tests, make, forget);
}
