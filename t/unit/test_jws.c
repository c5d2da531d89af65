/*
 * JSON Web Signatures.
 */

#include "ngx_unit_jose.h"


/* RFC 7515, A.3 */

#define A3_HEADER   "eyJhbGciOiJFUzI1NiJ9"
#define A3_PAYLOAD  "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA" \
                    "6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
#define A3_SIGNED   "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5dj" \
                    "xLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

/* RFC 8037, A.4, whose payload is not JSON */

#define ED_TEXT     "eyJhbGciOiJFZERTQSJ9."                                   \
                    "RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
#define ED_SIGNED   "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki" \
                    "4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"

#define NO_PARTS    "is not a JWS of three parts"
#define NO_HEADER   "has a header that is not a JSON object in base64url"
#define NO_PAYLOAD  "has a payload that is not a JSON object in base64url"
#define NO_SIGNED   "has a signature that is not 64 bytes in base64url"
#define NO_ALG      "has an 'alg' that is none of ES256, EdDSA and Ed25519"


static const struct {
    const char  *text;
    const char  *why;
} malformed[] = {

    { "", NO_PARTS },
    { ".", NO_PARTS },
    { A3_HEADER, NO_PARTS },
    { A3_HEADER "." A3_PAYLOAD, NO_PARTS },
    { A3_HEADER "." A3_PAYLOAD "." A3_SIGNED ".", NO_PARTS },
    { A3_HEADER "." A3_PAYLOAD "." A3_SIGNED ".x.y", NO_PARTS },

    { "..", NO_HEADER },
    { "." A3_PAYLOAD "." A3_SIGNED, NO_HEADER },
    { A3_HEADER "=." A3_PAYLOAD "." A3_SIGNED, NO_HEADER },
    { "x." A3_PAYLOAD "." A3_SIGNED, NO_HEADER },
    { " " A3_HEADER "." A3_PAYLOAD "." A3_SIGNED, NO_HEADER },
    { "{}." A3_PAYLOAD "." A3_SIGNED, NO_HEADER },

    { A3_HEADER ".." A3_SIGNED, NO_PAYLOAD },
    { A3_HEADER ".e31." A3_SIGNED, NO_PAYLOAD },
    { A3_HEADER "." A3_PAYLOAD "==." A3_SIGNED, NO_PAYLOAD },
    { A3_HEADER "." A3_HEADER "x." A3_SIGNED, NO_PAYLOAD },

    { A3_HEADER "." A3_PAYLOAD ".", NO_SIGNED },
    { A3_HEADER "." A3_PAYLOAD ".x" A3_SIGNED, NO_SIGNED },
    { A3_HEADER "." A3_PAYLOAD "." A3_SIGNED "==", NO_SIGNED },
    { A3_HEADER "." A3_PAYLOAD "." A3_SIGNED "\n", NO_SIGNED },
    { A3_HEADER "." A3_PAYLOAD ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXF"
      "CgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1R", NO_SIGNED },
    { A3_HEADER "." A3_PAYLOAD ".DtEhU3ljbEg8L38VWAfUAqOyKAM6+Xx+F4GawxaepmXF"
      "CgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3+Kg6NU1Q", NO_SIGNED },
};

/* Headers in plain text, and payloads, which are then signed. */

