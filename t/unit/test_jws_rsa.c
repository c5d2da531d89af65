/*
 * Keys and signatures of RSA.
 */

#include "ngx_unit_jose.h"
#include "ngx_svc_jwk_rsa.h"
#include "ngx_svc_jws_rsa.h"


#define NO_ALG   "has an 'alg' that is none of ES256, EdDSA and Ed25519"
#define NO_SIGN  "has a signature that is not 256 bytes in base64url"

static ngx_svc_jwk_new_t  new;
static EVP_PKEY          *private;
static char               text[4096];


static ngx_int_t
signing(ngx_pool_t *pool, const char *jwk, EVP_PKEY **key, ngx_svc_jwa_e *alg)
{
    u_char  digest[NGX_SVC_JWK_THUMBPRINT];

    return ngx_svc_jwk_signing(unit_json(pool, jwk), key, alg, digest);
}


static int
make(void **state)
{
    u_char     *p;
    ngx_str_t   header, payload;

    ngx_str_set(&header, "{\"alg\":\"RS256\",\"kid\":\"k\"}");
    ngx_str_set(&payload, "{\"a\":1}");

    assert_int_equal(ngx_svc_jwk_rsa_generate(&new), NGX_OK);
    new.jwk[new.jwk_len] = '\0';

    private = ngx_svc_jwk_rsa_private(new.der, new.der_len);
    assert_non_null(private);

    p = ngx_svc_jws_rsa_sign(private, &header, &payload, (u_char *) text);
    assert_int_equal(p - (u_char *) text,
                     ngx_svc_jws_rsa_len(header.len, payload.len));
    *p = '\0';

    return 0;
}


static int
forget(void **state)
{
    EVP_PKEY_free(private);

    return 0;
}


static ngx_int_t
parse(ngx_pool_t *pool, const char *jws_text, ngx_svc_jws_t *jws)
{
    ngx_str_t  str;

    str.data = (u_char *) jws_text;
    str.len = strlen(jws_text);

    return ngx_svc_jws_parse_signed(pool, &str, jws);
}


static void
test_signature(void **state)
{
    EVP_PKEY       *key, *ec;
    ngx_uint_t      i;
    ngx_svc_jws_t   jws;
    ngx_svc_jwa_e   alg, ec_alg;

    assert_int_equal(signing(*state, (char *) new.jwk, &key, &alg), NGX_OK);
    assert_int_equal(alg, NGX_SVC_JWA_RS256);
    assert_int_equal(signing(*state, "{" UNIT_EC "}", &ec, &ec_alg), NGX_OK);
    assert_int_equal(ec_alg, NGX_SVC_JWA_ES256);

    assert_int_equal(parse(*state, text, &jws), NGX_OK);
    assert_int_equal(ngx_svc_jws_verify(&jws, key, alg), NGX_OK);

    for (i = 0; i < NGX_SVC_JWS_RSA * 8; i++) {
        jws.signature[i / 8] ^= 1 << (i % 8);
        assert_int_equal(ngx_svc_jws_verify(&jws, key, alg), NGX_DECLINED);
        jws.signature[i / 8] ^= 1 << (i % 8);
    }

    jws.signed_text.len--;
    assert_int_equal(ngx_svc_jws_verify(&jws, key, alg), NGX_DECLINED);
    jws.signed_text.len++;

    /* the alg is the key's, whatever the header says */

    assert_int_equal(ngx_svc_jws_verify(&jws, ec, ec_alg), NGX_DECLINED);
    assert_int_equal(ngx_svc_jws_verify(&jws, ec, alg), NGX_DECLINED);
    assert_int_equal(ngx_svc_jws_verify(&jws, key, ec_alg), NGX_DECLINED);

    jws.alg = NGX_SVC_JWA_ES256;
    assert_int_equal(ngx_svc_jws_verify(&jws, key, alg), NGX_DECLINED);
    assert_int_equal(ngx_svc_jws_verify(&jws, key, ec_alg), NGX_DECLINED);
    assert_int_equal(ngx_svc_jws_verify(&jws, ec, ec_alg), NGX_DECLINED);

    jws.alg = NGX_SVC_JWA_RS256;
    jws.signature_len = NGX_SVC_JWS_SIGNATURE;
    assert_int_equal(ngx_svc_jws_verify(&jws, key, alg), NGX_DECLINED);
    assert_int_equal(ERR_peek_error(), 0);

    EVP_PKEY_free(key);
    EVP_PKEY_free(ec);
}


