/*
 * URLs of other servers.
 */

#include "ngx_unit.h"
#include "ngx_svc_url.h"


static const struct {
    const char  *text;
    const char  *scheme;
    const char  *host;
    const char  *port;
    const char  *rest;
} good[] = {
    { "https://idp.test", "https", "idp.test", "", "" },
    { "HTTPS://Idp.test:8443/sso?a=b", "HTTPS", "Idp.test", "8443",
      "/sso?a=b" },
    { "ldaps://127.0.0.1:636", "ldaps", "127.0.0.1", "636", "" },
    { "ldap://[2001:db8::1]:389/", "ldap", "2001:db8::1", "389", "/" },
    { "https://[::1]?q", "https", "::1", "", "?q" },
    { "https://a-b.x/@:[]%41", "https", "a-b.x", "", "/@:[]%41" },
    { "https://x:1", "https", "x", "1", "" },
    { "https://x:65535", "https", "x", "65535", "" },
};

static const char  *bad[] = {
    "", "https", "https:", "https:/x", "https://", "://x", "//x", "https:///x",
    "https://u@x", "https://u:p@x", "https://@x", "https://x#", "https://x/#y",
    "https://x y", "https://x\t", "https://x/\x7f", "https://b\xc3\xbc.x",
    "https://x/\\", "https://x/\"", "https://x/<", "https://x/{", "https://x:",
    "https://x:0", "https://x:01", "https://x:65536", "https://x:9999999999",
    "https://x:-1", "https://x:a", "https://.x", "https://x.", "https://x..y",
    "https://-x", "https://x-", "https://x-.y", "https://x_y", "https://[x]",
    "https://[::1", "https://[127.0.0.1]", "https://[]", "https://[::1]x",
    "https://[::1]:", "https://::1", "https://[::1%25lo]",
};


static ngx_int_t
split(const char *text, ngx_svc_url_t *url)
{
    ngx_str_t  str;

    str.data = (u_char *) text;
    str.len = strlen(text);

    return ngx_svc_url_split(&str, url);
}


static void
same(const ngx_str_t *part, const char *text)
{
    assert_int_equal(part->len, strlen(text));
    assert_memory_equal(part->len ? (char *) part->data : "", text, part->len);
}


static void
test_good(void **state)
{
    ngx_uint_t     i;
    ngx_svc_url_t  url;

    for (i = 0; i < ngx_unit_len(good); i++) {
        assert_int_equal(split(good[i].text, &url), NGX_OK);
        same(&url.scheme, good[i].scheme);
        same(&url.host, good[i].host);
        same(&url.port, good[i].port);
        same(&url.rest, good[i].rest);
    }

    assert_int_equal(split("HTTPS://x", &url), NGX_OK);
    assert_true(ngx_svc_url_scheme(&url, "https"));
    assert_false(ngx_svc_url_scheme(&url, "http"));
    assert_false(ngx_svc_url_scheme(&url, "httpss"));
}


static void
test_bad(void **state)
{
    ngx_uint_t     i;
    ngx_svc_url_t  url;

    for (i = 0; i < ngx_unit_len(bad); i++) {
        assert_int_equal(split(bad[i], &url), NGX_DECLINED);
    }
}


static void
test_local(void **state)
{
    ngx_uint_t     i;
    ngx_svc_url_t  url;

    static const char  *local[] = {
        "http://127.0.0.1", "https://[::1]:8443/x", "http://localhost:80"
    };

    static const char  *others[] = {
        "http://127.0.0.2", "http://LOCALHOST", "http://localhost.x",
        "http://x.localhost", "http://[::2]", "http://127.0.0.1.x"
    };

    for (i = 0; i < ngx_unit_len(local); i++) {
        assert_int_equal(split(local[i], &url), NGX_OK);
        assert_true(ngx_svc_url_local(&url));
    }

    for (i = 0; i < ngx_unit_len(others); i++) {
        assert_int_equal(split(others[i], &url), NGX_OK);
        assert_false(ngx_svc_url_local(&url));
    }
}


/* A label of 63 bytes, and a name of 253. */

static void
test_lengths(void **state)
{
    char           text[512];
    ngx_uint_t     n;
    ngx_svc_url_t  url;

    for (n = 63; n <= 64; n++) {
        memset(text, 'x', sizeof(text));
        memcpy(text, "https://", 8);
        strcpy(text + 8 + n, ".y");
        assert_int_equal(split(text, &url), n == 63 ? NGX_OK : NGX_DECLINED);
    }

    for (n = 253; n <= 254; n++) {
        memset(text, 'x', sizeof(text));
        memcpy(text, "https://", 8);
        text[8 + 63] = text[8 + 127] = text[8 + 191] = '.';
        text[8 + n] = '\0';
        assert_int_equal(split(text, &url), n == 253 ? NGX_OK : NGX_DECLINED);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
