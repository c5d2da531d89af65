/*
 * What other identity providers publish of themselves.
 */

#include "ngx_unit_jose.h"
#include "ngx_svc_oidc_metadata.h"


#define OTHER      "has another 'issuer'"
#define NO(name)   "has no '" name "' that is a URL with https"
#define NO_METHOD  "has neither 'client_secret_basic' nor"                    \
                   " 'client_secret_post' in"                                 \
                   " 'token_endpoint_auth_methods_supported'"
#define NO_ALG     "has no algorithm in"                                      \
                   " 'id_token_signing_alg_values_supported' that is verified"

#define ALG(alg)   ngx_svc_jwa_bit(NGX_SVC_JWA_ ## alg)


typedef struct {
    const char  *name;
    const char  *value;         /* NULL: there is no such member */
    const char  *why;           /* NULL: the document is good */
} member_row_t;


static const member_row_t  base[] = {
    { "issuer", "\"https://idp.example/a\"", NULL },
    { "authorization_endpoint", "\"https://idp.example/auth?p=1\"", NULL },
    { "token_endpoint", "\"https://idp.example/token\"", NULL },
    { "jwks_uri", "\"https://idp.example:8443/jwks\"", NULL },
    { "userinfo_endpoint", "\"https://idp.example/me\"", NULL },
    { "end_session_endpoint", "\"https://idp.example/out\"", NULL },
    { "token_endpoint_auth_methods_supported", "[\"private_key_jwt\","
      "\"client_secret_post\"]", NULL },
    { "id_token_signing_alg_values_supported", "[\"none\",\"RS256\","
      "\"HS256\",\"EdDSA\"]", NULL },
    { "scopes_supported", "[\"openid\"]", NULL },
    { NULL, NULL, NULL }
};

static const ngx_str_t  issuer = ngx_string("https://idp.example/a");


static char *
document(ngx_pool_t *pool, const char *name, const char *value)
{
    char        *text, *p;
    ngx_uint_t   i, found;
    const char  *is;

    p = text = ngx_palloc(pool, 8192);
    *p++ = '{';

    for (i = 0, found = 0; base[i].name; i++) {
        is = base[i].value;

        if (name && strcmp(base[i].name, name) == 0) {
            is = value;
            found = 1;
        }

        if (is) {
            p += sprintf(p, "\"%s\":%s,", base[i].name, is);
        }
    }

    if (name && !found) {
        p += sprintf(p, "\"%s\":%s,", name, value);
    }

    strcpy(p - 1, "}");

    return text;
}


static ngx_int_t
read_text(ngx_pool_t *pool, const char *text, ngx_uint_t loopback,
    ngx_svc_oidc_metadata_t *m)
{
    ngx_int_t  rc;
    ngx_str_t  str;

    str.data = (u_char *) text;
    str.len = strlen(text);

    rc = ngx_svc_oidc_metadata_read(pool, &str, &issuer, loopback, m);

    assert_int_equal(m->why != NULL, rc == NGX_DECLINED);

    return rc;
}


