/*
 * Keys and signatures of RSA.
 */

#include "ngx_unit_foreign.h"
#include "ngx_svc_jwk_rsa.h"
#include "ngx_svc_jws_rsa.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/rsa.h>


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

    /* the key decides about the alg, whatever the header says */

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


/*
 * RSA is for tenants' keys only, not for what a client signs, as a DPoP proof.
 */

static void
test_parse(void **state)
{
    char           *dot, was;
    ngx_svc_jws_t   jws;

    assert_int_equal(unit_parse(*state, text, &jws), NGX_DECLINED);
    assert_string_equal(jws.why, NO_ALG);

    dot = strrchr(text, '.');
    was = dot[1];
    dot[1] = (was == 'A') ? 'B' : 'A';
    assert_int_equal(parse(*state, text, &jws), NGX_OK);
    dot[1] = was;

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


/* One member of the public key is replaced. */

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


/* Signs as a client does, with a key of its own of any allowed size. */

static void
client_text(EVP_PKEY *key, const char *alg, int padding, int salt, char *out)
{
    size_t         len;
    u_char         signature[NGX_SVC_JWS_RSA_MAX], *p;
    char           header[64];
    EVP_MD_CTX    *md;
    EVP_PKEY_CTX  *ctx;

    sprintf(header, "{\"alg\":\"%s\"}", alg);

    p = ngx_svc_base64url((u_char *) out, (u_char *) header, strlen(header));
    *p++ = '.';
    p = ngx_svc_base64url(p, (u_char *) "{}", 2);

    md = EVP_MD_CTX_new();
    len = sizeof(signature);

    assert_int_equal(EVP_DigestSignInit(md, &ctx, EVP_sha256(), NULL, key), 1);
    assert_int_equal(EVP_PKEY_CTX_set_rsa_padding(ctx, padding), 1);

    if (padding == RSA_PKCS1_PSS_PADDING) {
        assert_int_equal(EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, salt), 1);
    }

    assert_int_equal(EVP_DigestSign(md, signature, &len, (u_char *) out,
                                    p - (u_char *) out), 1);
    EVP_MD_CTX_free(md);

    *p++ = '.';
    p = ngx_svc_base64url(p, signature, len);
    *p = '\0';
}


/* Writes its public key, with more members before "n". */

static void
client_jwk(EVP_PKEY *key, const char *more, char *out)
{
    u_char   bytes[NGX_SVC_JWS_RSA_MAX + 1], chars[700], *p;
    BIGNUM  *n;

    n = NULL;

    assert_int_equal(EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &n), 1);
    p = ngx_svc_base64url(chars, bytes, BN_bn2bin(n, bytes));

    sprintf(out, "{\"kty\":\"RSA\",\"e\":\"AQAB\",%s\"n\":\"%.*s\"}", more,
            (int) (p - chars), chars);

    BN_free(n);
}


static ngx_int_t
client_verify(ngx_pool_t *pool, const char *jws_text, EVP_PKEY *key,
    ngx_uint_t algs)
{
    ngx_str_t      str;
    ngx_svc_jws_t  jws;

    str.data = (u_char *) jws_text;
    str.len = strlen(jws_text);

    assert_int_equal(ngx_svc_jws_parse_client(pool, &str, &jws), NGX_OK);

    return algs & ngx_svc_jwa_bit(jws.alg)
           ? ngx_svc_jws_verify(&jws, key, jws.alg) : NGX_DECLINED;
}


