/*
 * The secret with which we authenticate to Apple.
 */

#include "ngx_unit_foreign.h"
#include "ngx_svc_apple_secret.h"

#include <openssl/pem.h>


#define NOW  1800000000


/* Returns a key as PEM: as PKCS #8 unless traditional; password may be NULL. */

static ngx_str_t
pem_of(ngx_pool_t *pool, EVP_PKEY *key, ngx_uint_t traditional, char *password)
{
    BIO        *bio;
    char       *data;
    ngx_str_t   pem;

    bio = BIO_new(BIO_s_mem());

    assert_int_equal(traditional
                     ? PEM_write_bio_PrivateKey_traditional(bio, key, NULL,
                                                       NULL, 0, NULL, NULL)
                     : PEM_write_bio_PKCS8PrivateKey(bio, key,
                                           password ? EVP_aes_128_cbc() : NULL,
                                           password,
                                           password ? (int) strlen(password)
                                                    : 0, NULL, NULL), 1);

    pem.len = BIO_get_mem_data(bio, &data);
    pem.data = ngx_pnalloc(pool, pem.len);
    memcpy(pem.data, data, pem.len);

    BIO_free(bio);

    return pem;
}


static ngx_int_t
key_of(const ngx_str_t *pem)
{
    EVP_PKEY   *key;
    ngx_int_t   rc;

    rc = ngx_svc_apple_secret_key(pem, &key);

    assert_int_equal(ERR_peek_error(), 0);
    assert_int_equal(key != NULL, rc == NGX_OK);

    EVP_PKEY_free(key);

    return rc;
}


static void
test_keys(void **state)
{
    EVP_PKEY    *key;
    ngx_str_t    pem;
    ngx_uint_t   i;

    static char  password[] = "secret";

    const struct {
        EVP_PKEY   *key;
        ngx_int_t   rc;
    } rows[] = {
        { EVP_EC_gen("P-256"), NGX_OK },
        { EVP_EC_gen("P-384"), NGX_DECLINED },
        { EVP_EC_gen("secp256k1"), NGX_DECLINED },
        { EVP_RSA_gen(2048), NGX_DECLINED },
        { EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"), NGX_DECLINED }
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        pem = pem_of(*state, rows[i].key, 0, NULL);
        assert_int_equal(key_of(&pem), rows[i].rc);

        pem = pem_of(*state, rows[i].key, 0, password);
        assert_int_equal(key_of(&pem), NGX_DECLINED);

        EVP_PKEY_free(rows[i].key);
    }

    key = EVP_EC_gen("P-256");
    pem = pem_of(*state, key, 1, NULL);
    assert_int_equal(key_of(&pem), NGX_DECLINED);

    pem = pem_of(*state, key, 0, NULL);
    EVP_PKEY_free(key);

    for (i = 0; i < pem.len - 1; i++) {
        ngx_str_t  part;

        part.data = pem.data;
        part.len = i;
        assert_int_equal(key_of(&part), NGX_DECLINED);
    }

    for (i = 28; i < pem.len - 28; i += 3) {
        pem.data[i] ^= 0x40;
        (void) key_of(&pem);
        pem.data[i] ^= 0x40;
    }

    assert_int_equal(key_of(&pem), NGX_OK);

    /* the line feed at the end may be missing */

    pem.len--;
    assert_int_equal(key_of(&pem), NGX_OK);
}


/* What a PEM says of itself is looked at, and its DER has nothing behind it. */

static void
test_pem(void **state)
{
    BIO         *bio;
    int          len;
    char        *data;
    u_char      *der, *p;
    EVP_PKEY    *key;
    ngx_str_t    pem;
    ngx_uint_t   i;

    PKCS8_PRIV_KEY_INFO  *info;

    static const struct {
        const char  *name;
        const char  *header;
        int          more;          /* bytes */
        ngx_int_t    rc;
    } rows[] = {
        { "PRIVATE KEY", "", 0, NGX_OK },
        { "PRIVATE KEY", "", 1, NGX_DECLINED },
        { "PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n", 0, NGX_DECLINED },
        { "EC PRIVATE KEY", "", 0, NGX_DECLINED },
        { "PUBLIC KEY", "", 0, NGX_DECLINED },
    };

    key = EVP_EC_gen("P-256");
    info = EVP_PKEY2PKCS8(key);

    len = i2d_PKCS8_PRIV_KEY_INFO(info, NULL);
    p = der = ngx_palloc(*state, len + 1);
    i2d_PKCS8_PRIV_KEY_INFO(info, &p);
    *p = 0;

    for (i = 0; i < ngx_unit_len(rows); i++) {
        bio = BIO_new(BIO_s_mem());
        assert_true(PEM_write_bio(bio, rows[i].name, rows[i].header, der,
                                  len + rows[i].more) > 0);

        pem.len = BIO_get_mem_data(bio, &data);
        pem.data = (u_char *) data;
        assert_int_equal(key_of(&pem), rows[i].rc);

        BIO_free(bio);
    }

    PKCS8_PRIV_KEY_INFO_free(info);
    EVP_PKEY_free(key);
}


static void
test_secret(void **state)
{
    cJSON          *json;
    EVP_PKEY       *key;
    ngx_str_t       text;
    ngx_svc_jws_t   jws;

    ngx_svc_apple_secret_t  apple;

    key = EVP_EC_gen("P-256");

    ngx_str_set(&apple.team_id, "TEAM123456");
    ngx_str_set(&apple.key_id, "KEY1234567");
    ngx_str_set(&apple.client_id, "com.example.\"web\\");
    apple.pem = pem_of(*state, key, 0, NULL);

    assert_int_equal(ngx_svc_apple_secret(*state, &apple, NOW, &text), NGX_OK);
    assert_int_equal(ngx_svc_jws_parse(*state, &text, &jws), NGX_OK);
    assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_ES256), NGX_OK);
    assert_string_equal((char *) jws.kid.data, "KEY1234567");
    assert_null(jws.typ.data);

    json = unit_json(*state, "{\"iss\":\"TEAM123456\",\"iat\":1800000000,"
                     "\"exp\":1800000300,"
                     "\"aud\":\"https://appleid.apple.com\","
                     "\"sub\":\"com.example.\\\"web\\\\\"}");
    assert_true(cJSON_Compare(jws.payload, json, 1));

    apple.pem.len -= 40;
    assert_int_equal(ngx_svc_apple_secret(*state, &apple, NOW, &text),
                     NGX_DECLINED);
    assert_int_equal(ERR_peek_error(), 0);

    EVP_PKEY_free(key);
}


static void
test_memory(void **state)
{
    EVP_PKEY   *key;
    ngx_int_t   rc, n;
    ngx_str_t   text;

    ngx_svc_apple_secret_t  apple;

    key = EVP_EC_gen("P-256");

    ngx_str_set(&apple.team_id, "TEAM123456");
    ngx_str_set(&apple.key_id, "KEY1234567");
    ngx_str_set(&apple.client_id, "com.example.web");
    apple.pem = pem_of(*state, key, 0, NULL);

    for (n = 0; n < 20; n++) {
        ngx_env_alloc_limit(n);
        rc = ngx_svc_apple_secret(*state, &apple, NOW, &text);
        ngx_env_alloc_limit(-1);

        if (rc == NGX_OK) {
            break;
        }

        assert_int_equal(rc, NGX_ERROR);
    }

    assert_in_range(n, 3, 10);

    EVP_PKEY_free(key);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_keys),
        ngx_unit_test(test_pem),
        ngx_unit_test(test_secret),
        ngx_unit_test(test_memory),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("apple_secret", tests, NULL, NULL);
}
