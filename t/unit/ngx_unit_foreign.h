/*
 * Keys of other identity providers, and what they sign.
 */

#ifndef _NGX_UNIT_FOREIGN_H_INCLUDED_
#define _NGX_UNIT_FOREIGN_H_INCLUDED_


#include "ngx_unit_jose.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>


/*
 * Generates a key for RSA.  Many primes make large ones fast; OpenSSL takes 5
 * of them from 8,192 bits on.
 */

static inline EVP_PKEY *
foreign_rsa(int bits, int primes, BN_ULONG e)
{
    BIGNUM        *exponent;
    EVP_PKEY      *key;
    EVP_PKEY_CTX  *ctx;

    key = NULL;
    exponent = BN_new();
    ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);

    assert_int_equal(BN_set_word(exponent, e), 1);
    assert_int_equal(EVP_PKEY_keygen_init(ctx), 1);
    assert_int_equal(EVP_PKEY_CTX_set_rsa_keygen_bits(ctx, bits), 1);
    assert_int_equal(EVP_PKEY_CTX_set_rsa_keygen_primes(ctx, primes), 1);
    assert_int_equal(EVP_PKEY_CTX_set1_rsa_keygen_pubexp(ctx, exponent), 1);
    assert_int_equal(EVP_PKEY_generate(ctx, &key), 1);

    EVP_PKEY_CTX_free(ctx);
    BN_free(exponent);

    return key;
}


/*
 * Makes a public key of an odd number with so many bits.  For a key that is
 * refused because of them no primes are needed, which take seconds.
 */

static inline EVP_PKEY *
foreign_rsa_odd(int bits)
{
    BIGNUM          *n;
    EVP_PKEY        *key;
    OSSL_PARAM      *params;
    EVP_PKEY_CTX    *ctx;
    OSSL_PARAM_BLD  *bld;

    key = NULL;
    n = BN_new();
    bld = OSSL_PARAM_BLD_new();
    ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);

    assert_int_equal(BN_rand(n, bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD), 1);
    assert_int_equal(OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N, n), 1);
    assert_int_equal(OSSL_PARAM_BLD_push_ulong(bld, OSSL_PKEY_PARAM_RSA_E,
                                               RSA_F4), 1);

    params = OSSL_PARAM_BLD_to_param(bld);

    assert_int_equal(EVP_PKEY_fromdata_init(ctx), 1);
    assert_int_equal(EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params),
                     1);

    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(bld);
    EVP_PKEY_CTX_free(ctx);
    BN_free(n);

    return key;
}


/* Appends "name":"<base64url of a number, with lead zeroes before it>",. */

static inline char *
foreign_number(char *p, EVP_PKEY *key, const char *param, const char *name,
    size_t len, size_t lead)
{
    u_char   bytes[1100], chars[1500], *end;
    BIGNUM  *n;

    n = NULL;
    memset(bytes, 0, lead);

    assert_int_equal(EVP_PKEY_get_bn_param(key, param, &n), 1);

    len = len ? len : (size_t) BN_num_bytes(n);
    assert_int_equal(BN_bn2binpad(n, bytes + lead, len), len);
    BN_free(n);

    end = ngx_svc_base64url(chars, bytes, lead + len);

    return p + sprintf(p, "\"%s\":\"%.*s\",", name, (int) (end - chars), chars);
}


/* Writes a public JWK with more members at its end: "\"kid\":\"k\"". */

