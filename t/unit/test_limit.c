/*
 * Limits of sign-in, without Redis.
 */

#include "ngx_unit_limit_redis.h"


static void
test_email(void **state)
{
    u_char      mac[3][NGX_SVC_LIMIT_MAC_LEN];
    ngx_uint_t  i;

    static ngx_str_t  emails[] = {
        ngx_string("ada@acme.example"),
        ngx_string("ADA@Acme.Example"),
        ngx_string("ada@acme.exampl")
    };

    /* openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef */

    static const u_char  expected[] = {
        0x49, 0xfb, 0xad, 0xd7, 0x36, 0x64, 0x81, 0x2e,
        0xdd, 0xb6, 0x65, 0x04, 0x70, 0xad, 0x9b, 0x96
    };

    for (i = 0; i < 3; i++) {
        assert_int_equal(ngx_svc_limit_email(&emails[i], mac[i]), NGX_OK);
    }

    assert_memory_equal(mac[0], expected, sizeof(expected));
    assert_memory_equal(mac[1], expected, sizeof(expected));
    assert_memory_not_equal(mac[2], expected, sizeof(expected));
}


static void
test_memory_email(void **state)
{
    ngx_uint_t       i;
    ngx_svc_limit_t  limit;

    for (i = 0; i < 10; i++) {
        ngx_env_time(1000000 + i);
        assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_ADMITTED);
    }

    assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.2", "ADA@x"),
                     NGX_OK);
    assert_int_equal(limit.verdict, NGX_SVC_LIMIT_LIMITED);
    assert_int_equal(limit.store, NGX_SVC_LIMIT_MEMORY);
    assert_int_equal(limit.kind, NGX_SVC_LIMIT_EMAIL);
    assert_int_equal(limit.max, 10);
    assert_int_equal(limit.window, 300);
    assert_int_equal(limit.left, 300000 - 9);
    assert_true(limit.first_over);

    assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.2", "ADA@x"),
                     NGX_OK);
    assert_false(limit.first_over);

    assert_int_equal(login("192.0.2.1", "bob@x"), NGX_SVC_LIMIT_ADMITTED);
    assert_int_equal(check(&limit, NGX_SVC_LIMIT_SIGNUP, "192.0.2.1", "ada@x"),
                     NGX_OK);
    assert_int_equal(limit.verdict, NGX_SVC_LIMIT_ADMITTED);

    assert_int_equal(answers, 0);
    assert_int_equal(metrics[NGX_SVC_M_RATE_MEMORY], 14);
    assert_int_equal(metrics[NGX_SVC_M_RATE_REDIS], 0);
    assert_int_equal(metrics[NGX_SVC_M_RATE_LOGIN_EMAIL], 2);
    assert_int_equal(metrics[NGX_SVC_M_RATE_LOGIN_IP], 0);
}


/* When a network is over its limit the address is not counted. */

static void
test_memory_ip(void **state)
{
    ngx_uint_t       i;
    ngx_svc_limit_t  limit;

    static const char  *const hosts[] = {
        "2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::"
    };

    for (i = 0; i < 50; i++) {
        assert_int_equal(login(hosts[i % 3], NULL), NGX_SVC_LIMIT_ADMITTED);
    }

    for (i = 0; i < 20; i++) {
        assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, hosts[i % 3],
                               "ada@x"), NGX_OK);
        assert_int_equal(limit.verdict, NGX_SVC_LIMIT_LIMITED);
        assert_int_equal(limit.kind, NGX_SVC_LIMIT_IP);
        assert_int_equal(limit.max, 50);
        assert_int_equal(limit.first_over, i == 0);
    }

    for (i = 0; i < 10; i++) {
        assert_int_equal(login("2001:db8:0:1::1", "ada@x"),
                         NGX_SVC_LIMIT_ADMITTED);
    }

    assert_int_equal(login("2001:db8:0:1::1", "ada@x"), NGX_SVC_LIMIT_LIMITED);
    assert_int_equal(metrics[NGX_SVC_M_RATE_LOGIN_IP], 20);
}


static void
test_off(void **state)
{
    ngx_uint_t       i;
    ngx_svc_limit_t  limit;

    set(NGX_SVC_SET_RATE_LIMIT_LOGIN_IP_MAX, 0);

    for (i = 0; i < 100; i++) {
        assert_int_equal(login("192.0.2.1", NULL), NGX_SVC_LIMIT_ADMITTED);
    }

    for (i = 0; i < 11; i++) {
        assert_int_equal(login("192.0.2.1", "ada@x"),
                         i < 10 ? NGX_SVC_LIMIT_ADMITTED
                                : NGX_SVC_LIMIT_LIMITED);
    }

    set(NGX_SVC_SET_RATE_LIMIT_LOGIN_EMAIL_MAX, 0);
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_ADMITTED);

    set(NGX_SVC_SET_RATE_LIMIT_LOGIN_EMAIL_MAX, 10);
    set(NGX_SVC_SET_RATE_LIMIT_LOGIN_WINDOW, 0);
    up = 1;
    assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_OK);
    assert_int_equal(limit.store, NGX_SVC_LIMIT_NOWHERE);
    ngx_svc_limit_give_back(&limit);
    assert_int_equal(calls, 0);

    /* a client without an IP address */

    set(NGX_SVC_SET_RATE_LIMIT_LOGIN_IP_MAX, 1);
    set(NGX_SVC_SET_RATE_LIMIT_LOGIN_WINDOW, 300);
    assert_int_equal(login(NULL, NULL), NGX_SVC_LIMIT_ADMITTED);
    assert_int_equal(login(NULL, NULL), NGX_SVC_LIMIT_ADMITTED);
}


