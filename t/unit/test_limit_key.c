/*
 * What limits count: their names in Redis, and which addresses are counted as
 * one.
 */

#include "ngx_unit.h"
#include "ngx_svc_limit_key.h"


static void
of_addr(ngx_svc_limit_key_t *key, ngx_svc_limit_family_e family,
    const char *text)
{
    ngx_svc_addr_t  addr;

    assert_int_equal(ngx_svc_addr_parse((u_char *) text, strlen(text), &addr),
                     NGX_OK);

    ngx_svc_limit_key_addr(key, family, &addr);
}


static void
is_text(const ngx_svc_limit_key_t *key, const char *expected)
{
    u_char  text[NGX_SVC_LIMIT_KEY_TEXT + 1], *p;

    memset(text, '#', sizeof(text));
    p = ngx_svc_limit_key_text(text, key);

    assert_int_equal(*p, '#');
    *p = '\0';
    assert_string_equal((char *) text, expected);
}


static void
test_addr(void **state)
{
    ngx_uint_t           i;
    ngx_svc_limit_key_t  key;

    static const char  *const rows[][2] = {
        { "192.0.2.1", "svc.rate.l.i.192.0.2.1" },
        { "255.255.255.255", "svc.rate.l.i.255.255.255.255" },
        { "::ffff:192.0.2.1", "svc.rate.l.i.192.0.2.1" },
        { "2001:db8:1:2:3:4:5:6", "svc.rate.l.i.2001:db8:1:2::" },
        { "2001:db8:1:2::", "svc.rate.l.i.2001:db8:1:2::" },
        { "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
          "svc.rate.l.i.ffff:ffff:ffff:ffff::" },
        { "::1", "svc.rate.l.i.::" }
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        of_addr(&key, NGX_SVC_LIMIT_LOGIN, rows[i][0]);
        is_text(&key, rows[i][1]);
    }

    of_addr(&key, NGX_SVC_LIMIT_SIGNUP, "192.0.2.1");
    is_text(&key, "svc.rate.s.i.192.0.2.1");
}


static void
test_mac(void **state)
{
    u_char               mac[NGX_SVC_LIMIT_MAC_LEN];
    ngx_uint_t           i;
    ngx_svc_limit_key_t  key;

    for (i = 0; i < sizeof(mac); i++) {
        mac[i] = 0xf0 + i;
    }

    ngx_svc_limit_key_mac(&key, NGX_SVC_LIMIT_LOGIN, mac);
    is_text(&key, "svc.rate.l.e.f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");

    ngx_svc_limit_key_mac(&key, NGX_SVC_LIMIT_SIGNUP, mac);
    is_text(&key, "svc.rate.s.e.f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");

    ngx_svc_limit_key_mac(&key, NGX_SVC_LIMIT_LOCK, mac);
    is_text(&key, "svc.lock.f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");

    ngx_svc_limit_key_tenant(&key, NGX_SVC_LIMIT_DOMAIN, mac);
    is_text(&key, "svc.rate.d.t.f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
}


/* Keys are equal as bytes, whatever was in the memory before. */

static void
test_equal(void **state)
{
    ngx_uint_t           i, j;
    ngx_svc_limit_key_t  keys[10];

    static const u_char  mac[NGX_SVC_LIMIT_MAC_LEN] = { 192, 0, 2, 1 };

    memset(keys, 0x55, sizeof(keys));

    of_addr(&keys[0], NGX_SVC_LIMIT_LOGIN, "192.0.2.1");
    of_addr(&keys[1], NGX_SVC_LIMIT_LOGIN, "::ffff:192.0.2.1");
    of_addr(&keys[2], NGX_SVC_LIMIT_LOGIN, "192.0.2.2");
    of_addr(&keys[3], NGX_SVC_LIMIT_SIGNUP, "192.0.2.1");
    of_addr(&keys[4], NGX_SVC_LIMIT_LOGIN, "c000:201::");
    of_addr(&keys[5], NGX_SVC_LIMIT_LOGIN, "c000:201:0:1::");
    ngx_svc_limit_key_mac(&keys[6], NGX_SVC_LIMIT_LOGIN, mac);
    ngx_svc_limit_key_mac(&keys[7], NGX_SVC_LIMIT_SIGNUP, mac);
    ngx_svc_limit_key_mac(&keys[8], NGX_SVC_LIMIT_LOCK, mac);
    ngx_svc_limit_key_tenant(&keys[9], NGX_SVC_LIMIT_DOMAIN, mac);

    for (i = 0; i < 10; i++) {
        for (j = 0; j < i; j++) {
            assert_int_equal(memcmp(&keys[i], &keys[j], sizeof(keys[0])) == 0,
                             i == 1 && j == 0);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_addr),
        cmocka_unit_test(test_mac),
        cmocka_unit_test(test_equal)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
