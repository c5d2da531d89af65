/*
 * JSON Web Keys.
 */

#include "ngx_unit_jose.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>


/* From RFC 8037 (A.3), and RFC 9449 (4.1 and 6.1). */

static const struct {
    const char     *jwk;
    ngx_svc_jwa_e   alg;
    const char     *thumbprint;
} thumbprints[] = {

    { "{" UNIT_OKP "}", NGX_SVC_JWA_EDDSA,
      "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" },

    { "{\"kty\":\"EC\",\"x\":\"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs\","
      "\"y\":\"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA\","
      "\"crv\":\"P-256\"}", NGX_SVC_JWA_ES256,
      "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" },
};

static const char  *good[] = {
    "{" UNIT_EC "}",
    "{" UNIT_EC ",\"alg\":\"ES256\",\"use\":\"sig\",\"kid\":1,\"exp\":2}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\""
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"y\":\""
        "ZkhceA4vg9ckM71dhKBrtlQcKvMdrocXKL-FahdPk_Q\"}",
    "{" UNIT_OKP ",\"alg\":\"EdDSA\"}",
    "{" UNIT_OKP ",\"alg\":\"Ed25519\",\"key_ops\":[\"verify\"]}",
};

static const char  *bad[] = {

    "{}",
    "{\"kty\":\"EC\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" UNIT_A3_X "\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"y\":\"" UNIT_A3_Y "\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\"}",

    /* other values */
    "{\"kty\":\"ec\",\"crv\":\"P-256\",\"x\":\"" UNIT_A3_X "\",\"y\":\""
        UNIT_A3_Y "\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"" UNIT_A3_X "\",\"y\":\""
        UNIT_A3_Y "\"}",
    "{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"" UNIT_A3_X "\",\"y\":\""
        UNIT_A3_Y "\"}",
    "{\"kty\":\"OKP\",\"crv\":\"P-256\",\"x\":\"" UNIT_A3_X "\",\"y\":\""
        UNIT_A3_Y "\"}",
    "{\"kty\":\"EC\",\"crv\":\"Ed25519\",\"x\":\"" UNIT_ED_X "\"}",
    "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"" UNIT_ED_X "\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed448\",\"x\":\"" UNIT_ED_X "\"}",
    "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
    "{\"kty\":\"oct\",\"k\":\"AQAB\"}",
    "{\"kty\":[\"EC\"],\"crv\":\"P-256\",\"x\":\"" UNIT_A3_X "\",\"y\":\""
        UNIT_A3_Y "\"}",

    /* private, whatever the value */
    "{" UNIT_EC ",\"d\":\"" UNIT_A3_D "\"}",
    "{" UNIT_OKP ",\"d\":\"" UNIT_ED_D "\"}",
    "{" UNIT_EC ",\"d\":null}", "{" UNIT_EC ",\"p\":\"\"}",
    "{" UNIT_EC ",\"q\":\"\"}", "{" UNIT_EC ",\"dp\":\"\"}",
    "{" UNIT_EC ",\"dq\":\"\"}", "{" UNIT_EC ",\"qi\":\"\"}",
    "{" UNIT_EC ",\"oth\":[]}", "{" UNIT_EC ",\"k\":\"\"}",

    /* for another use */
    "{" UNIT_EC ",\"use\":\"enc\"}", "{" UNIT_EC ",\"use\":null}",
    "{" UNIT_EC ",\"alg\":\"EdDSA\"}", "{" UNIT_EC ",\"alg\":\"ES384\"}",
    "{" UNIT_EC ",\"alg\":\"none\"}", "{" UNIT_EC ",\"alg\":1}",
    "{" UNIT_OKP ",\"alg\":\"ES256\"}",

    /* not base64url of 32 bytes: padded, longer, shorter, bits left over */
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" UNIT_A3_X "=\",\"y\":\""
        UNIT_A3_Y "\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"A" UNIT_A3_X "\",\"y\":\""
        UNIT_A3_Y "\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" UNIT_A3_X "\",\"y\":\"\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" UNIT_A3_X "\",\"y\":0}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\""
        "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEV\",\"y\":\""
        UNIT_A3_Y "\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\""
        "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVE=\",\"y\":\""
        UNIT_A3_Y "\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" UNIT_A3_X "\",\"y\":\""
        "x/FEzRu9m36HLN/tue659LNpXW6pCyStikYjKIWI5a0\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURp\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg\"}",

    /* not on the curve: another y, x for y, zeros; and x = p, where there is
       a point with x = 0 */
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" UNIT_A3_X "\",\"y\":\""
        "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a4\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" UNIT_A3_Y "\",\"y\":\""
        UNIT_A3_X "\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\""
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"y\":\""
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\""
        "_____wAAAAEAAAAAAAAAAAAAAAD_______________8\",\"y\":\""
        "ZkhceA4vg9ckM71dhKBrtlQcKvMdrocXKL-FahdPk_Q\"}",

    /* Ed25519: orders 4, 1, 2 and 8, with either sign; 2^255 - 19 and more */
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIA\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIA\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "7P_______________________________________38\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "7P________________________________________8\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_AU\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_IU\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA3o\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "7f_______________________________________38\"}",
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\""
        "7v________________________________________8\"}",
};


