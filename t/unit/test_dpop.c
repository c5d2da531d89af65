/*
 * DPoP proofs, and their nonces.
 */

#include "ngx_unit_jose.h"
#include "ngx_svc_dpop.h"
#include "ngx_svc_dpop_nonce.h"


#define NOW    1800000000
#define TOKEN  "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"

/* RFC 9449: the header of both, 4.1, and 7.1 */

#define RFC_HEADER                                                            \
    "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI" \
    "6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOV" \
    "ZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtM" \
    "jU2In19"

#define RFC_TOKEN  RFC_HEADER                                                 \
    ".eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi" \
    "8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP" \
    "4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xR" \
    "ZT3Lg"

#define RFC_RESOURCE  RFC_HEADER                                              \
    ".eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly" \
    "9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2M" \
    "jYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFF" \
    "byJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy" \
    "1dqd-jfxSYoMxhAJpLjA"

/* of a payload whose other members are valid */

#define JTI  "\"jti\":\"j\""
#define HTM  "\"htm\":\"POST\""
#define HTU  "\"htu\":\"https://as.test/oauth/token\""
#define IAT  "\"iat\":1800000000"

#define NO_JTI   "The DPoP proof has no 'jti' of 1 to 128 bytes."
#define NO_HTM   "The DPoP proof has an 'htm' that is not the request's method."
#define NO_HTU   "The DPoP proof has an 'htu' that is not"                    \
                 " 'https://as.test/oauth/token'."
#define NO_IAT   "The DPoP proof has no 'iat' that is a number."
#define NO_NONCE "The DPoP proof has a 'nonce' that is not a string."
#define NO_TYP   "The DPoP proof has a 'typ' that is not 'dpop+jwt'."
#define NO_JWK   "The DPoP proof has no 'jwk' that is a public key of P-256 or"\
                 " Ed25519."
#define NO_SIG   "The DPoP proof has a signature that is not of its 'jwk'."
#define NO_ALG   "The DPoP proof has an 'alg' that is none of ES256, EdDSA and"\
                 " Ed25519."


static const struct {
    const char  *payload;
    const char  *detail;            /* NULL: good */
} payloads[] = {

    { "{" JTI "," HTM "," HTU "," IAT "}", NULL },
    { "{" JTI "," HTM "," HTU "," IAT ",\"x\":[{}],\"exp\":1}", NULL },
    { "{" JTI "," HTM "," HTU "," IAT ",\"ath\":7}", NULL },
    { "{" JTI "," HTM "," HTU "," IAT ".0e0}", NULL },
    { "{\"jti\":\"\xc3\xbc\"," HTM "," HTU "," IAT "}", NULL },

    { "{" HTM "," HTU "," IAT "}", NO_JTI },
    { "{\"jti\":\"\"," HTM "," HTU "," IAT "}", NO_JTI },
    { "{\"jti\":1," HTM "," HTU "," IAT "}", NO_JTI },
    { "{\"jti\":[\"j\"]," HTM "," HTU "," IAT "}", NO_JTI },

    { "{" JTI "," HTU "," IAT "}", NO_HTM },
    { "{" JTI ",\"htm\":\"GET\"," HTU "," IAT "}", NO_HTM },
    { "{" JTI ",\"htm\":\"post\"," HTU "," IAT "}", NO_HTM },
    { "{" JTI ",\"htm\":\"POSTS\"," HTU "," IAT "}", NO_HTM },
    { "{" JTI ",\"htm\":\"\"," HTU "," IAT "}", NO_HTM },
    { "{" JTI ",\"htm\":null," HTU "," IAT "}", NO_HTM },

    { "{" JTI "," HTM "," IAT "}", NO_HTU },
    { "{" JTI "," HTM ",\"htu\":\"\"," IAT "}", NO_HTU },
    { "{" JTI "," HTM ",\"htu\":true," IAT "}", NO_HTU },
    { "{" JTI "," HTM ",\"htu\":\"/oauth/token\"," IAT "}", NO_HTU },

    { "{" JTI "," HTM "," HTU "}", NO_IAT },
    { "{" JTI "," HTM "," HTU ",\"iat\":\"1800000000\"}", NO_IAT },
    { "{" JTI "," HTM "," HTU ",\"iat\":1e30}", NO_IAT },
    { "{" JTI "," HTM "," HTU ",\"iat\":-1e300}", NO_IAT },
    { "{" JTI "," HTM "," HTU ",\"iat\":null}", NO_IAT },

    { "{" JTI "," HTM "," HTU "," IAT ",\"nonce\":1}", NO_NONCE },
    { "{" JTI "," HTM "," HTU "," IAT ",\"nonce\":null}", NO_NONCE },
};

