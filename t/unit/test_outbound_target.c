/*
 * Where deliveries may be sent.
 */

#include "ngx_unit.h"
#include "ngx_svc_outbound_target.h"


#define PUBLIC  NULL


typedef struct {
    const char  *text;
    const char  *kind;
} address_t;

typedef struct {
    const char  *url;
    const char  *detail;        /* NULL: accepted */
} url_t;


/* The first and the last address of each range, and their neighbours. */

static const address_t  addresses[] = {
    { "0.0.0.0", "unspecified" },
    { "0.255.255.255", "unspecified" },
    { "1.0.0.0", PUBLIC },
    { "9.255.255.255", PUBLIC },
    { "10.0.0.0", "private" },
    { "10.255.255.255", "private" },
    { "11.0.0.0", PUBLIC },
    { "100.63.255.255", PUBLIC },
    { "100.64.0.0", "shared" },
    { "100.127.255.255", "shared" },
    { "100.128.0.0", PUBLIC },
    { "126.255.255.255", PUBLIC },
    { "127.0.0.0", "loopback" },
    { "127.255.255.255", "loopback" },
    { "128.0.0.0", PUBLIC },
    { "169.253.255.255", PUBLIC },
    { "169.254.0.0", "link-local" },
    { "169.254.169.254", "link-local" },
    { "169.254.255.255", "link-local" },
    { "169.255.0.0", PUBLIC },
    { "172.15.255.255", PUBLIC },
    { "172.16.0.0", "private" },
    { "172.31.255.255", "private" },
    { "172.32.0.0", PUBLIC },
    { "191.255.255.255", PUBLIC },
    { "192.0.0.0", "reserved" },
    { "192.0.0.255", "reserved" },
    { "192.0.1.0", PUBLIC },
    { "192.0.1.255", PUBLIC },
    { "192.0.2.0", "documentation" },
    { "192.0.2.255", "documentation" },
    { "192.0.3.0", PUBLIC },
    { "192.88.98.255", PUBLIC },
    { "192.88.99.0", "reserved" },
    { "192.88.99.255", "reserved" },
    { "192.88.100.0", PUBLIC },
    { "192.167.255.255", PUBLIC },
    { "192.168.0.0", "private" },
    { "192.168.255.255", "private" },
    { "192.169.0.0", PUBLIC },
    { "198.17.255.255", PUBLIC },
    { "198.18.0.0", "reserved" },
    { "198.19.255.255", "reserved" },
    { "198.20.0.0", PUBLIC },
    { "198.51.99.255", PUBLIC },
    { "198.51.100.0", "documentation" },
    { "198.51.100.255", "documentation" },
    { "198.51.101.0", PUBLIC },
    { "203.0.112.255", PUBLIC },
    { "203.0.113.0", "documentation" },
    { "203.0.113.255", "documentation" },
    { "203.0.114.0", PUBLIC },
    { "223.255.255.255", PUBLIC },
    { "224.0.0.0", "multicast" },
    { "239.255.255.255", "multicast" },
    { "240.0.0.0", "reserved" },
    { "255.255.255.255", "reserved" },

    { "::", "unspecified" },
    { "::1", "loopback" },
    { "::2", "reserved" },
    { "::7f00:1", "reserved" },
    { "::8.8.8.8", "reserved" },
    { "::fffe:ffff:ffff", "reserved" },
    { "::ffff:0.0.0.0", "unspecified" },
    { "::ffff:127.0.0.1", "loopback" },
    { "::ffff:a9fe:a9fe", "link-local" },
    { "::ffff:8.8.8.8", PUBLIC },
    { "::ffff:0:127.0.0.1", "reserved" },
    { "::1:0:0:0", "reserved" },
    { "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", "reserved" },
    { "64:ff9b::", "translated" },
    { "64:ff9b::127.0.0.1", "translated" },
    { "64:ff9b::8.8.8.8", "translated" },
    { "64:ff9b:1::10.0.0.1", "translated" },
    { "64:ff9c::", "reserved" },
    { "100::", "reserved" },
    { "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved" },
    { "2000::", PUBLIC },
    { "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", PUBLIC },
    { "2001::", "reserved" },
    { "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved" },
    { "2001:200::", PUBLIC },
    { "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", PUBLIC },
    { "2001:db8::", "documentation" },
    { "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation" },
    { "2001:db9::", PUBLIC },
    { "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", PUBLIC },
    { "2002::", "translated" },
    { "2002:7f00:1::", "translated" },
    { "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "translated" },
    { "2003::", PUBLIC },
    { "2606:4700::1111", PUBLIC },
    { "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", PUBLIC },
    { "3fff::", "documentation" },
    { "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation" },
    { "3fff:1000::", PUBLIC },
    { "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", PUBLIC },
    { "4000::", "reserved" },
    { "5f00::", "reserved" },
    { "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved" },
    { "fc00::", "unique-local" },
    { "fd00:ec2::254", "unique-local" },
    { "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "unique-local" },
    { "fe00::", "reserved" },
    { "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved" },
    { "fe80::", "link-local" },
    { "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local" },
    { "fec0::", "reserved" },
    { "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved" },
    { "ff00::", "multicast" },
    { "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast" }
};


#define BEGIN     "\"url\" must begin with \"https://\"."
#define HOST      "\"url\" must have a host, as "                             \
                  "\"https://hooks.example.com/in\" has."
#define USER      "\"url\" must not have a user or a password (\"@\") "       \
                  "before its host."
#define FRAGMENT  "\"url\" must not have a fragment (\"#\")."
#define PORT      "\"url\" must have a port from 1 to 65535, or none."
#define BRACKETS  "\"url\" must have an IPv6 address in the brackets of its " \
                  "host."
#define LABEL     "\"url\" must have a host with no dot at its end, and 1 "   \
                  "to 63 characters between two."
#define LETTERS   "\"url\" must have a host with nothing but letters, "       \
                  "digits, \"-\", \"_\" and dots."
#define ADDRESS   "\"url\" must have a name as its host, or an address such " \
                  "as \"192.0.2.1\" or \"[2001:db8::1]\"."
#define BYTE(n)   "\"url\" has a character that no URL has, at byte " n       \
                  ": write it percent-encoded, or in the host as Punycode."
#define LOCAL(h)  "\"url\" must have a public host: \"" h "\" is this "       \
                  "machine, or of a local network."
#define IS(a, k)  "\"url\" must have a public host: " a " is " k "."

static const url_t  urls[] = {
    { "https://hooks.example.com/in", NULL },
    { "https://hooks.example.com", NULL },
    { "https://HOOKS.example.com?a=b", NULL },
    { "HTTPS://hooks.example.com/in", NULL },
    { "hTtPs://hooks.example.com/in", NULL },
    { "https://hooks.example.com:1/", NULL },
    { "https://hooks.example.com:65535/", NULL },
    { "https://hooks.example.com/a@b:c/%41?[x]=/y&z=@", NULL },
    { "https://hooks.example.com?@127.0.0.1/", NULL },
    { "https://xn--bcher-kva.example/", NULL },
    { "https://a_b-c.example/", NULL },
    { "https://intranet/", NULL },
    { "https://localhost.example.com/", NULL },
    { "https://mylocal/", NULL },
    { "https://0xfg/", NULL },
    { "https://1.2.3.4x/", NULL },
    { "https://127.0.0.1.example.com/", NULL },
    { "https://8.8.8.8/", NULL },
    { "https://8.8.8.8:8443/", NULL },
    { "https://[2606:4700::1111]/", NULL },
    { "https://[2606:4700::1111]:443/", NULL },
    { "https://[::ffff:8.8.8.8]/", NULL },

    { "", BEGIN },
    { "https", BEGIN },
    { "https:/example.com", BEGIN },
    { "https:example.com", BEGIN },
    { "http://example.com/", BEGIN },
    { "HTTP://example.com/", BEGIN },
    { "//example.com/", BEGIN },
    { "ftp://example.com/", BEGIN },
    { "javascript:alert(1)", BEGIN },
    { "https://", HOST },
    { "https:///", HOST },
    { "https:///example.com/", HOST },
    { "https://?a", HOST },
    { "https://:443/", HOST },
    { "https://user@example.com/", USER },
    { "https://user:pass@example.com/", USER },
    { "https://@example.com/", USER },
    { "https://example.com@127.0.0.1/", USER },
    { "https://example.com%40/", LETTERS },
    { "https://example.com/#", FRAGMENT },
    { "https://example.com#@127.0.0.1/", FRAGMENT },
    { "https://example.com:/", PORT },
    { "https://example.com:0/", PORT },
    { "https://example.com:65536/", PORT },
    { "https://example.com:99999999999999999999/", PORT },
    { "https://example.com:+443/", PORT },
    { "https://example.com:443:443/", PORT },
    { "https://example.com:https/", PORT },
    { "https://::1/", HOST },
    { "https://1::1/", PORT },

    { " https://example.com/", BYTE("1") },
    { "https://example.com/ ", BYTE("21") },
    { "https://exa mple.com/", BYTE("12") },
    { "https://exa\tmple.com/", BYTE("12") },
    { "https://exa\nmple.com/", BYTE("12") },
    { "https://example.com/a\r\nX-Y: z", BYTE("22") },
    { "https://example.com/\x01", BYTE("21") },
    { "https://example.com/\x7f", BYTE("21") },
    { "https:\\\\example.com/", BYTE("7") },
    { "https://example.com\\@127.0.0.1/", BYTE("20") },
    { "https://example.com/a\\b", BYTE("22") },
    { "https://example.com/{a}", BYTE("21") },
    { "https://b\xc3\xbc" "cher.example/", BYTE("10") },
    { "https://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/", BYTE("9") },
    { "https://127\xe3\x80\x82" "0.0.1/", BYTE("12") },
    { "https://\xe2\x93\x9b\xe2\x93\x9e\xe2\x93\x92" "al/", BYTE("9") },
    { "https://example.com/\xff", BYTE("21") },

    { "https://localhost/", LOCAL("localhost") },
    { "https://LocalHost:8443/", LOCAL("LocalHost") },
    { "https://a.localhost/", LOCAL("a.localhost") },
    { "https://a.b.LOCALHOST", LOCAL("a.b.LOCALHOST") },
    { "https://printer.local/", LOCAL("printer.local") },
    { "https://local/", LOCAL("local") },
    { "https://localhost./", LABEL },
    { "https://example.com./", LABEL },
    { "https://127.0.0.1./", LABEL },
    { "https://.example.com/", LABEL },
    { "https://a..example.com/", LABEL },
    { "https://./", LABEL },
    { "https://a%2eexample.com/", LETTERS },
    { "https://%31%32%37.0.0.1/", LETTERS },
    { "https://127%2e0.0.1/", LETTERS },
    { "https://loc%61lhost/", LETTERS },
    { "https://a,b/", LETTERS },
    { "https://a;b/", LETTERS },
    { "https://a!b/", LETTERS },
    { "https://*.example.com/", LETTERS },

    { "https://127.0.0.1/", IS("127.0.0.1", "loopback") },
    { "https://127.0.0.1:443", IS("127.0.0.1", "loopback") },
    { "https://0.0.0.0/", IS("0.0.0.0", "unspecified") },
    { "https://10.1.2.3/", IS("10.1.2.3", "private") },
    { "https://169.254.169.254/latest", IS("169.254.169.254", "link-local") },
    { "https://100.100.100.200/", IS("100.100.100.200", "shared") },
    { "https://2130706433/", ADDRESS },
    { "https://017700000001/", ADDRESS },
    { "https://0x7f000001/", ADDRESS },
    { "https://0X7F000001/", ADDRESS },
    { "https://0x7f.1/", ADDRESS },
    { "https://0x7f.0x0.0x0.0x1/", ADDRESS },
    { "https://127.1/", ADDRESS },
    { "https://127.0.1/", ADDRESS },
    { "https://0177.0.0.1/", ADDRESS },
    { "https://127.0.0.01/", ADDRESS },
    { "https://127.0.0.0x1/", ADDRESS },
    { "https://0/", ADDRESS },
    { "https://0x/", ADDRESS },
    { "https://1.0x/", ADDRESS },
    { "https://08/", ADDRESS },
    { "https://999.999.999.999/", ADDRESS },
    { "https://256.0.0.1/", ADDRESS },
    { "https://1.2.3.4.5/", ADDRESS },
    { "https://example.1/", ADDRESS },
    { "https://18446744073709551617/", ADDRESS },
    { "https://134744072/", ADDRESS },
    { "https://1e1.0xa/", ADDRESS },

    { "https://[::1]/", IS("::1", "loopback") },
    { "https://[::]/", IS("::", "unspecified") },
    { "https://[0:0:0:0:0:0:0:1]:8443/", IS("::1", "loopback") },
    { "https://[::ffff:127.0.0.1]/", IS("127.0.0.1", "loopback") },
    { "https://[::FFFF:7f00:1]/", IS("127.0.0.1", "loopback") },
    { "https://[::127.0.0.1]/", IS("::7f00:1", "reserved") },
    { "https://[64:ff9b::10.0.0.1]/", IS("64:ff9b::a00:1", "translated") },
    { "https://[fd00::1]/", IS("fd00::1", "unique-local") },
    { "https://[fe80::1]/", IS("fe80::1", "link-local") },
    { "https://[2001:db8::1]/", IS("2001:db8::1", "documentation") },
    { "https://[fe80::1%25eth0]/", ADDRESS },
    { "https://[fe80::1%eth0]/", ADDRESS },
    { "https://[::1/", BRACKETS },
    { "https://[::1]x/", BRACKETS },
    { "https://[]/", BRACKETS },
    { "https://[/", BRACKETS },
    { "https://[127.0.0.1]/", BRACKETS },
    { "https://[v1.x]/", BRACKETS },
    { "https://[v1:x]/", ADDRESS },
    { "https://[::1]]/", ADDRESS },
    { "https://[[::1]]/", ADDRESS },
    { "https://[::1].example.com/", BRACKETS },
    { "https://x[::1]/", PORT },
    { "https://x]/", LETTERS }
};


static const ngx_array_t  nothing;


static void
test_addresses(void **state)
{
    ngx_uint_t       i;
    const char      *kind;
    ngx_svc_addr_t   addr;

    for (i = 0; i < ngx_unit_len(addresses); i++) {
        assert_int_equal(ngx_svc_addr_parse((u_char *) addresses[i].text,
                                            strlen(addresses[i].text), &addr),
                         NGX_OK);

        kind = ngx_svc_outbound_address(&addr, &nothing);

        if ((kind == NULL) != (addresses[i].kind == NULL)
            || (kind && strcmp(kind, addresses[i].kind) != 0))
        {
            fail_msg("%s: %s", addresses[i].text, kind ? kind : "public");
        }
    }
}


static void
check_url(const url_t *row, const ngx_array_t *allow, ngx_uint_t plain)
{
    ngx_int_t         rc;
    ngx_str_t         url;
    ngx_svc_error_t   err;

    url.len = strlen(row->url);
    url.data = malloc(url.len + 1);

    assert_non_null(url.data);
    memcpy(url.data, row->url, url.len);
    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    rc = ngx_svc_outbound_url(&url, allow, plain, "url", &err);

    if (rc != (row->detail ? NGX_DECLINED : NGX_OK)) {
        fail_msg("\"%s\": %d %.*s", row->url, (int) rc, (int) err.len,
                 err.detail);
    }

    ngx_unit_error(&err,
                   row->detail ? NGX_SVC_E_INVALID_VALUE : NGX_SVC_E_NONE,
                   row->detail ? row->detail : "", row->url);
    free(url.data);
}


static void
test_urls(void **state)
{
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(urls); i++) {
        check_url(&urls[i], &nothing, 0);
    }
}


static void
test_allowed(void **state)
{
    ngx_uint_t       i;
    ngx_array_t      allow;
    ngx_svc_cidr_t  *cidr;

    static const char *const  networks[] = { "127.0.0.0/31", "fd00::/16" };

    static const url_t  rows[] = {
        { "https://127.0.0.1/", NULL },
        { "https://127.0.0.2/", IS("127.0.0.2", "loopback") },
        { "https://[::ffff:127.0.0.1]:8443/", NULL },
        { "https://[fd00::1]/", NULL },
        { "https://[fd01::1]/", IS("fd01::1", "unique-local") },
        { "https://127.1/", ADDRESS },
        { "https://localhost/", LOCAL("localhost") },
        { "https://8.8.8.8/", NULL },
        { "http://127.0.0.1/", BEGIN }
    };

    static const url_t  plain[] = {
        { "http://127.0.0.1:8080/.well-known/x", NULL },
        { "HTTP://[::ffff:127.0.0.1]/", NULL },
        { "https://8.8.8.8/", NULL },
        { "https://example.com/", NULL },
        { "http://127.0.0.2/", IS("127.0.0.2", "loopback") },
        { "http://[::1]/", IS("::1", "loopback") },
        { "http://[fd00::1]/", BEGIN },
        { "http://8.8.8.8/", BEGIN },
        { "http://example.com/", BEGIN },
        { "http://localhost/", BEGIN },
        { "http://127.1/", ADDRESS },
        { "http:/127.0.0.1/", BEGIN }
    };

    assert_int_equal(ngx_array_init(&allow, *state, 2,
                                    sizeof(ngx_svc_cidr_t)),
                     NGX_OK);

    for (i = 0; i < ngx_unit_len(networks); i++) {
        cidr = ngx_array_push(&allow);

        assert_non_null(cidr);
        assert_int_equal(ngx_svc_cidr_parse((u_char *) networks[i],
                                            strlen(networks[i]), cidr),
                         NGX_OK);
    }

    for (i = 0; i < ngx_unit_len(rows); i++) {
        check_url(&rows[i], &allow, 0);
    }

    for (i = 0; i < ngx_unit_len(plain); i++) {
        check_url(&plain[i], &allow, 1);
    }
}


/* Returns a text of n bytes after a prefix. */

static const char *
long_url(char *buf, const char *host, size_t n)
{
    (void) sprintf(buf, "https://%s", host);
    memset(buf + strlen(buf), 'a', n);
    buf[sizeof("https://") - 1 + strlen(host) + n] = '\0';

    return buf;
}


static void
test_limits(void **state)
{
    char    buf[4096], host[512];
    size_t  i;
    url_t   row;

    row.url = long_url(buf, "example.com/", 2048 - strlen("https://"
                                                          "example.com/"));
    row.detail = NULL;
    check_url(&row, &nothing, 0);

    (void) strcat(buf, "a");
    row.detail = "\"url\" must have at most 2048 bytes.";
    check_url(&row, &nothing, 0);

    row.url = long_url(buf, "", 63);
    row.detail = NULL;
    check_url(&row, &nothing, 0);

    row.url = long_url(buf, "", 64);
    row.detail = LABEL;
    check_url(&row, &nothing, 0);

    for (i = 0; i < 252; i += 2) {
        memcpy(host + i, "b.", 3);
    }

    row.url = long_url(buf, host, 1);
    row.detail = NULL;
    check_url(&row, &nothing, 0);

    row.url = long_url(buf, host, 2);
    row.detail = "\"url\" must have a host with at most 253 characters.";
    check_url(&row, &nothing, 0);
}


/* A NUL, and bytes after the end. */

static void
test_ends(void **state)
{
    ngx_str_t        url;
    ngx_svc_error_t  err;

    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    ngx_str_set(&url, "https://example.com\0.invalid/");
    assert_int_equal(ngx_svc_outbound_url(&url, &nothing, 0,
                                          "hooks[1].url", &err),
                     NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_VALUE,
                   "\"hooks[1].url\" has a character that no URL has, at byte "
                   "20: write it percent-encoded, or in the host as Punycode.",
                   "NUL");

    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    ngx_str_set(&url, "https://8.8.8.8.9");
    url.len -= 2;
    assert_int_equal(ngx_svc_outbound_url(&url, &nothing, 0, "url", &err),
                     NGX_OK);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_addresses),
        ngx_unit_test(test_urls),
        ngx_unit_test(test_allowed),
        ngx_unit_test(test_limits),
        ngx_unit_test(test_ends)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