static void
test_members(void **state)
{
    char        *text;
    ngx_uint_t   i;

    ngx_svc_oidc_metadata_t  m;

    static const member_row_t  rows[] = {
        { "x", "1", NULL },

        { "issuer", NULL, OTHER }, { "issuer", "\"\"", OTHER },
        { "issuer", "\"https://idp.example/a/\"", OTHER },
        { "issuer", "\"https://idp.example/A\"", OTHER },
        { "issuer", "\"https://idp.example\"", OTHER },
        { "issuer", "[\"https://idp.example/a\"]", OTHER },

        { "authorization_endpoint", NULL, NO("authorization_endpoint") },
        { "authorization_endpoint", "\"http://idp.example/auth\"",
          NO("authorization_endpoint") },
        { "authorization_endpoint", "\"https://idp.example/auth#x\"",
          NO("authorization_endpoint") },
        { "authorization_endpoint", "\"javascript:alert(1)\"",
          NO("authorization_endpoint") },
        { "authorization_endpoint", "\"https://a b/\"",
          NO("authorization_endpoint") },
        { "authorization_endpoint", "1", NO("authorization_endpoint") },

        { "token_endpoint", NULL, NO("token_endpoint") },
        { "token_endpoint", "null", NO("token_endpoint") },
        { "token_endpoint", "\"\"", NO("token_endpoint") },
        { "token_endpoint", "\"/token\"", NO("token_endpoint") },
        { "token_endpoint", "\"//idp.example/token\"", NO("token_endpoint") },
        { "token_endpoint", "\"http://idp.example/token\"",
          NO("token_endpoint") },
        { "token_endpoint", "\"http://127.0.0.1/token\"",
          NO("token_endpoint") },
        { "token_endpoint", "\"https://u:p@idp.example/token\"",
          NO("token_endpoint") },
        { "token_endpoint", "\"https://idp.example:0/\"",
          NO("token_endpoint") },
        { "token_endpoint", "\"https://idp.example:65536/\"",
          NO("token_endpoint") },
        { "token_endpoint", "\"https://idp.example/\\r\\nHost:x\"",
          NO("token_endpoint") },
        { "token_endpoint", "\"https:///token\"", NO("token_endpoint") },
        { "token_endpoint", "\"file:///etc/passwd\"", NO("token_endpoint") },
        { "token_endpoint", "\"HTTPS://idp.example/\"", NULL },

        { "jwks_uri", NULL, NO("jwks_uri") },
        { "jwks_uri", "\"ftp://idp.example/\"", NO("jwks_uri") },

        { "userinfo_endpoint", NULL, NULL },
        { "userinfo_endpoint", "\"\"", NO("userinfo_endpoint") },
        { "userinfo_endpoint", "\"http://idp.example/\"",
          NO("userinfo_endpoint") },

        { "end_session_endpoint", NULL, NULL },
        { "end_session_endpoint", "\"http://idp.example/\"",
          NO("end_session_endpoint") },

        { "token_endpoint_auth_methods_supported", NULL, NULL },
        { "token_endpoint_auth_methods_supported", "[]", NO_METHOD },
        { "token_endpoint_auth_methods_supported", "\"client_secret_basic\"",
          NO_METHOD },
        { "token_endpoint_auth_methods_supported", "[\"private_key_jwt\",1,"
          "\"none\"]", NO_METHOD },
        { "token_endpoint_auth_methods_supported", "[1,"
          "\"client_secret_basic\"]", NULL },

        { "id_token_signing_alg_values_supported", NULL, NULL },
        { "id_token_signing_alg_values_supported", "[]", NO_ALG },
        { "id_token_signing_alg_values_supported", "\"RS256\"", NO_ALG },
        { "id_token_signing_alg_values_supported", "[\"none\",\"HS256\","
          "\"RS512\"]", NO_ALG },
        { "id_token_signing_alg_values_supported", "[\"HS256\",\"ES384\"]",
          NULL },

        { "authorization_response_iss_parameter_supported", "true", NULL },
        { "authorization_response_iss_parameter_supported", "false", NULL },
        { "authorization_response_iss_parameter_supported", "\"true\"",
          "has an 'authorization_response_iss_parameter_supported' that is no"
          " boolean" },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        text = document(*state, rows[i].name, rows[i].value);

        if (read_text(*state, text, 0, &m)
            != (rows[i].why ? NGX_DECLINED : NGX_OK)
            || (rows[i].why && strcmp(m.why, rows[i].why) != 0))
        {
            fail_msg("%s: %s", text, m.why);
        }
    }
}


static void
test_texts(void **state)
{
    char        *text, *url;
    ngx_uint_t   i;

    ngx_svc_oidc_metadata_t  m;

    static const char *const  none[] = {
        "", "[]", "null", "<html></html>", "{\"issuer\":1,\"issuer\":1}"
    };

    for (i = 0; i < ngx_unit_len(none); i++) {
        assert_int_equal(read_text(*state, none[i], 1, &m), NGX_DECLINED);
        assert_string_equal(m.why, "is no JSON object");
    }

    /* 2,048 bytes of a URL, and one more */

    url = ngx_palloc(*state, 4096);
    text = "\"https://idp.example/";

    memset(url, 'a', 4096);
    memcpy(url, text, strlen(text));
    strcpy(url + 1 + NGX_SVC_OIDC_URL_MAX, "\"");
    assert_int_equal(read_text(*state, document(*state, "jwks_uri", url), 0,
                               &m), NGX_OK);
    assert_int_equal(m.jwks_uri.len, NGX_SVC_OIDC_URL_MAX);

    strcpy(url + 1 + NGX_SVC_OIDC_URL_MAX, "a\"");
    assert_int_equal(read_text(*state, document(*state, "jwks_uri", url), 0,
                               &m), NGX_DECLINED);
    assert_string_equal(m.why, NO("jwks_uri"));
}