/* %s becomes the key's own JWK */

static const struct {
    const char  *header;
    const char  *detail;
} headers[] = {

    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":%s}", NULL },
    { "{\"x\":1,\"jwk\":%s,\"kid\":\"k\",\"alg\":\"ES256\","
      "\"typ\":\"dpop+jwt\"}", NULL },

    { "{\"alg\":\"ES256\",\"jwk\":%s}", NO_TYP },
    { "{\"typ\":\"JWT\",\"alg\":\"ES256\",\"jwk\":%s}", NO_TYP },
    { "{\"typ\":\"DPoP+jwt\",\"alg\":\"ES256\",\"jwk\":%s}", NO_TYP },
    { "{\"typ\":\"at+jwt\",\"alg\":\"ES256\",\"jwk\":%s}", NO_TYP },
    { "{\"typ\":7,\"alg\":\"ES256\",\"jwk\":%s}",
      "The DPoP proof has a 'typ' that is not a string." },

    { "{\"typ\":\"dpop+jwt\",\"jwk\":%s}", NO_ALG },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"none\",\"jwk\":%s}", NO_ALG },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"HS256\",\"jwk\":%s}", NO_ALG },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"EdDSA\",\"jwk\":%s}", NO_SIG },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"crit\":[],\"jwk\":%s}",
      "The DPoP proof has a 'crit' in its header." },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"alg\":\"ES256\",\"jwk\":%s}",
      "The DPoP proof has a header that is not a JSON object in base64url." },

    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\"}", NO_JWK },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"JWK\":%s}", NO_JWK },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":[%s]}", NO_JWK },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":null}", NO_JWK },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":\"\"}", NO_JWK },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{" UNIT_EC ",\"d\":\""
      UNIT_A3_D "\"}}", NO_JWK },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{\"kty\":\"RSA\","
      "\"n\":\"AQAB\",\"e\":\"AQAB\"}}", NO_JWK },

    /* another key */
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{" UNIT_EC "}}",
      NO_SIG },
    { "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{" UNIT_OKP "}}",
      NO_SIG },
};

static const struct {
    const char  *uri;
    ngx_uint_t   same;
} htus[] = {
    { "https://as.test/oauth/token", 1 },
    { "HTTPS://AS.Test/oauth/token", 1 },
    { "https://as.test:443/oauth/token", 1 },
    { "https://as.test/oauth/token?", 1 },
    { "https://as.test/oauth/token?a=https://evil.test/", 1 },
    { "https://as.test/oauth/token#x", 1 },
    { "https://as.test/oauth/token#x?y", 1 },
    { "https://as.test/oauth/%74oken", 1 },
    { "https://as.test/oauth/t/acme/token", 1 },
    { "HTTPS://as.test:443/oauth/t/%61cme/token?x", 1 },

    { "http://as.test/oauth/token", 0 },
    { "http://as.test:443/oauth/token", 0 },
    { "https://as.test:8443/oauth/token", 0 },
    { "https://as.test.evil/oauth/token", 0 },
    { "https://evil.test/oauth/token", 0 },
    { "https://as.test@evil.test/oauth/token", 0 },
    { "https://u@as.test/oauth/token", 0 },
    { "https://as.test/oauth/Token", 0 },
    { "https://as.test/oauth/token/", 0 },
    { "https://as.test//oauth/token", 0 },
    { "https://as.test/oauth%2ftoken", 0 },
    { "https://as.test/oauth/toke", 0 },
    { "https://as.test/oauth/userinfo", 0 },
    { "https://as.test/oauth/t/acme/userinfo", 0 },
    { "https://as.test/oauth/t/acme/toke", 0 },
    { "https://as.test/oauth/t/acme/tokens", 0 },
    { "https://as.test/oauth/t/acme/x/token", 0 },
    { "https://as.test/oauth/t/acme%2ftoken", 0 },
    { "https://as.test/oauth/t/acme", 0 },
    { "https://as.test/oauth/t/acme/", 0 },
    { "https://as.test/oauth/t//token", 0 },
    { "https://as.test/oauth/t/token", 0 },
    { "https://as.test/oauth/t/", 0 },
    { "https://as.test/oauth/t", 0 },
    { "https://as.test/oauth/T/acme/token", 0 },
    { "https://as.test/t/acme/oauth/token", 0 },
    { "https://as.test/oauth/x/acme/token", 0 },
    { "https://as.test/", 0 },
    { "https://as.test", 0 },
    { "//as.test/oauth/token", 0 },
    { "/oauth/token", 0 },
    { "?https://as.test/oauth/token", 0 },
    { " https://as.test/oauth/token", 0 },
    { "https://as.test/oauth/token ", 0 },
    { "https://as.test./oauth/token", 0 },
    { "", 0 },
};