static const struct {
    const char  *header;
    const char  *payload;
    const char  *why;
} objects[] = {

    { "null", "{}", NO_HEADER },
    { "[]", "{}", NO_HEADER },
    { "\"ES256\"", "{}", NO_HEADER },
    { "{\"alg\":\"ES256\"", "{}", NO_HEADER },
    { "{\"alg\":\"ES256\"}x", "{}", NO_HEADER },
    { "{\"alg\":\"ES256\",\"alg\":\"ES256\"}", "{}", NO_HEADER },
    { "{\"alg\":\"none\",\"\\u0061lg\":\"ES256\"}", "{}", NO_HEADER },
    { "{\"alg\":\"ES256\\u0000\"}", "{}", NO_HEADER },
    { "{\"alg\":\"ES256\",\"x\":\"\xff\"}", "{}", NO_HEADER },

    { "{}", "{}", NO_ALG },
    { "{\"alg\":\"none\"}", "{}", NO_ALG },
    { "{\"alg\":\"\"}", "{}", NO_ALG },
    { "{\"alg\":\"HS256\"}", "{}", NO_ALG },
    { "{\"alg\":\"RS256\"}", "{}", NO_ALG },
    { "{\"alg\":\"ES384\"}", "{}", NO_ALG },
    { "{\"alg\":\"es256\"}", "{}", NO_ALG },
    { "{\"Alg\":\"ES256\"}", "{}", NO_ALG },
    { "{\"alg\":[\"ES256\"]}", "{}", NO_ALG },
    { "{\"alg\":null}", "{}", NO_ALG },

    { "{\"alg\":\"ES256\",\"crit\":[\"exp\"]}", "{}",
      "has a 'crit' in its header" },
    { "{\"alg\":\"ES256\",\"crit\":null}", "{}",
      "has a 'crit' in its header" },
    { "{\"alg\":\"ES256\",\"typ\":1}", "{}",
      "has a 'typ' that is not a string" },
    { "{\"alg\":\"ES256\",\"kid\":null}", "{}",
      "has a 'kid' that is not a string" },

    { "{\"alg\":\"ES256\"}", "null", NO_PAYLOAD },
    { "{\"alg\":\"ES256\"}", "[{}]", NO_PAYLOAD },
    { "{\"alg\":\"ES256\"}", "{\"a\":1,\"a\":1}", NO_PAYLOAD },
    { "{\"alg\":\"ES256\"}", "{\"x\":{\"a\":1,\"\\u0061\":1}}", NO_PAYLOAD },
    { "{\"alg\":\"ES256\"}", "{\"a\":01}", NO_PAYLOAD },
    { "{\"alg\":\"ES256\"}", "text", NO_PAYLOAD },
};


/* Returns RFC 7515's key, or a new one. */

static EVP_PKEY *
a3_key(ngx_pool_t *pool)
{
    u_char          digest[NGX_SVC_JWK_THUMBPRINT];
    EVP_PKEY       *key;
    ngx_svc_jwa_e   alg;

    assert_int_equal(unit_jwk(pool, "{" UNIT_EC "}", &key, &alg, digest),
                     NGX_OK);

    return key;
}


static EVP_PKEY *
new_key(void)
{
    EVP_PKEY           *key;
    ngx_svc_jwk_new_t   new;

    assert_int_equal(ngx_svc_jwk_generate(&new), NGX_OK);

    key = ngx_svc_jwk_private(new.der, new.der_len);
    assert_non_null(key);

    return key;
}


static void
test_rfc7515(void **state)
{
    EVP_PKEY       *key, *other;
    ngx_uint_t      i;
    ngx_svc_jws_t   jws;

    static const char  text[] = A3_HEADER "." A3_PAYLOAD "." A3_SIGNED;

    key = a3_key(*state);

    assert_int_equal(unit_parse(*state, text, &jws), NGX_OK);
    assert_int_equal(jws.alg, NGX_SVC_JWA_ES256);
    assert_null(jws.typ.data);
    assert_null(jws.kid.data);
    assert_string_equal(cJSON_GetStringValue(
                            cJSON_GetObjectItem(jws.payload, "iss")), "joe");

    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_ES256),
                     NGX_OK);

    /* each bit of the signature */

    for (i = 0; i < NGX_SVC_JWS_SIGNATURE * 8; i++) {
        jws.signature[i / 8] ^= 1 << (i % 8);
        assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_ES256),
                         NGX_DECLINED);
        jws.signature[i / 8] ^= 1 << (i % 8);
    }

    assert_int_equal(ERR_peek_error(), 0);

    /* another text, key, algorithm, type of key */

    jws.signed_text.len--;
    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_ES256),
                     NGX_DECLINED);
    jws.signed_text.len++;

    other = new_key();
    assert_int_equal(ngx_svc_jws_verify(&jws, other, NGX_SVC_JWA_ES256),
                     NGX_DECLINED);
    EVP_PKEY_free(other);

    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_EDDSA),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_NONE),
                     NGX_DECLINED);

    jws.alg = NGX_SVC_JWA_EDDSA;
    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_ES256),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_EDDSA),
                     NGX_DECLINED);

    jws.alg = NGX_SVC_JWA_NONE;
    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_NONE),
                     NGX_DECLINED);
    assert_int_equal(ERR_peek_error(), 0);

    EVP_PKEY_free(key);
}