static inline char *
foreign_jwk(ngx_pool_t *pool, EVP_PKEY *key, const char *more)
{
    char    *text, *p;
    size_t   len, n;
    u_char   raw[32], chars[64];

    p = text = ngx_palloc(pool, 4096);
    assert_non_null(p);

    if (EVP_PKEY_is_a(key, "RSA")) {
        p += sprintf(p, "{\"kty\":\"RSA\",");
        p = foreign_number(p, key, OSSL_PKEY_PARAM_RSA_N, "n", 0, 0);
        p = foreign_number(p, key, OSSL_PKEY_PARAM_RSA_E, "e", 0, 0);

    } else if (EVP_PKEY_is_a(key, "EC")) {
        n = EVP_PKEY_get_bits(key) / 8;

        p += sprintf(p, "{\"kty\":\"EC\",\"crv\":\"P-%d\",", (int) n * 8);
        p = foreign_number(p, key, OSSL_PKEY_PARAM_EC_PUB_X, "x", n, 0);
        p = foreign_number(p, key, OSSL_PKEY_PARAM_EC_PUB_Y, "y", n, 0);

    } else {
        len = sizeof(raw);
        assert_int_equal(EVP_PKEY_get_raw_public_key(key, raw, &len), 1);
        *ngx_svc_base64url(chars, raw, len) = '\0';
        p += sprintf(p, "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"%s\",",
                     chars);
    }

    sprintf(*more ? p : p - 1, "%s}", more);

    return text;
}


/* Writes a signature by ECDSA as RFC 7518, 3.4, in place of its DER. */

static inline size_t
foreign_raw(EVP_PKEY *key, u_char *signature, size_t len)
{
    size_t         n;
    ECDSA_SIG     *sig;
    const u_char  *der;

    n = EVP_PKEY_get_bits(key) / 8;
    der = signature;
    sig = d2i_ECDSA_SIG(NULL, &der, len);
    assert_non_null(sig);

    BN_bn2binpad(ECDSA_SIG_get0_r(sig), signature, n);
    BN_bn2binpad(ECDSA_SIG_get0_s(sig), signature + n, n);
    ECDSA_SIG_free(sig);

    return 2 * n;
}


/*
 * Signs as alg says, whatever the header says, and returns the JWS with a NUL.
 * The key of "HS256" is its own JWK's text.
 */

static inline char *
foreign_sign(ngx_pool_t *pool, EVP_PKEY *key, const char *alg,
    const char *header, const char *payload)
{
    char          *text, *jwk;
    size_t         len;
    u_char         signature[1100], *p;
    unsigned       n;
    const EVP_MD  *hash;
    EVP_MD_CTX    *md;
    EVP_PKEY_CTX  *ctx;

    text = ngx_palloc(pool, 2 * (strlen(header) + strlen(payload)) + 2048);
    assert_non_null(text);

    p = ngx_svc_base64url((u_char *) text, (u_char *) header, strlen(header));
    *p++ = '.';
    p = ngx_svc_base64url(p, (u_char *) payload, strlen(payload));

    len = sizeof(signature);

    if (strcmp(alg, "HS256") == 0) {
        jwk = foreign_jwk(pool, key, "");
        HMAC(EVP_sha256(), jwk, strlen(jwk), (u_char *) text,
             p - (u_char *) text, signature, &n);
        len = n;

    } else {
        hash = strcmp(alg, "EdDSA") == 0 ? NULL
               : strcmp(alg, "ES384") == 0 ? EVP_sha384() : EVP_sha256();
        md = EVP_MD_CTX_new();

        assert_int_equal(EVP_DigestSignInit(md, &ctx, hash, NULL, key), 1);

        if (strcmp(alg, "PS256") == 0) {
            assert_int_equal(EVP_PKEY_CTX_set_rsa_padding(ctx,
                                                 RSA_PKCS1_PSS_PADDING), 1);
            assert_int_equal(EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, 32), 1);
        }

        assert_int_equal(EVP_DigestSign(md, signature, &len, (u_char *) text,
                                        p - (u_char *) text), 1);
        EVP_MD_CTX_free(md);

        if (EVP_PKEY_is_a(key, "EC")) {
            len = foreign_raw(key, signature, len);
        }
    }

    *p++ = '.';
    *ngx_svc_base64url(p, signature, len) = '\0';

    return text;
}


#endif /* _NGX_UNIT_FOREIGN_H_INCLUDED_ */