static char                   unit_key_jwk[NGX_SVC_JWK_TEXT + 1];
static EVP_PKEY_CTX          *unit_signer;
static ngx_svc_dpop_expect_t  unit_expect = {
    .method = ngx_string("POST"),
    .htu = ngx_string("https://as.test/oauth/token"),
    .below = sizeof("https://as.test/oauth") - 1,
    .now = NOW
};


static ngx_int_t
check(ngx_pool_t *pool, const char *proof, const ngx_svc_dpop_expect_t *expect,
    ngx_svc_dpop_t *dpop, ngx_svc_error_t *err)
{
    ngx_int_t  rc;
    ngx_str_t  str;

    str.data = (u_char *) proof;
    str.len = strlen(proof);
    err->kind = NGX_SVC_E_NONE;

    rc = ngx_svc_dpop_check(pool, &str, expect, dpop, err);

    assert_int_equal(err->kind != NGX_SVC_E_NONE, rc == NGX_DECLINED);
    assert_int_equal(ERR_peek_error(), 0);

    return rc;
}


/* Signs with the key; %s in the header becomes its JWK. */

static char *
proof_of(ngx_pool_t *pool, const char *header, const char *payload)
{
    char  text[2048];

    snprintf(text, sizeof(text), header, unit_key_jwk);

    return unit_sign(pool, unit_signer, text, payload);
}


static void
expect_detail(ngx_pool_t *pool, const char *header, const char *payload,
    const ngx_svc_dpop_expect_t *expect, const char *detail)
{
    ngx_int_t        rc;
    ngx_svc_dpop_t   dpop;
    ngx_svc_error_t  err;

    rc = check(pool, proof_of(pool, header, payload), expect, &dpop, &err);

    if (detail) {
        assert_int_equal(rc, NGX_DECLINED);
        ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST, detail, payload);

    } else if (rc != NGX_OK) {
        fail_msg("%s.%s: %.*s", header, payload, (int) err.len, err.detail);
    }
}


static void
test_rfc9449(void **state)
{
    u_char                 text[NGX_SVC_JWK_KID];
    ngx_svc_dpop_t         dpop;
    ngx_svc_error_t        err;
    ngx_svc_dpop_expect_t  expect = {
        .method = ngx_string("POST"),
        .htu = ngx_string("https://server.example.com/token"),
        .now = 1562262616
    };

    assert_int_equal(check(*state, RFC_TOKEN, &expect, &dpop, &err), NGX_OK);
    assert_int_equal(dpop.iat, 1562262616);
    assert_int_equal(dpop.stale, 0);
    assert_null(dpop.nonce.data);

    (void) ngx_svc_base64url(text, dpop.jkt, sizeof(dpop.jkt));
    assert_memory_equal(text, "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I",
                        sizeof(text));

    ngx_str_set(&expect.method, "GET");
    ngx_str_set(&expect.htu, "https://resource.example.org/protectedresource");
    ngx_str_set(&expect.token, TOKEN);
    expect.now += 2 + 60;

    assert_int_equal(check(*state, RFC_RESOURCE, &expect, &dpop, &err),
                     NGX_OK);
    assert_int_equal(dpop.stale, 0);

    ngx_str_set(&expect.token, TOKEN "x");
    assert_int_equal(check(*state, RFC_RESOURCE, &expect, &dpop, &err),
                     NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST, "The DPoP proof has an"
                   " 'ath' that is not of the access token.", "ath");
}


