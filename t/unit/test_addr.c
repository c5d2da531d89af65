/*
 * Addresses and CIDRs.
 */

#include "ngx_unit.h"
#include "ngx_svc_addr.h"


#define TEXT(s)  (const u_char *) (s), strlen(s)


typedef struct {
    const char  *text;
    const char  *canonical;     /* NULL: refused */
} row_t;


static const row_t  addresses[] = {
    { "0.0.0.0", "0.0.0.0" },
    { "255.255.255.255", "255.255.255.255" },
    { "192.0.2.1", "192.0.2.1" },
    { "::", "::" },
    { "::1", "::1" },
    { "1::", "1::" },
    { "2001:DB8::A", "2001:db8::a" },
    { "2001:0db8:0000:0000:0000:0000:0000:000a", "2001:db8::a" },
    { "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1" },
    { "2001:0:0:1:0:0:0:1", "2001:0:0:1::1" },
    { "2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1" },
    { "0:0:1::", "0:0:1::" },
    { "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8" },
    { "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0" },
    { "::ffff:192.0.2.1", "192.0.2.1" },
    { "::FFFF:c000:0201", "192.0.2.1" },
    { "0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1" },
    { "0000:0000:0000:0000:0000:ffff:255.255.255.255", "255.255.255.255" },
    { "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
    { "::192.0.2.1", "::c000:201" },
    { "64:ff9b::192.0.2.1", "64:ff9b::c000:201" },
    { "fe80::1", "fe80::1" },

    { "", NULL },
    { "1", NULL },
    { "1.2.3", NULL },
    { "1.2.3.4.5", NULL },
    { "1.2.3.", NULL },
    { ".1.2.3.4", NULL },
    { "1..2.3", NULL },
    { "256.0.0.1", NULL },
    { "01.2.3.4", NULL },
    { "1.2.3.00", NULL },
    { "0x7f.0.0.1", NULL },
    { "127.1", NULL },
    { "2130706433", NULL },
    { " 1.2.3.4", NULL },
    { "1.2.3.4 ", NULL },
    { "+1.2.3.4", NULL },
    { "1.2.3.4:80", NULL },
    { "1.2.3.4/32", NULL },
    { ":", NULL },
    { ":::", NULL },
    { "1::2::3", NULL },
    { ":1", NULL },
    { "1:", NULL },
    { "1:2:3:4:5:6:7", NULL },
    { "1:2:3:4:5:6:7:8:9", NULL },
    { "1:2:3:4::5:6:7:8", NULL },
    { "::10000", NULL },
    { "::00001", NULL },
    { "::g", NULL },
    { "::1.2.3", NULL },
    { "::ffff:1.2.3.256", NULL },
    { "::ffff:01.2.3.4", NULL },
    { "fe80::1%eth0", NULL },
    { "[::1]", NULL },
    { "[::1]:80", NULL },
    { "localhost", NULL },
    { "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255f", NULL },
};


static const row_t  cidrs[] = {
    { "192.0.2.0/24", "192.0.2.0/24" },
    { "192.0.2.77/24", "192.0.2.0/24" },
    { "192.0.2.77/25", "192.0.2.0/25" },
    { "192.0.2.255/29", "192.0.2.248/29" },
    { "255.255.255.255/1", "128.0.0.0/1" },
    { "192.0.2.1/32", "192.0.2.1/32" },
    { "192.0.2.1", "192.0.2.1/32" },
    { "1.2.3.4/0", "0.0.0.0/0" },
    { "2001:db8::1", "2001:db8::1/128" },
    { "2001:db8::1/128", "2001:db8::1/128" },
    { "2001:db8:ffff::1/33", "2001:db8:8000::/33" },
    { "ffff::/0", "::/0" },
    { "::ffff:10.1.2.3/104", "10.0.0.0/8" },
    { "::ffff:10.1.2.3/96", "0.0.0.0/0" },
    { "::ffff:10.1.2.3", "10.1.2.3/32" },

    { "", NULL },
    { "/", NULL },
    { "/8", NULL },
    { "1.2.3.4/", NULL },
    { "1.2.3.4/33", NULL },
    { "1.2.3.4/08", NULL },
    { "1.2.3.4/00", NULL },
    { "1.2.3.4/+8", NULL },
    { "1.2.3.4/-8", NULL },
    { "1.2.3.4/8 ", NULL },
    { "1.2.3.4/2 ", NULL },
    { "1.2.3.4/1:", NULL },
    { "1.2.3.4/ 8", NULL },
    { "1.2.3.4/8/8", NULL },
    { "1.2.3.4/255.0.0.0", NULL },
    { "1.2.3.4/0x8", NULL },
    { "1.2.3.4/4294967304", NULL },
    { "1.2.3/8", NULL },
    { "::/129", NULL },
    { "::/1000", NULL },
    { "::ffff:10.1.2.3/95", NULL },
    { "::ffff:10.1.2.3/129", NULL },
};


static void
test_addresses(void **state)
{
    char             text[NGX_SVC_ADDR_TEXT_LEN + 1];
    ngx_int_t        rc;
    ngx_uint_t       i;
    const row_t     *row;
    ngx_svc_addr_t   addr;

    for (i = 0; i < ngx_unit_len(addresses); i++) {
        row = &addresses[i];

        rc = ngx_svc_addr_parse(TEXT(row->text), &addr);

        if (rc != (row->canonical ? NGX_OK : NGX_DECLINED)) {
            fail_msg("\"%s\": %d", row->text, (int) rc);
        }

        if (rc == NGX_OK) {
            *ngx_svc_addr_text((u_char *) text, &addr) = '\0';
            assert_string_equal(text, row->canonical);
        }
    }

    /* a NUL inside, and bytes beyond the length */

    assert_int_equal(ngx_svc_addr_parse((u_char *) "1.2.3.4\0x", 9, &addr),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_addr_parse((u_char *) "1.2.3.4567", 7, &addr),
                     NGX_OK);
    assert_int_equal(addr.bytes[3], 4);
    assert_int_equal(ngx_svc_addr_parse(NULL, 0, &addr), NGX_DECLINED);
}


/*
 * glibc's inet_ntop() also writes RFC 5952, except for IPv4 in the last group.
 */

static void
test_text(void **state)
{
    char             text[NGX_SVC_ADDR_TEXT_LEN + 1];
    char             other[INET6_ADDRSTRLEN];
    uint64_t         seed;
    ngx_uint_t       i, j, ntested;
    ngx_svc_addr_t   addr, again;

    seed = 42;
    ntested = 0;

    for (i = 0; i < 50000; i++) {
        ngx_memzero(&addr, sizeof(addr));
        addr.family = AF_INET6;

        for (j = 0; j < 16; j += 2) {
            if (ngx_unit_random(&seed) % 2) {
                addr.bytes[j] = (u_char) (ngx_unit_random(&seed) & 0x11);
                addr.bytes[j + 1] = (u_char) ngx_unit_random(&seed);
            }
        }

        *ngx_svc_addr_text((u_char *) text, &addr) = '\0';

        assert_int_equal(ngx_svc_addr_parse(TEXT(text), &again), NGX_OK);
        assert_memory_equal(&addr, &again, sizeof(addr));

        assert_non_null(inet_ntop(AF_INET6, addr.bytes, other,
                                  sizeof(other)));

        if (strchr(other, '.') == NULL) {
            assert_string_equal(text, other);
            ntested++;
        }
    }

    assert_true(ntested > 45000);
}


static void
test_sockaddr(void **state)
{
    char                  text[NGX_SVC_ADDR_TEXT_LEN + 1];
    ngx_svc_addr_t        addr, plain;
    struct sockaddr_un    un;
    struct sockaddr_in    in;
    struct sockaddr_in6   in6;

    ngx_memzero(&in, sizeof(in));
    in.sin_family = AF_INET;
    in.sin_port = htons(80);
    in.sin_addr.s_addr = htonl(0xc0000201);

    /*
     * the old content is overwritten completely, so that addresses compare as
     * bytes
     */

    memset(&addr, 0xff, sizeof(addr));
    memset(&plain, 0, sizeof(plain));

    assert_int_equal(ngx_svc_addr_from_sockaddr((struct sockaddr *) &in,
                                                &addr), NGX_OK);
    assert_int_equal(ngx_svc_addr_parse(TEXT("192.0.2.1"), &plain), NGX_OK);
    assert_memory_equal(&addr, &plain, sizeof(addr));
    assert_int_equal(ngx_svc_addr_parse(TEXT("::ffff:192.0.2.1"), &addr),
                     NGX_OK);
    assert_memory_equal(&addr, &plain, sizeof(addr));
    *ngx_svc_addr_text((u_char *) text, &addr) = '\0';
    assert_string_equal(text, "192.0.2.1");

    ngx_memzero(&in6, sizeof(in6));
    in6.sin6_family = AF_INET6;
    in6.sin6_scope_id = 2;
    assert_int_equal(inet_pton(AF_INET6, "fe80::5", &in6.sin6_addr), 1);

    assert_int_equal(ngx_svc_addr_from_sockaddr((struct sockaddr *) &in6,
                                                &addr), NGX_OK);
    *ngx_svc_addr_text((u_char *) text, &addr) = '\0';
    assert_string_equal(text, "fe80::5");

    assert_int_equal(inet_pton(AF_INET6, "::ffff:10.0.0.9", &in6.sin6_addr),
                     1);
    assert_int_equal(ngx_svc_addr_from_sockaddr((struct sockaddr *) &in6,
                                                &addr), NGX_OK);
    assert_int_equal(addr.family, AF_INET);
    *ngx_svc_addr_text((u_char *) text, &addr) = '\0';
    assert_string_equal(text, "10.0.0.9");

    ngx_memzero(&un, sizeof(un));
    un.sun_family = AF_UNIX;

    assert_int_equal(ngx_svc_addr_from_sockaddr((struct sockaddr *) &un,
                                                &addr), NGX_DECLINED);
}


static void
test_cidrs(void **state)
{
    char             text[NGX_SVC_ADDR_TEXT_LEN + sizeof("/128")];
    u_char          *p;
    ngx_int_t        rc;
    ngx_uint_t       i;
    const row_t     *row;
    ngx_svc_cidr_t   cidr;

    for (i = 0; i < ngx_unit_len(cidrs); i++) {
        row = &cidrs[i];

        rc = ngx_svc_cidr_parse(TEXT(row->text), &cidr);

        if (rc != (row->canonical ? NGX_OK : NGX_DECLINED)) {
            fail_msg("\"%s\": %d", row->text, (int) rc);
        }

        if (rc == NGX_OK) {
            p = ngx_svc_addr_text((u_char *) text, &cidr.addr);
            (void) ngx_sprintf(p, "/%ui%Z", cidr.bits);
            assert_string_equal(text, row->canonical);
        }
    }

    assert_int_equal(ngx_svc_cidr_parse(NULL, 0, &cidr), NGX_DECLINED);
}


static void
test_contains(void **state)
{
    ngx_uint_t       i;
    ngx_svc_addr_t   addr;
    ngx_svc_cidr_t   cidr;

    static const struct {
        const char  *cidr;
        const char  *addr;
        ngx_uint_t   inside;
    } rows[] = {
        { "192.0.2.0/24", "192.0.2.0", 1 },
        { "192.0.2.0/24", "192.0.2.255", 1 },
        { "192.0.2.0/24", "192.0.3.0", 0 },
        { "192.0.2.0/24", "192.0.1.255", 0 },
        { "192.0.2.128/25", "192.0.2.127", 0 },
        { "192.0.2.128/25", "192.0.2.128", 1 },
        { "192.0.2.9/32", "192.0.2.9", 1 },
        { "192.0.2.9", "192.0.2.8", 0 },
        { "0.0.0.0/0", "255.1.2.3", 1 },
        { "0.0.0.0/0", "::ffff:255.1.2.3", 1 },
        { "0.0.0.0/0", "::1", 0 },
        { "::/0", "1.2.3.4", 0 },
        { "::/0", "2001:db8::1", 1 },
        { "::ffff:10.0.0.0/104", "10.255.0.1", 1 },
        { "2001:db8::/33", "2001:db8:7fff::", 1 },
        { "2001:db8::/33", "2001:db8:8000::", 0 },
        { "2001:db8::1/128", "2001:db8::1", 1 },
        { "2001:db8::1/127", "2001:db8::", 1 },
        { "2001:db8::1/127", "2001:db8::2", 0 },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(ngx_svc_cidr_parse(TEXT(rows[i].cidr), &cidr),
                         NGX_OK);
        assert_int_equal(ngx_svc_addr_parse(TEXT(rows[i].addr), &addr),
                         NGX_OK);

        if (ngx_svc_cidr_contains(&cidr, &addr) != rows[i].inside) {
            fail_msg("%s in %s: not %d", rows[i].addr, rows[i].cidr,
                     (int) rows[i].inside);
        }
    }
}


/* Each prefix length, at its first and last address and next to them. */

static void
test_prefixes(void **state)
{
    ngx_uint_t       bits, i;
    ngx_svc_addr_t   addr;
    ngx_svc_cidr_t   cidr;
    u_char           text[sizeof("a5a5:a5a5:a5a5:a5a5:a5a5:a5a5:a5a5:a5a5"
                                 "/128")];

    for (bits = 0; bits <= 128; bits++) {
        (void) ngx_sprintf(text, "a5a5:a5a5:a5a5:a5a5:a5a5:a5a5:a5a5:a5a5"
                                 "/%ui%Z", bits);

        assert_int_equal(ngx_svc_cidr_parse(TEXT((char *) text), &cidr),
                         NGX_OK);

        for (i = 0; i < 128; i++) {
            addr.family = AF_INET6;
            memset(addr.bytes, 0xa5, 16);
            addr.bytes[i / 8] ^= 0x80 >> (i % 8);

            assert_int_equal(ngx_svc_cidr_contains(&cidr, &addr), i >= bits);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_sockaddr),
        cmocka_unit_test(test_cidrs),
        cmocka_unit_test(test_contains),
        cmocka_unit_test(test_prefixes),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("addr", tests, NULL, NULL);
}