/* Of tenants alone: what signs for itself, as a DPoP proof, is none of RSA. */

static void
test_parse(void **state)
{
    char           *dot;
    ngx_svc_jws_t   jws;

    assert_int_equal(unit_parse(*state, text, &jws), NGX_DECLINED);
    assert_string_equal(jws.why, NO_ALG);

    dot = strrchr(text, '.');
    dot[1] ^= 'A' ^ 'B';
    assert_int_equal(parse(*state, text, &jws), NGX_OK);
    dot[1] ^= 'A' ^ 'B';

    dot[342] = '\0';
    assert_int_equal(parse(*state, text, &jws), NGX_DECLINED);
    assert_string_equal(jws.why, NO_SIGN);

    dot[87] = '\0';
    assert_int_equal(parse(*state, text, &jws), NGX_DECLINED);
    assert_string_equal(jws.why, NO_SIGN);
}


static void
test_private(void **state)
{
    u_char  der[NGX_SVC_JWK_DER_MAX + 1];
    size_t  n;

    memcpy(der, new.der, new.der_len);
    der[new.der_len] = 0;

    for (n = 0; n < new.der_len; n += 7) {
        assert_null(ngx_svc_jwk_rsa_private(der, n));
    }

    assert_null(ngx_svc_jwk_rsa_private(der, new.der_len + 1));
    assert_null(ngx_svc_jwk_private(der, new.der_len));
    assert_int_equal(ERR_peek_error(), 0);
}


/* One member of the public key is another. */

static void
test_public(void **state)
{
    char           *p, jwk[NGX_SVC_JWK_TEXT + 64];
    EVP_PKEY       *key;
    ngx_uint_t      i;
    ngx_svc_jwa_e   alg;

    static const struct {
        const char  *is;
        const char  *becomes;
    } others[] = {
        { "\"RSA\"", "\"rsa\"" }, { "\"AQAB\"", "\"AQ\"" },
        { "\"AQAB\"", "\"Aw\"" }, { "\"RS256\"", "\"ES256\"" },
        { "\"RS256\"", "\"RS512\"" }, { "\"sig\"", "\"enc\"" },
        { "\"n\":\"", "\"n\":\"A" }, { "\"n\":\"", "\"d\":\"x\",\"n\":\"" },
        { "\"n\":\"", "\"m\":\"" }, { "\"RSA\",", "\"EC\"," }
    };

    assert_int_equal(unit_jwk(*state, (char *) new.jwk, &key, &alg,
                              (u_char *) jwk), NGX_DECLINED);

    for (i = 0; i < ngx_unit_len(others); i++) {
        p = strstr((char *) new.jwk, others[i].is);
        assert_non_null(p);

        sprintf(jwk, "%.*s%s%s", (int) (p - (char *) new.jwk), new.jwk,
                others[i].becomes, p + strlen(others[i].is));

        assert_int_equal(signing(*state, jwk, &key, &alg), NGX_DECLINED);
        assert_null(key);
    }

    /* a modulus of fewer bits */

    p = strstr((char *) new.jwk, "\"n\":\"") + 5;
    strcpy(jwk, (char *) new.jwk);
    jwk[p - (char *) new.jwk] = 'A';
    assert_int_equal(signing(*state, jwk, &key, &alg), NGX_DECLINED);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_signature),
        ngx_unit_test(test_private),
        ngx_unit_test(test_public),
        ngx_unit_test(test_parse),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("jws_rsa", tests, make, forget);
}