static void
test_payloads(void **state)
{
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(payloads); i++) {
        expect_detail(*state, headers[0].header, payloads[i].payload,
                      &unit_expect, payloads[i].detail);
    }
}


static void
test_headers(void **state)
{
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(headers); i++) {
        expect_detail(*state, headers[i].header, payloads[0].payload,
                      &unit_expect, headers[i].detail);
    }
}


/* ngx_svc_jws_parse() checks the form of a proof. */

static void
test_forms(void **state)
{
    char             *text, *at;
    ngx_svc_dpop_t    dpop;
    ngx_svc_error_t   err;

    assert_int_equal(check(*state, "", &unit_expect, &dpop, &err),
                     NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST,
                   "The DPoP proof is not a JWS of three parts.", "empty");

    text = proof_of(*state, headers[0].header, payloads[0].payload);
    text[strlen(text) - 1] = '\0';

    assert_int_equal(check(*state, text, &unit_expect, &dpop, &err),
                     NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST, "The DPoP proof has a"
                   " signature that is not 64 bytes in base64url.", "cut");

    text = proof_of(*state, headers[0].header, payloads[0].payload);
    at = text + strlen(text) - 10;
    *at = (*at == 'A') ? 'B' : 'A';

    assert_int_equal(check(*state, text, &unit_expect, &dpop, &err),
                     NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST, NO_SIG, "changed");
}


static void
test_htu(void **state)
{
    char        payload[512];
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(htus); i++) {
        sprintf(payload, "{" JTI "," HTM ",\"htu\":\"%s\"," IAT "}",
                htus[i].uri);
        expect_detail(*state, headers[0].header, payload, &unit_expect,
                      htus[i].same ? NULL : NO_HTU);
    }
}


/* Proofs for one tenant's URI, and for one without a tenant. */

static void
test_htu_slug(void **state)
{
    char                   payload[512];
    ngx_uint_t             i;
    ngx_svc_dpop_expect_t  expect;

    static const struct {
        const char  *slug;
        const char  *uri;
        size_t       below;
        ngx_uint_t   same;
    } cases[] = {
        { "acme", "https://as.test/oauth/t/acme/token", 21, 1 },
        { "acme", "https://as.test/oauth/token", 21, 1 },
        { "acme", "https://as.test/oauth/t/globex/token", 21, 0 },
        { "acme", "https://as.test/oauth/t/acm/token", 21, 0 },
        { "acme", "https://as.test/oauth/t/acmee/token", 21, 0 },
        { "", "https://as.test/oauth/t/globex/token", 21, 1 },
        { "", "https://as.test/oauth/t/globex/token", 0, 0 },
        { "", "https://as.test/oauth/token", 0, 1 },
    };

    for (i = 0; i < ngx_unit_len(cases); i++) {
        expect = unit_expect;
        expect.below = cases[i].below;
        expect.slug.data = (u_char *) cases[i].slug;
        expect.slug.len = strlen(cases[i].slug);

        sprintf(payload, "{" JTI "," HTM ",\"htu\":\"%s\"," IAT "}",
                cases[i].uri);
        expect_detail(*state, headers[0].header, payload, &expect,
                      cases[i].same ? NULL : NO_HTU);
    }
}


static void
test_times(void **state)
{
    char             payload[512];
    ngx_uint_t       i;
    ngx_svc_dpop_t   dpop;
    ngx_svc_error_t  err;

    static const struct {
        const char  *iat;
        ngx_uint_t   stale;
    } rows[] = {
        { "1799999939", 1 }, { "1799999940", 0 }, { "1800000060", 0 },
        { "1800000061", 1 }, { "0", 1 }, { "-1", 1 },
        { "9007199254740991", 1 }, { "-9007199254740991", 1 },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        sprintf(payload, "{" JTI "," HTM "," HTU ",\"iat\":%s,\"nonce\":\"n\"}",
                rows[i].iat);

        assert_int_equal(check(*state, proof_of(*state, headers[0].header,
                                                payload),
                               &unit_expect, &dpop, &err), NGX_OK);
        assert_int_equal(dpop.stale, rows[i].stale);
        assert_int_equal(dpop.iat, atoll(rows[i].iat));
        assert_string_equal((char *) dpop.nonce.data, "n");
    }
}