static void
test_loopback(void **state)
{
    ngx_uint_t  i;

    ngx_svc_oidc_metadata_t  m;

    static const struct {
        const char  *url;
        ngx_int_t    rc;
    } rows[] = {
        { "\"http://127.0.0.1:8080/token\"", NGX_OK },
        { "\"http://[::1]/token\"", NGX_OK },
        { "\"http://localhost/token\"", NGX_OK },
        { "\"https://idp.example/token\"", NGX_OK },
        { "\"http://127.0.0.2/token\"", NGX_DECLINED },
        { "\"http://localhost.example/token\"", NGX_DECLINED },
        { "\"http://10.0.0.1/token\"", NGX_DECLINED },
        { "\"ftp://127.0.0.1/token\"", NGX_DECLINED },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(read_text(*state, document(*state, "token_endpoint",
                                                    rows[i].url), 1, &m),
                         rows[i].rc);
    }
}


/* What is kept says the same. */

static void
test_keep(void **state)
{
    char        *text;
    ngx_str_t    kept, again;
    ngx_uint_t   i;

    ngx_svc_oidc_metadata_t  m, n;

    static const char *const  rows[][2] = {
        { "x", "1" },
        { "userinfo_endpoint", NULL },
        { "end_session_endpoint", NULL },
        { "token_endpoint_auth_methods_supported", NULL },
        { "token_endpoint_auth_methods_supported",
          "[\"client_secret_basic\",\"client_secret_post\"]" },
        { "id_token_signing_alg_values_supported", NULL },
        { "id_token_signing_alg_values_supported", "[\"ES384\",\"PS256\"]" },
        { "authorization_response_iss_parameter_supported", "true" },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        text = document(*state, rows[i][0], rows[i][1]);
        assert_int_equal(read_text(*state, text, 0, &m), NGX_OK);

        assert_int_equal(ngx_svc_oidc_metadata_keep(*state, &m, &kept),
                         NGX_OK);
        assert_int_equal(ngx_svc_oidc_metadata_read(*state, &kept, &issuer, 0,
                                                    &n), NGX_OK);

        assert_true(ngx_svc_same(&m.issuer, &n.issuer));
        assert_true(ngx_svc_same(&m.authorization_endpoint,
                                 &n.authorization_endpoint));
        assert_true(ngx_svc_same(&m.token_endpoint, &n.token_endpoint));
        assert_true(ngx_svc_same(&m.jwks_uri, &n.jwks_uri));
        assert_true(ngx_svc_same(&m.userinfo_endpoint, &n.userinfo_endpoint));
        assert_true(ngx_svc_same(&m.end_session_endpoint,
                                 &n.end_session_endpoint));
        assert_int_equal(m.algs, n.algs);
        assert_int_equal(m.basic, n.basic);
        assert_int_equal(m.post, n.post);
        assert_int_equal(m.iss, n.iss);

        assert_int_equal(ngx_svc_oidc_metadata_keep(*state, &n, &again),
                         NGX_OK);
        assert_true(ngx_svc_same(&kept, &again));
    }

    assert_int_equal(m.iss, 1);
    assert_int_equal(m.basic, 0);
    assert_int_equal(m.post, 1);
    assert_int_equal(m.algs, ALG(RS256) | ALG(EDDSA));
    assert_string_equal((char *) m.authorization_endpoint.data,
                        "https://idp.example/auth?p=1");

    /* without the member it is basic alone */

    text = document(*state, "token_endpoint_auth_methods_supported", NULL);
    assert_int_equal(read_text(*state, text, 0, &m), NGX_OK);
    assert_int_equal(m.basic, 1);
    assert_int_equal(m.post, 0);
    assert_int_equal(m.iss, 0);
}


static void
test_memory(void **state)
{
    char       *text;
    ngx_int_t   rc, n;
    ngx_str_t   kept;

    ngx_svc_oidc_metadata_t  m;

    text = document(*state, "x", "1");

    for (n = 0; n < 200; n++) {
        ngx_env_alloc_limit(n);

        rc = read_text(*state, text, 0, &m);

        if (rc == NGX_OK) {
            rc = ngx_svc_oidc_metadata_keep(*state, &m, &kept);
        }

        ngx_env_alloc_limit(-1);

        if (rc == NGX_OK) {
            break;
        }

        assert_int_equal(rc, NGX_ERROR);
    }

    assert_in_range(n, 10, 150);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_members),
        ngx_unit_test(test_texts),
        ngx_unit_test(test_loopback),
        ngx_unit_test(test_keep),
        ngx_unit_test(test_memory),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("oidc_metadata", tests, NULL, NULL);
}