static void
test_thumbprint(void **state)
{
    u_char          digest[NGX_SVC_JWK_THUMBPRINT], text[NGX_SVC_JWK_KID];
    EVP_PKEY       *key;
    ngx_uint_t      i;
    ngx_svc_jwa_e   alg;

    for (i = 0; i < ngx_unit_len(thumbprints); i++) {
        assert_int_equal(unit_jwk(*state, thumbprints[i].jwk, &key, &alg,
                                  digest), NGX_OK);
        assert_int_equal(alg, thumbprints[i].alg);

        (void) ngx_svc_base64url(text, digest, sizeof(digest));
        assert_memory_equal(text, thumbprints[i].thumbprint, sizeof(text));

        EVP_PKEY_free(key);
    }
}


static void
test_good(void **state)
{
    u_char          digest[NGX_SVC_JWK_THUMBPRINT];
    EVP_PKEY       *key;
    ngx_uint_t      i;
    ngx_svc_jwa_e   alg;

    for (i = 0; i < ngx_unit_len(good); i++) {
        if (unit_jwk(*state, good[i], &key, &alg, digest) != NGX_OK) {
            fail_msg("%s is refused", good[i]);
        }

        EVP_PKEY_free(key);
    }
}


static void
test_bad(void **state)
{
    u_char          digest[NGX_SVC_JWK_THUMBPRINT];
    EVP_PKEY       *key;
    ngx_uint_t      i;
    ngx_svc_jwa_e   alg;

    for (i = 0; i < ngx_unit_len(bad); i++) {
        if (unit_jwk(*state, bad[i], &key, &alg, digest) != NGX_DECLINED) {
            fail_msg("%s is taken", bad[i]);
        }
    }

    assert_int_equal(ngx_svc_jwk_public(NULL, &key, &alg, digest),
                     NGX_DECLINED);
}


static void
test_names(void **state)
{
    assert_int_equal(ngx_svc_jwa("ES256"), NGX_SVC_JWA_ES256);
    assert_int_equal(ngx_svc_jwa("EdDSA"), NGX_SVC_JWA_EDDSA);
    assert_int_equal(ngx_svc_jwa("Ed25519"), NGX_SVC_JWA_EDDSA);
    assert_int_equal(ngx_svc_jwa("none"), NGX_SVC_JWA_NONE);
    assert_int_equal(ngx_svc_jwa("es256"), NGX_SVC_JWA_NONE);
    assert_int_equal(ngx_svc_jwa("HS256"), NGX_SVC_JWA_NONE);
    assert_int_equal(ngx_svc_jwa("ES256K"), NGX_SVC_JWA_NONE);
    assert_int_equal(ngx_svc_jwa(""), NGX_SVC_JWA_NONE);
}


/* Compares the private numbers. */

static void
same_number(EVP_PKEY *one, EVP_PKEY *two)
{
    BIGNUM  *first, *second;

    first = NULL;
    second = NULL;

    assert_int_equal(EVP_PKEY_get_bn_param(one, OSSL_PKEY_PARAM_PRIV_KEY,
                                           &first), 1);
    assert_int_equal(EVP_PKEY_get_bn_param(two, OSSL_PKEY_PARAM_PRIV_KEY,
                                           &second), 1);
    assert_int_equal(BN_cmp(first, second), 0);

    BN_free(first);
    BN_free(second);
}


/*
 * A generated key can be read, by OpenSSL, too, and all its forms are one key.
 */