static void
test_ath(void **state)
{
    ngx_uint_t             i;
    ngx_svc_dpop_expect_t  expect;

    static const struct {
        const char  *payload;
        ngx_uint_t   good;
    } rows[] = {
        { "{" JTI "," HTM "," HTU "," IAT ",\"ath\":"
          "\"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo\"}", 1 },
        { "{" JTI "," HTM "," HTU "," IAT ",\"ath\":"
          "\"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEp\"}", 0 },
        { "{" JTI "," HTM "," HTU "," IAT ",\"ath\":"
          "\"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo=\"}", 0 },
        { "{" JTI "," HTM "," HTU "," IAT ",\"ath\":\"" TOKEN "\"}", 0 },
        { "{" JTI "," HTM "," HTU "," IAT ",\"ath\":\"\"}", 0 },
        { "{" JTI "," HTM "," HTU "," IAT ",\"ath\":null}", 0 },
        { "{" JTI "," HTM "," HTU "," IAT "}", 0 },
    };

    expect = unit_expect;
    ngx_str_set(&expect.token, TOKEN);

    for (i = 0; i < ngx_unit_len(rows); i++) {
        expect_detail(*state, headers[0].header, rows[i].payload, &expect,
                      rows[i].good ? NULL : "The DPoP proof has an 'ath' that"
                                            " is not of the access token.");
    }
}


/* "once" depends on the key and the jti only; a jti has 128 bytes at most. */

static void
test_once(void **state)
{
    char             payload[512], jti[130];
    u_char           first[NGX_SVC_SHA256_LEN], text[64];
    ngx_svc_dpop_t   dpop;
    ngx_svc_error_t  err;

    assert_int_equal(check(*state, proof_of(*state, headers[0].header,
                                            payloads[0].payload),
                           &unit_expect, &dpop, &err), NGX_OK);

    memcpy(text, dpop.jkt, 32);
    text[32] = 'j';
    assert_int_equal(ngx_svc_sha256(text, 33, first), NGX_OK);
    assert_memory_equal(dpop.once, first, sizeof(first));

    assert_int_equal(check(*state, proof_of(*state, headers[1].header,
                                            payloads[1].payload),
                           &unit_expect, &dpop, &err), NGX_OK);
    assert_memory_equal(dpop.once, first, sizeof(first));

    memset(jti, 'x', sizeof(jti));
    jti[128] = '\0';
    sprintf(payload, "{\"jti\":\"%s\"," HTM "," HTU "," IAT "}", jti);

    assert_int_equal(check(*state, proof_of(*state, headers[0].header,
                                            payload),
                           &unit_expect, &dpop, &err), NGX_OK);
    assert_memory_not_equal(dpop.once, first, sizeof(first));

    jti[128] = 'x';
    jti[129] = '\0';
    sprintf(payload, "{\"jti\":\"%s\"," HTM "," HTU "," IAT "}", jti);
    expect_detail(*state, headers[0].header, payload, &unit_expect, NO_JTI);
}


static void
test_memory(void **state)
{
    char             *text;
    ngx_int_t         rc, n;
    ngx_svc_dpop_t    dpop;
    ngx_svc_error_t   err;

    text = proof_of(*state, headers[0].header, payloads[0].payload);

    for (n = 0; n < 100; n++) {
        ngx_env_alloc_limit(n);

        rc = check(*state, text, &unit_expect, &dpop, &err);

        ngx_env_alloc_limit(-1);

        if (rc == NGX_OK) {
            break;
        }

        assert_int_equal(rc, NGX_ERROR);
    }

    assert_in_range(n, 20, 99);
}


static void
keys_of(ngx_svc_macs_t *macs, const char *label, const char *text)
{
    char            why[NGX_MAX_ERROR_STR / 8];
    ngx_svc_keys_t  keys;

    assert_int_equal(ngx_svc_keys_parse(&keys, (u_char *) text, strlen(text),
                                        why), NGX_OK);

    memset(macs, 0, sizeof(ngx_svc_macs_t));
    assert_int_equal(ngx_svc_mac_init(macs, &keys, label), NGX_OK);
}