/* 0, the order and more, for r and for s. */

static void
test_range(void **state)
{
    EVP_PKEY       *key;
    ngx_uint_t      i, half;
    ngx_svc_jws_t   jws;

    static const u_char  numbers[][33] = {
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        "\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"
        "\xbc\xe6\xfa\xad\xa7\x17\x9e\x84\xf3\xb9\xca\xc2\xfc\x63\x25\x51",
        "\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"
        "\xbc\xe6\xfa\xad\xa7\x17\x9e\x84\xf3\xb9\xca\xc2\xfc\x63\x25\x52",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",

        /* in range, but not a signature */
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01",
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80",
        "\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"
        "\xbc\xe6\xfa\xad\xa7\x17\x9e\x84\xf3\xb9\xca\xc2\xfc\x63\x25\x50",
    };

    key = a3_key(*state);

    for (i = 0; i < ngx_unit_len(numbers); i++) {
        for (half = 0; half < 3; half++) {
            assert_int_equal(unit_parse(*state, A3_HEADER "." A3_PAYLOAD "."
                                        A3_SIGNED, &jws), NGX_OK);

            if (half != 1) {
                memcpy(jws.signature, numbers[i], 32);
            }

            if (half != 0) {
                memcpy(jws.signature + 32, numbers[i], 32);
            }

            assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_ES256),
                             NGX_DECLINED);
            assert_int_equal(ERR_peek_error(), 0);
        }
    }

    EVP_PKEY_free(key);
}


static void
test_rfc8037(void **state)
{
    u_char          digest[NGX_SVC_JWK_THUMBPRINT];
    u_char          signature[NGX_SVC_JWS_SIGNATURE];
    EVP_PKEY       *key;
    ngx_uint_t      i;
    ngx_svc_jws_t   jws;
    ngx_svc_jwa_e   alg;

    assert_int_equal(unit_parse(*state, ED_TEXT "." ED_SIGNED, &jws),
                     NGX_DECLINED);
    assert_string_equal(jws.why, NO_PAYLOAD);

    assert_int_equal(unit_jwk(*state, "{" UNIT_OKP "}", &key, &alg, digest),
                     NGX_OK);

    memset(&jws, 0, sizeof(jws));
    jws.alg = NGX_SVC_JWA_EDDSA;
    jws.signature = signature;
    ngx_str_set(&jws.signed_text, ED_TEXT);
    assert_int_equal(ngx_svc_base64url_decode((u_char *) ED_SIGNED,
                                              strlen(ED_SIGNED), signature,
                                              &jws.signature_len), NGX_OK);

    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_EDDSA),
                     NGX_OK);
    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_ES256),
                     NGX_DECLINED);

    for (i = 0; i < NGX_SVC_JWS_SIGNATURE * 8; i++) {
        jws.signature[i / 8] ^= 1 << (i % 8);
        assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_EDDSA),
                         NGX_DECLINED);
        jws.signature[i / 8] ^= 1 << (i % 8);
    }

    jws.alg = NGX_SVC_JWA_ES256;
    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_ES256),
                     NGX_DECLINED);

    EVP_PKEY_free(key);

    /* no point of the curve has y = 2 */

    assert_int_equal(unit_jwk(*state, "{\"kty\":\"OKP\",\"crv\":\"Ed25519\","
                              "\"x\":\"AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                              "AAAA\"}", &key, &alg, digest), NGX_OK);
    jws.alg = NGX_SVC_JWA_EDDSA;
    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_EDDSA),
                     NGX_DECLINED);
    assert_int_equal(ERR_peek_error(), 0);

    EVP_PKEY_free(key);
}


