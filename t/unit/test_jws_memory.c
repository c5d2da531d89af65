/*
 * JSON Web Signatures when memory runs out: that of pools, and OpenSSL's.
 */

#include "ngx_unit_foreign.h"
#include "ngx_svc_jwk_foreign.h"


/* RFC 7515, A.3 */

#define A3_TEXT                                                               \
    "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogIm" \
    "h0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKA" \
    "M6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"


/* how many allocations of OpenSSL succeed before one fails */

static int  mallocs = -1;
static int  failed;


/* Lets one allocation of OpenSSL fail, after n others. */

static void
limit_mallocs(int n)
{
    mallocs = n;
    failed = 0;
}


static int
out_of_memory(void)
{
    failed |= mallocs == 0;

    return mallocs >= 0 && mallocs-- == 0;
}


static void *
limited_malloc(size_t size, const char *file, int line)
{
    return out_of_memory() ? NULL : malloc(size);
}


static void *
limited_realloc(void *p, size_t size, const char *file, int line)
{
    return out_of_memory() ? NULL : realloc(p, size);
}


static void
plain_free(void *p, const char *file, int line)
{
    free(p);
}


static int
no_memory_verify(cJSON *jwk, const ngx_svc_jws_t *jws)
{
    u_char          digest[NGX_SVC_JWK_THUMBPRINT];
    EVP_PKEY       *key;
    ngx_int_t       rc;
    ngx_svc_jwa_e   alg;

    rc = ngx_svc_jwk_public(jwk, &key, &alg, digest);

    if (rc == NGX_OK) {
        rc = ngx_svc_jws_verify(jws, key, alg);
        EVP_PKEY_free(key);
    }

    return (int) rc;
}


/* A failure never verifies a signature; OpenSSL can do without some memory. */

static void
test_no_memory_verify(void **state)
{
    int             n;
    cJSON          *jwk;
    ngx_int_t       rc;
    ngx_uint_t      good;
    ngx_svc_jws_t   jws;

    jwk = unit_json(*state, "{" UNIT_EC "}");
    assert_int_equal(unit_parse(*state, A3_TEXT, &jws), NGX_OK);

    /* makes OpenSSL allocate what it keeps until the process ends */

    assert_int_equal(no_memory_verify(jwk, &jws), NGX_OK);

    for (good = 0; good < 2; good++) {
        jws.signature[63] ^= !good;

        for (n = 0, failed = 1; failed; n++) {
            limit_mallocs(n);
            rc = no_memory_verify(jwk, &jws);
            mallocs = -1;

            assert_int_equal(ERR_peek_error(), 0);

            if (!good) {
                assert_int_not_equal(rc, NGX_OK);
            }
        }

        assert_in_range(n, 20, 2000);

        jws.signature[63] ^= !good;
    }

    assert_int_equal(rc, NGX_OK);
}


static ngx_int_t
no_memory_foreign(cJSON *jwk, const ngx_svc_jws_t *jws)
{
    EVP_PKEY    *key;
    ngx_int_t    rc;
    ngx_uint_t   algs;

    rc = ngx_svc_jwk_foreign(jwk, &key, &algs);

    if (rc == NGX_OK) {
        rc = ngx_svc_jws_verify(jws, key, jws->alg);
        EVP_PKEY_free(key);
    }

    return rc;
}


/* The same for keys of other identity providers. */