static void
test_nonce(void **state)
{
    u_char          nonce[NGX_SVC_DPOP_NONCE];
    ngx_str_t       str;
    ngx_uint_t      i;
    ngx_svc_macs_t  old, both, new, other;

#define KEY_A  "a:00112233445566778899aabbccddeeff"                           \
               "0123456789abcdef0123456789abcdef\n"
#define KEY_B  "b:ffeeddccbbaa99887766554433221100"                           \
               "fedcba9876543210fedcba9876543210\n"

    keys_of(&old, NGX_SVC_DPOP_NONCE_LABEL, KEY_A);
    keys_of(&both, NGX_SVC_DPOP_NONCE_LABEL, KEY_B KEY_A);
    keys_of(&new, NGX_SVC_DPOP_NONCE_LABEL, KEY_B);
    keys_of(&other, "else", KEY_A);

    str.data = nonce;
    str.len = sizeof(nonce);
    assert_int_equal(str.len, 32);

    assert_int_equal(ngx_svc_dpop_nonce(&old, NOW, nonce), NGX_OK);

    assert_int_equal(ngx_svc_dpop_nonce_check(&old, NOW, &str), NGX_OK);
    assert_int_equal(ngx_svc_dpop_nonce_check(&both, NOW, &str), NGX_OK);
    assert_int_equal(ngx_svc_dpop_nonce_check(&new, NOW, &str), NGX_DECLINED);
    assert_int_equal(ngx_svc_dpop_nonce_check(&other, NOW, &str),
                     NGX_DECLINED);

    /* a slot begins at NOW */

    assert_int_equal(ngx_svc_dpop_nonce_check(&old, NOW + 299, &str), NGX_OK);
    assert_int_equal(ngx_svc_dpop_nonce_check(&old, NOW + 599, &str), NGX_OK);
    assert_int_equal(ngx_svc_dpop_nonce_check(&both, NOW + 599, &str), NGX_OK);
    assert_int_equal(ngx_svc_dpop_nonce_check(&old, NOW + 600, &str),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_dpop_nonce_check(&old, NOW - 1, &str),
                     NGX_DECLINED);

    for (i = 0; i < sizeof(nonce); i++) {
        nonce[i] ^= 1;
        assert_int_equal(ngx_svc_dpop_nonce_check(&both, NOW, &str),
                         NGX_DECLINED);
        nonce[i] ^= 1;
    }

    for (str.len = 0; str.len < sizeof(nonce); str.len++) {
        assert_int_equal(ngx_svc_dpop_nonce_check(&both, NOW, &str),
                         NGX_DECLINED);
    }

    ngx_str_null(&str);
    assert_int_equal(ngx_svc_dpop_nonce_check(&both, NOW, &str),
                     NGX_DECLINED);

    ngx_svc_mac_free(&old);
    ngx_svc_mac_free(&both);
    ngx_svc_mac_free(&new);
    ngx_svc_mac_free(&other);
}


static int
make_signer(void **state)
{
    EVP_PKEY           *key;
    ngx_svc_jwk_new_t   new;

    if (ngx_svc_jwk_generate(&new) != NGX_OK) {
        return 1;
    }

    memcpy(unit_key_jwk, new.jwk, new.jwk_len);
    unit_key_jwk[new.jwk_len] = '\0';

    key = ngx_svc_jwk_private(new.der, new.der_len);
    unit_signer = ngx_svc_jws_signer(key);

    EVP_PKEY_free(key);

    return unit_signer == NULL;
}


static int
free_signer(void **state)
{
    EVP_PKEY_CTX_free(unit_signer);

    return 0;
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_rfc9449),
        ngx_unit_test(test_payloads),
        ngx_unit_test(test_headers),
        ngx_unit_test(test_forms),
        ngx_unit_test(test_htu),
        ngx_unit_test(test_htu_slug),
        ngx_unit_test(test_times),
        ngx_unit_test(test_ath),
        ngx_unit_test(test_once),
        ngx_unit_test(test_memory),
        cmocka_unit_test(test_nonce),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("dpop", tests, make_signer,
                                       free_signer);
}