static void
test_memory_lock(void **state)
{
    u_char           mac[NGX_SVC_LIMIT_MAC_LEN];
    ngx_uint_t       i;
    ngx_svc_limit_t  limit;

    static ngx_str_t  ada = ngx_string("ada@x");

    assert_int_equal(ngx_svc_limit_email(&ada, mac), NGX_OK);

    limit.mac = mac;
    assert_int_equal(ngx_svc_limit_lock(&limit, pool, 900000), NGX_OK);

    for (i = 0; i < 10; i++) {
        assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_ADMITTED);
    }

    ngx_env_time(1000500);
    assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_OK);
    assert_int_equal(limit.verdict, NGX_SVC_LIMIT_LOCKED);
    assert_int_equal(limit.left, 899500);
    assert_true(limit.first_over);

    limit.mac = mac;
    assert_int_equal(ngx_svc_limit_clear(&limit, pool, 2), NGX_OK);
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_ADMITTED);
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_ADMITTED);
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_LIMITED);
}


static void
test_memory_give_back(void **state)
{
    ngx_uint_t       i;
    ngx_svc_limit_t  limit;

    for (i = 0; i < 100; i++) {
        assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1",
                               "ada@x"), NGX_OK);
        assert_int_equal(limit.verdict, NGX_SVC_LIMIT_ADMITTED);

        up = i % 2;                 /* given back here all the same */
        ngx_svc_limit_give_back(&limit);
        up = 0;
    }

    for (i = 0; i < 10; i++) {
        assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1",
                               "ada@x"), NGX_OK);
    }

    ngx_svc_limit_give_back(&limit);
    ngx_svc_limit_give_back(&limit);            /* once only */
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_ADMITTED);

    assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_OK);
    assert_int_equal(limit.verdict, NGX_SVC_LIMIT_LIMITED);
    ngx_svc_limit_give_back(&limit);            /* none, when limited */
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_LIMITED);
    assert_int_equal(calls, 0);
}


/* The limit does not depend on the settings of sign-in. */

static void
test_tenant(void **state)
{
    u_char      tenant[NGX_SVC_UUID_LEN];
    ngx_uint_t  i;

    static ngx_svc_limit_t  limit;      /* the pool's cleanup uses it */

    set(NGX_SVC_SET_RATE_LIMIT_LOGIN_WINDOW, 0);

    ngx_memzero(&limit, sizeof(ngx_svc_limit_t));
    memset(tenant, 0xab, sizeof(tenant));

    limit.family = NGX_SVC_LIMIT_DOMAIN;
    limit.tenant = tenant;
    limit.handler = answered;
    limit.data = &answers;

    for (i = 0; i < 15; i++) {
        assert_int_equal(ngx_svc_limit_check(&limit, pool), NGX_OK);
        assert_int_equal(limit.verdict, i < 10 ? NGX_SVC_LIMIT_ADMITTED
                                               : NGX_SVC_LIMIT_LIMITED);
    }

    assert_int_equal(limit.kind, NGX_SVC_LIMIT_TENANT);
    assert_int_equal(limit.max, 10);
    assert_in_range(limit.left, 1, 60000);
    assert_int_equal(metrics[NGX_SVC_M_RATE_DOMAIN_TENANT], 5);

    tenant[15] = 0;
    assert_int_equal(ngx_svc_limit_check(&limit, pool), NGX_OK);
    assert_int_equal(limit.verdict, NGX_SVC_LIMIT_ADMITTED);

    up = 1;

    assert_int_equal(ngx_svc_limit_check(&limit, pool), NGX_AGAIN);
    assert_string_equal(call_text, "limit check:"
                        " svc.rate.d.t.ababababababababababababababab00"
                        " | 60000 10");
    reply(1, 11, 5000, 0, 0);
    assert_int_equal(limit.kind, NGX_SVC_LIMIT_TENANT);
    assert_int_equal(limit.left, 5000);
}


static void
test_memory_give_back_old(void **state)
{
    ngx_uint_t       i;
    ngx_svc_limit_t  limit;

    for (i = 0; i < 10; i++) {
        assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1",
                               "ada@x"), NGX_OK);
    }

    ngx_env_time(1000000 + 299000);
    give_back_old("192.0.2.1", "ada@x", 299000);
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_ADMITTED);
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_LIMITED);
    give_back_old("192.0.2.1", "ada@x", 299001);        /* before the window */
    give_back_old("192.0.2.1", "ada@x", 300000);
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_LIMITED);

    for (i = 0; i < 20; i++) {                          /* not below 0 */
        give_back_old("192.0.2.1", "ada@x", 1);
    }

    for (i = 0; i < 10; i++) {
        assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_ADMITTED);
    }

    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_LIMITED);
    assert_int_equal(calls, 0);

    set(NGX_SVC_SET_RATE_LIMIT_LOGIN_IP_MAX, 0);
    up = 1;
    give_back_old("192.0.2.1", NULL, 1);                /* nothing is counted */
    assert_int_equal(calls, 0);
    set(NGX_SVC_SET_RATE_LIMIT_LOGIN_IP_MAX, 50);
    give_back_old("192.0.2.1", NULL, 1500);
    assert_string_equal(call_text, "limit give back: svc.rate.l.i.192.0.2.1"
                        " | 298500");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test_setup_teardown(test_email, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_email, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_ip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_off, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tenant, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_give_back, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_memory_give_back_old, setup,
                                        teardown)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