static void
test_no_memory_foreign(void **state)
{
    int             n, good;
    char           *text, header[32];
    cJSON          *jwk;
    EVP_PKEY       *key;
    ngx_int_t       rc;
    ngx_str_t       str;
    ngx_uint_t      i;
    ngx_svc_jws_t   jws;

    static const char *const  algs[] = { "RS256", "PS256", "ES384", "EdDSA" };

    for (i = 0; i < ngx_unit_len(algs) * 2; i++) {
        good = i % 2;
        key = i < 4 ? EVP_RSA_gen(2048)
              : i < 6 ? EVP_EC_gen("P-384")
                      : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");

        sprintf(header, "{\"alg\":\"%s\"}", algs[i / 2]);
        text = foreign_sign(*state, key, algs[i / 2], header, "{}");
        jwk = unit_json(*state, foreign_jwk(*state, key, ""));
        EVP_PKEY_free(key);

        str.data = (u_char *) text;
        str.len = strlen(text);
        assert_int_equal(ngx_svc_jws_parse_foreign(*state, &str, &jws),
                         NGX_OK);
        assert_int_equal(no_memory_foreign(jwk, &jws), NGX_OK);

        jws.signature[jws.signature_len - 1] ^= !good;

        for (n = 0, failed = 1; failed; n++) {
            limit_mallocs(n);
            rc = no_memory_foreign(jwk, &jws);
            mallocs = -1;

            assert_int_equal(ERR_peek_error(), 0);

            if (!good) {
                assert_int_not_equal(rc, NGX_OK);
            }
        }

        assert_int_equal(rc, good ? NGX_OK : NGX_DECLINED);
        assert_in_range(n, 5, 2000);
    }
}


static void
test_no_memory_sign(void **state)
{
    int                 n;
    u_char              text[512], *p;
    EVP_PKEY           *key;
    ngx_int_t           rc;
    EVP_PKEY_CTX       *signer;
    ngx_svc_jws_t       jws;
    ngx_svc_jwk_new_t   new;

    static ngx_str_t  header = ngx_string("{\"alg\":\"ES256\"}");
    static ngx_str_t  payload = ngx_string("{}");

    assert_int_equal(ngx_svc_jwk_generate(&new), NGX_OK);

    for (n = 0, failed = 1; failed; n++) {
        limit_mallocs(n);
        rc = ngx_svc_jwk_generate(&new);
        mallocs = -1;

        if (rc != NGX_OK) {
            assert_int_equal(failed, 1);
        }
    }

    assert_in_range(n, 20, 5000);

    for (n = 0, failed = 1; failed; n++) {
        limit_mallocs(n);

        key = ngx_svc_jwk_private(new.der, new.der_len);
        mallocs = -1;

        if (key == NULL) {
            assert_int_equal(failed, 1);
        }

        EVP_PKEY_free(key);
    }

    key = ngx_svc_jwk_private(new.der, new.der_len);
    assert_non_null(key);

    for (n = 0, failed = 1; failed; n++) {
        limit_mallocs(n);

        signer = ngx_svc_jws_signer(key);
        p = signer ? ngx_svc_jws_sign(signer, &header, &payload, text) : NULL;
        mallocs = -1;

        if (p == NULL) {
            assert_int_equal(failed, 1);
            assert_int_equal(ERR_peek_error(), 0);

        } else {
            *p = '\0';
            assert_int_equal(unit_parse(*state, (char *) text, &jws), NGX_OK);
            assert_int_equal(ngx_svc_jws_verify(&jws, key, NGX_SVC_JWA_ES256),
                             NGX_OK);
        }

        EVP_PKEY_CTX_free(signer);
    }

    EVP_PKEY_free(key);
}


static void
test_memory(void **state)
{
    ngx_int_t      rc, n;
    ngx_svc_jws_t  jws;

    for (n = 0; n < 100; n++) {
        ngx_env_alloc_limit(n);

        rc = unit_parse(*state, A3_TEXT, &jws);

        ngx_env_alloc_limit(-1);

        if (rc == NGX_OK) {
            break;
        }

        assert_int_equal(rc, NGX_ERROR);
    }

    assert_in_range(n, 5, 50);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_memory),
        ngx_unit_test(test_no_memory_verify),
        ngx_unit_test(test_no_memory_foreign),
        ngx_unit_test(test_no_memory_sign),
    };

    (void) CRYPTO_set_mem_functions(limited_malloc, limited_realloc,
                                    plain_free);

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("jws_memory", tests, NULL, NULL);
}