static void
test_generate(void **state)
{
    char                text[NGX_SVC_JWK_TEXT + 1], last[NGX_SVC_JWK_KID];
    cJSON              *json;
    u_char              digest[NGX_SVC_JWK_THUMBPRINT];
    u_char              kid[NGX_SVC_JWK_KID];
    EVP_PKEY           *key, *private, *same;
    ngx_uint_t          i;
    const u_char       *p;
    ngx_svc_jwa_e       alg;
    ngx_svc_jwk_new_t   new;

    memset(last, 0, sizeof(last));

    for (i = 0; i < 50; i++) {
        assert_int_equal(ngx_svc_jwk_generate(&new), NGX_OK);
        assert_memory_not_equal(new.kid, last, sizeof(last));
        memcpy(last, new.kid, sizeof(last));

        memcpy(text, new.jwk, new.jwk_len);
        text[new.jwk_len] = '\0';

        assert_int_equal(unit_jwk(*state, text, &key, &alg, digest), NGX_OK);
        assert_int_equal(alg, NGX_SVC_JWA_ES256);

        (void) ngx_svc_base64url(kid, digest, sizeof(digest));
        assert_memory_equal(kid, new.kid, sizeof(kid));

        json = unit_json(*state, text);
        assert_int_equal(cJSON_GetArraySize(json), 7);
        assert_string_equal(cJSON_GetStringValue(
                                cJSON_GetObjectItem(json, "alg")), "ES256");
        assert_string_equal(cJSON_GetStringValue(
                                cJSON_GetObjectItem(json, "use")), "sig");
        assert_memory_equal(cJSON_GetStringValue(
                                cJSON_GetObjectItem(json, "kid")),
                            new.kid, sizeof(new.kid));

        private = ngx_svc_jwk_private(new.der, new.der_len);
        assert_non_null(private);
        assert_int_equal(EVP_PKEY_eq(private, key), 1);

        p = new.der;
        same = d2i_AutoPrivateKey(NULL, &p, new.der_len);
        assert_non_null(same);
        assert_ptr_equal(p, new.der + new.der_len);
        assert_int_equal(EVP_PKEY_eq(private, same), 1);
        ERR_clear_error();

        same_number(private, same);

        EVP_PKEY_free(same);
        EVP_PKEY_free(private);
        EVP_PKEY_free(key);
    }
}


static EVP_PKEY *
make(const char *type, const char *group)
{
    return strcmp(type, "EC") ? EVP_PKEY_Q_keygen(NULL, NULL, type)
                              : EVP_PKEY_Q_keygen(NULL, NULL, type, group);
}


/*
 * Private keys that are cut, that have a byte more, or that are of other types.
 */

static void
test_private(void **state)
{
    size_t               n;
    u_char               der[256], *p;
    EVP_PKEY            *key;
    ngx_uint_t           i;
    ngx_svc_jwk_new_t    new;
    PKCS8_PRIV_KEY_INFO  *info;

    static const char *const  others[][2] = {
        { "EC", "P-384" }, { "EC", "secp256k1" }, { "ED25519", NULL },
        { "X25519", NULL }
    };

    assert_int_equal(ngx_svc_jwk_generate(&new), NGX_OK);

    for (n = 0; n < new.der_len; n++) {
        memcpy(der, new.der, n);
        assert_null(ngx_svc_jwk_private(der, n));
    }

    memcpy(der, new.der, n);
    der[n] = 0;
    assert_null(ngx_svc_jwk_private(der, n + 1));

    /*
     * changing any byte except the number's makes the form or the point invalid
     */

    for (i = 0; i < n; i++) {
        if (i < 36 || i >= 36 + 32) {
            der[i] ^= 1;
            assert_null(ngx_svc_jwk_private(der, n));
            der[i] ^= 1;
        }
    }

    for (i = 0; i < ngx_unit_len(others); i++) {
        key = make(others[i][0], others[i][1]);
        assert_non_null(key);

        info = EVP_PKEY2PKCS8(key);
        assert_non_null(info);

        p = der;
        n = i2d_PKCS8_PRIV_KEY_INFO(info, &p);
        assert_in_range(n, 1, sizeof(der));

        assert_null(ngx_svc_jwk_private(der, n));

        PKCS8_PRIV_KEY_INFO_free(info);
        EVP_PKEY_free(key);
    }

    assert_int_equal(ERR_peek_error(), 0);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_thumbprint),
        ngx_unit_test(test_good),
        ngx_unit_test(test_bad),
        cmocka_unit_test(test_names),
        ngx_unit_test(test_generate),
        cmocka_unit_test(test_private),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("jwk", tests, NULL, NULL);
}
