/*
 * Redirect URIs, scopes and resource URIs of applications.
 */

#include "ngx_unit.h"
#include "ngx_svc_application_redirect.h"
#include "ngx_svc_application_resource.h"
#include "ngx_svc_application_scope.h"
#include "ngx_svc_url.h"


static const char  *redirects[] = {
    "https://a.test", "HTTPS://A.test/", "https://a.test:8443/cb?x=y",
    "https://1.2.3.4/", "https://[2001:db8::1]/", "http://127.0.0.1",
    "http://127.0.0.1:5173/cb", "http://[::1]/", "http://[::1]:1",
    "http://localhost/cb", "https://a.test/.", "https://a.test/...",
    "https://a.test/a..b/..c", "https://a.test/?../", "https://a.test/?x=/..",
    "https://a.test/%20%2E", "https://a.test/a/.../",
};

static const char  *no_redirects[] = {
    "", "https", "https:/a", "//a.test/", "a.test", "http://a.test/",
    "ftp://a.test/", "app:/cb", "com.example.app://cb", "javascript:alert(1)",
    "http://127.0.0.2/", "http://127.0.0.1.evil/", "http://localhost.evil/",
    "http://LOCALHOST/", "http://[::2]/", "http://[0:0:0:0:0:0:0:1]/",
    "https:///cb", "https://u@a.test/", "https://u:p@a.test/",
    "https://a.test/#", "https://a.test/#x", "https://a.test\\@b/",
    "https://a.test/\\", "https://a.test/*", "https://*.a.test/",
    "https://a.test/..", "https://a.test/../", "https://a.test/x/../y",
    "https://a.test/..?x", "https://a.test/%2e%2E/", "https://a.test/.%2e",
    "https://a.test/..%2fx", "https://a.test/%2f..", "https://a.test/%5c..",
    "https://a.test/x%5C..%5Cy", "https://a.test/%00", "https://a.test/%1F",
    "https://a.test/%7f", "https://a.test/?%0a", "https://a.test/%",
    "https://a.test/%4", "https://a.test/%4x", "https://a.test/ ",
    "https://a.test/\n", "https://a.test/\"", "https://b\xc3\xbc.test/",
};

static const char  *scopes[] = {
    "a", "!", "~", "openid", "invoices:read", "https://a.test/x?y=z", "[]#%",
};

static const char  *no_scopes[] = {
    "", " ", "a b", "a\"b", "a\\b", "a\tb", "\x7f", "b\xc3\xbc",
};

/* The URIs of a line are equal. */

static const struct {
    const char  *uri;
    const char  *key;
} resources[] = {
    { "https://a.test", "https://a.test/" },
    { "HTTPS://A.TEST:443/", "https://a.test/" },
    { "https://a.test?x", "https://a.test/?x" },
    { "https://a.test:443?X", "https://a.test/?X" },
    { "http://a.test:80", "http://a.test/" },
    { "http://a.test:443", "http://a.test:443/" },
    { "https://a.test:80/X", "https://a.test:80/X" },
    { "https://[2001:DB8::1]:443/", "https://[2001:db8::1]/" },
    { "https://a.test/%7e%2f%c3", "https://a.test/~%2F%C3" },
    { "https://a.test/%41%2D", "https://a.test/A-" },
    { "api://Billing", "api://billing/" },
    { "URN:Example:A", "urn:Example:A" },
    { "a+b-c.d:x", "a+b-c.d:x" },
};

static const char  *no_resources[] = {
    "", ":", "x", "/x", "//a.test", "1a:x", "a_b:x", "urn:", "http:x",
    "https:", "https:/a", "HTTP:x", "https://", "https://u@a.test/",
    "https://a.test/#", "urn:x#y", "urn:x y", "urn:\"", "urn:%", "urn:%z0",
    "urn:%00", "urn:%7f", "https://a.test:0/", "urn:b\xc3\xbc",
};


static ngx_str_t
str(const char *text)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return s;
}


static void
test_redirects(void **state)
{
    ngx_str_t   uri;
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(redirects); i++) {
        uri = str(redirects[i]);
        assert_true(ngx_svc_application_redirect(&uri));
    }

    for (i = 0; i < ngx_unit_len(no_redirects); i++) {
        uri = str(no_redirects[i]);
        assert_false(ngx_svc_application_redirect(&uri));
    }
}


static void
test_scopes(void **state)
{
    ngx_str_t   scope;
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(scopes); i++) {
        scope = str(scopes[i]);
        assert_true(ngx_svc_application_scope(&scope));
    }

    for (i = 0; i < ngx_unit_len(no_scopes); i++) {
        scope = str(no_scopes[i]);
        assert_false(ngx_svc_application_scope(&scope));
    }
}


static void
test_resources(void **state)
{
    u_char      buf[NGX_SVC_APPLICATION_RESOURCE + 1];
    ngx_str_t   uri, key;
    ngx_uint_t  i;

    key.data = buf;

    for (i = 0; i < ngx_unit_len(resources); i++) {
        uri = str(resources[i].uri);
        assert_int_equal(ngx_svc_application_resource(&uri, &key), NGX_OK);
        assert_int_equal(key.len, strlen(resources[i].key));
        assert_memory_equal(key.data, resources[i].key, key.len);
    }

    for (i = 0; i < ngx_unit_len(no_resources); i++) {
        uri = str(no_resources[i]);
        assert_int_equal(ngx_svc_application_resource(&uri, &key),
                         NGX_DECLINED);
    }
}


static void
test_lengths(void **state)
{
    char       text[NGX_SVC_URL_MAX + 1];
    u_char     buf[NGX_SVC_APPLICATION_RESOURCE + 1];
    ngx_str_t  s, key;

    memset(text, 'x', sizeof(text));
    memcpy(text, "https://", 8);
    text[9] = '/';

    s = str("");
    s.data = (u_char *) text;
    key.data = buf;

    s.len = NGX_SVC_URL_MAX;
    assert_true(ngx_svc_application_redirect(&s));
    s.len++;
    assert_false(ngx_svc_application_redirect(&s));

    s.len = NGX_SVC_APPLICATION_SCOPE;
    assert_true(ngx_svc_application_scope(&s));
    s.len++;
    assert_false(ngx_svc_application_scope(&s));

    s.len = NGX_SVC_APPLICATION_RESOURCE;
    assert_int_equal(ngx_svc_application_resource(&s, &key), NGX_OK);
    s.len++;
    assert_int_equal(ngx_svc_application_resource(&s, &key), NGX_DECLINED);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_redirects),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