static void
test_malformed(void **state)
{
    char           *text;
    EVP_PKEY       *key;
    ngx_uint_t      i;
    EVP_PKEY_CTX   *signer;
    ngx_svc_jws_t   jws;

    for (i = 0; i < ngx_unit_len(malformed); i++) {
        if (unit_parse(*state, malformed[i].text, &jws) != NGX_DECLINED) {
            fail_msg("%s is taken", malformed[i].text);
        }

        assert_string_equal(jws.why, malformed[i].why);
    }

    key = new_key();
    signer = ngx_svc_jws_signer(key);

    for (i = 0; i < ngx_unit_len(objects); i++) {
        text = unit_sign(*state, signer, objects[i].header,
                         objects[i].payload);

        if (unit_parse(*state, text, &jws) != NGX_DECLINED) {
            fail_msg("%s.%s is taken", objects[i].header, objects[i].payload);
        }

        assert_string_equal(jws.why, objects[i].why);
    }

    EVP_PKEY_CTX_free(signer);
    EVP_PKEY_free(key);
}


/* 8,192 bytes are accepted, and not one more. */

static void
test_size(void **state)
{
    char           *text, payload[NGX_SVC_JWS_MAX];
    size_t          n;
    EVP_PKEY       *key;
    EVP_PKEY_CTX   *signer;
    ngx_svc_jws_t   jws;

    key = new_key();
    signer = ngx_svc_jws_signer(key);

    for (n = 6050; n < 6070; n++) {
        memset(payload, 'x', n);
        memcpy(payload, "{\"a\":\"", 6);
        strcpy(payload + n - 2, "\"}");

        text = unit_sign(*state, signer, "{\"alg\":\"ES256\"}", payload);

        if (strlen(text) <= 8192) {
            assert_int_equal(unit_parse(*state, text, &jws), NGX_OK);
            continue;
        }

        assert_int_equal(unit_parse(*state, text, &jws), NGX_DECLINED);
        assert_string_equal(jws.why, "is longer than 8192 bytes");
        break;
    }

    assert_in_range(n, 6051, 6069);

    EVP_PKEY_CTX_free(signer);
    EVP_PKEY_free(key);
}


/* Signs often: the first byte of r or s is 0 in two of 256 signatures. */

static void
test_sign(void **state)
{
    char           *text, payload[64];
    EVP_PKEY       *key;
    ngx_uint_t      i, zeros;
    EVP_PKEY_CTX   *signer;
    ngx_svc_jws_t   jws;

    static const char  header[] =
        "{\"alg\":\"ES256\",\"kid\":\"k-1\",\"typ\":\"at+jwt\",\"b\":{}}";

    key = new_key();
    signer = ngx_svc_jws_signer(key);
    EVP_PKEY_free(key);
    key = EVP_PKEY_CTX_get0_pkey(signer);

    for (i = 0, zeros = 0; i < 2000; i++) {
        sprintf(payload, "{\"n\":%u}", (unsigned) i);
        text = unit_sign(*state, signer, header, payload);

        assert_int_equal(unit_parse(*state, text, &jws), NGX_OK);
        assert_int_equal(jws.kid.len, 3);
        assert_string_equal((char *) jws.kid.data, "k-1");
        assert_string_equal((char *) jws.typ.data, "at+jwt");
        assert_ptr_equal(jws.signed_text.data, text);

        assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_ES256),
                         NGX_OK);

        zeros += (jws.signature[0] == 0) + (jws.signature[32] == 0);
    }

    assert_in_range(zeros, 1, 100);
    assert_int_equal(ERR_peek_error(), 0);

    EVP_PKEY_CTX_free(signer);
}


/* Signing with a key that cannot, a public one, fails. */

static void
test_cannot_sign(void **state)
{
    u_char         text[512];
    EVP_PKEY      *key;
    EVP_PKEY_CTX  *signer;

    static ngx_str_t  json = ngx_string("{}");

    key = a3_key(*state);
    signer = ngx_svc_jws_signer(key);

    if (signer) {
        assert_null(ngx_svc_jws_sign(signer, &json, &json, text));
    }

    assert_int_equal(ERR_peek_error(), 0);

    EVP_PKEY_CTX_free(signer);
    EVP_PKEY_free(key);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_rfc7515),
        ngx_unit_test(test_range),
        ngx_unit_test(test_rfc8037),
        ngx_unit_test(test_malformed),
        ngx_unit_test(test_size),
        ngx_unit_test(test_sign),
        ngx_unit_test(test_cannot_sign),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("jws", tests, NULL, NULL);
}