static void
test_client(void **state)
{
    char         jwk[1024], jws[2048];
    EVP_PKEY    *key, *public;
    ngx_uint_t   i, algs, both;
    ngx_str_t    str;

    ngx_svc_jws_t  parsed;

    static const unsigned  bits[] = { 2048, 2064, 3072, 4096 };

    both = ngx_svc_jwa_bit(NGX_SVC_JWA_RS256)
           | ngx_svc_jwa_bit(NGX_SVC_JWA_PS256);

    for (i = 0; i < ngx_unit_len(bits); i++) {
        key = foreign_rsa(bits[i], bits[i] > 3072 ? 4 : 2, RSA_F4);

        client_jwk(key, "", jwk);
        assert_int_equal(ngx_svc_jwk_client(unit_json(*state, jwk), &public,
                                            &algs), NGX_OK);
        assert_int_equal(algs, both);

        client_text(key, "RS256", RSA_PKCS1_PADDING, 0, jws);
        assert_int_equal(client_verify(*state, jws, public, algs), NGX_OK);

        client_text(key, "PS256", RSA_PKCS1_PSS_PADDING, 32, jws);
        assert_int_equal(client_verify(*state, jws, public, algs), NGX_OK);

        /* PS256 is verified for clients only */

        str.data = (u_char *) jws;
        str.len = strlen(jws);
        assert_int_equal(ngx_svc_jws_parse_signed(*state, &str, &parsed),
                         NGX_DECLINED);
        assert_string_equal(parsed.why, NO_ALG);

        /*
         * the padding of the other alg, and another salt length (RFC 7518, 3.5)
         */

        client_text(key, "PS256", RSA_PKCS1_PADDING, 0, jws);
        assert_int_equal(client_verify(*state, jws, public, algs),
                         NGX_DECLINED);
        client_text(key, "RS256", RSA_PKCS1_PSS_PADDING, 32, jws);
        assert_int_equal(client_verify(*state, jws, public, algs),
                         NGX_DECLINED);
        client_text(key, "PS256", RSA_PKCS1_PSS_PADDING, 20, jws);
        assert_int_equal(client_verify(*state, jws, public, algs),
                         NGX_DECLINED);

        /* a key of another size */

        client_text(private, "PS256", RSA_PKCS1_PSS_PADDING, 32, jws);
        assert_int_equal(client_verify(*state, jws, public, algs),
                         NGX_DECLINED);

        client_jwk(key, "\"alg\":\"PS256\",\"use\":\"sig\",", jwk);
        EVP_PKEY_free(public);
        assert_int_equal(ngx_svc_jwk_client(unit_json(*state, jwk), &public,
                                            &algs), NGX_OK);
        assert_int_equal(algs, ngx_svc_jwa_bit(NGX_SVC_JWA_PS256));

        client_text(key, "RS256", RSA_PKCS1_PADDING, 0, jws);
        assert_int_equal(client_verify(*state, jws, public, algs),
                         NGX_DECLINED);
        assert_int_equal(ERR_peek_error(), 0);

        EVP_PKEY_free(public);
        EVP_PKEY_free(key);
    }
}


static void
test_client_none(void **state)
{
    char       *p, jwk[2048];
    EVP_PKEY   *key, *public;
    ngx_uint_t  i, algs;

    static const char *const  more[] = {
        "\"alg\":\"RS512\",", "\"alg\":\"ES256\",", "\"alg\":1,",
        "\"use\":\"enc\",", "\"d\":\"AQ\",", "\"k\":\"AQ\",",
        "\"p\":\"AQ\","
    };

    static const unsigned  bits[] = { 1024, 2040, 2047, 4104 };

    for (i = 0; i < ngx_unit_len(more); i++) {
        client_jwk(private, more[i], jwk);
        assert_int_equal(ngx_svc_jwk_client(unit_json(*state, jwk), &public,
                                            &algs), NGX_DECLINED);
        assert_null(public);
    }

    for (i = 0; i < ngx_unit_len(bits); i++) {
        key = foreign_rsa_odd(bits[i]);
        client_jwk(key, "", jwk);
        assert_int_equal(ngx_svc_jwk_client(unit_json(*state, jwk), &public,
                                            &algs), NGX_DECLINED);
        EVP_PKEY_free(key);
    }

    /* an even modulus, and one with a leading zero */

    client_jwk(private, "", jwk);
    strcpy(strrchr(jwk, '"') - 1, "A\"}");
    assert_int_equal(ngx_svc_jwk_client(unit_json(*state, jwk), &public,
                                        &algs), NGX_DECLINED);

    client_jwk(private, "", jwk);
    p = strstr(jwk, "\"n\":\"") + 5;
    memmove(p + 4, p, strlen(p) + 1);
    memcpy(p, "AAAA", 4);
    assert_int_equal(ngx_svc_jwk_client(unit_json(*state, jwk), &public,
                                        &algs), NGX_DECLINED);

    assert_int_equal(ngx_svc_jwk_client(unit_json(*state, "{" UNIT_EC "}"),
                                        &public, &algs), NGX_OK);
    assert_int_equal(algs, ngx_svc_jwa_bit(NGX_SVC_JWA_ES256));
    EVP_PKEY_free(public);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_signature),
        ngx_unit_test(test_client),
        ngx_unit_test(test_client_none),
        ngx_unit_test(test_private),
        ngx_unit_test(test_public),
        ngx_unit_test(test_parse),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("jws_rsa", tests, make, forget);
}
