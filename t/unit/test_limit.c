/*
 * Limits of sign-in, with Redis away, and with what it may answer: the
 * functions of Redis' link are those of this file, which keep the call and its
 * arguments.
 */

#include "ngx_unit_limit.h"
#include "ngx_svc_limit.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_redis_script.h"


#define SIZE  65536


sig_atomic_t  ngx_terminate;
sig_atomic_t  ngx_quit;

static ngx_shm_zone_t           zone;
static ngx_pool_t              *pool;
static ngx_svc_settings_t       settings;
static ngx_uint_t               metrics[NGX_SVC_M_COUNTERS];
static ngx_uint_t               answers;        /* calls of handlers */

static ngx_uint_t               up;
static ngx_int_t                taken;          /* what a call returns */
static ngx_uint_t               calls;
static ngx_svc_redis_reply_pt   call_handler;
static void                    *call_data;
static char                     call_text[1024];


ngx_uint_t
ngx_svc_redis_ready(void)
{
    return up;
}


ngx_svc_redis_state_e
ngx_svc_redis_state(void)
{
    return NGX_SVC_REDIS_OFF;
}


void
ngx_svc_metric_add(ngx_svc_metric_e metric, ngx_uint_t n)
{
    metrics[metric] += n;
}


ngx_int_t
ngx_svc_redis_call(ngx_svc_redis_script_t *script, const ngx_str_t *args,
    ngx_uint_t nargs, ngx_uint_t nkeys, ngx_svc_redis_reply_pt handler,
    void *data)
{
    u_char      *p, *last;
    ngx_uint_t   i;

    if (!up || taken != NGX_OK) {
        return up ? taken : NGX_DECLINED;
    }

    p = (u_char *) call_text;
    last = p + sizeof(call_text) - 1;
    p = ngx_slprintf(p, last, "%s:", script->name);

    for (i = 0; i < nargs; i++) {
        p = ngx_slprintf(p, last, "%s%V", i == nkeys ? " | " : " ", &args[i]);
    }

    *p = '\0';
    calls++;
    call_handler = handler;
    call_data = data;

    return NGX_OK;
}


static void
answered(ngx_svc_limit_t *limit)
{
    assert_ptr_equal(limit->data, &answers);
    answers++;
}


/* Redis' answer to the last check. */

static void
reply(long long which, long long hits, long long left1, long long left2,
    long long lock)
{
    long long    n[] = { which, hits, left1, left2, lock };
    redisReply   array, items[5], *elements[5];
    ngx_uint_t   i;

    ngx_memzero(&array, sizeof(array));
    ngx_memzero(items, sizeof(items));

    for (i = 0; i < 5; i++) {
        items[i].type = REDIS_REPLY_INTEGER;
        items[i].integer = n[i];
        elements[i] = &items[i];
    }

    array.type = REDIS_REPLY_ARRAY;
    array.elements = 5;
    array.element = elements;

    call_handler(&array, call_data);
}


static int
setup(void **state)
{
    ngx_uint_t  i;

    ngx_env_time(1000000);

    zone.shm.addr = (u_char *) ngx_unit_limit_memory(SIZE);
    ngx_svc_limit_init_worker(&zone,
                              (u_char *) "0123456789abcdef0123456789abcdef");

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        settings.values[i] = ngx_svc_setting_rows[i].value;
    }

    ngx_svc_settings_init_worker(&settings);

    ngx_memzero(metrics, sizeof(metrics));
    answers = 0;
    calls = 0;
    up = 0;
    taken = NGX_OK;
    ngx_terminate = 0;

    pool = ngx_create_pool(4096, ngx_env_log());
    *state = pool;

    return pool == NULL;
}


static int
teardown(void **state)
{
    ngx_svc_limit_exit_worker();

    if (pool) {
        ngx_destroy_pool(pool);
    }

    free(zone.shm.addr);

    return 0;
}


static void
set(ngx_svc_setting_e setting, ngx_uint_t value)
{
    settings.values[setting] = value;
    ngx_svc_settings_init_worker(&settings);
}


/* Of a client and an e-mail address, or NULL; returns what check does. */

static ngx_int_t
check(ngx_svc_limit_t *limit, ngx_svc_limit_family_e family, const char *ip,
    const char *email)
{
    u_char                   mac[NGX_SVC_LIMIT_MAC_LEN];
    ngx_int_t                rc;
    ngx_str_t                text;
    ngx_svc_addr_t           addr;
    struct sockaddr_storage  ss;

    ngx_memzero(limit, sizeof(ngx_svc_limit_t));
    ngx_memzero(&ss, sizeof(ss));

    ss.ss_family = AF_UNIX;

    if (ip) {
        assert_int_equal(ngx_svc_addr_parse((u_char *) ip, strlen(ip), &addr),
                         NGX_OK);
        ss.ss_family = addr.family;
        ngx_memcpy(addr.family == AF_INET
                   ? (void *) &((struct sockaddr_in *) &ss)->sin_addr
                   : (void *) &((struct sockaddr_in6 *) &ss)->sin6_addr,
                   addr.bytes, addr.family == AF_INET ? 4 : 16);
    }

    if (email) {
        text.data = (u_char *) email;
        text.len = strlen(email);
        assert_int_equal(ngx_svc_limit_email(&text, mac), NGX_OK);
        limit->mac = mac;
    }

    limit->family = family;
    limit->sockaddr = (struct sockaddr *) &ss;
    limit->handler = answered;
    limit->data = &answers;

    rc = ngx_svc_limit_check(limit, pool);

    /* neither is read later */

    memset(mac, 0x55, sizeof(mac));
    memset(&ss, 0x55, sizeof(ss));

    return rc;
}


static ngx_svc_limit_verdict_e
login(const char *ip, const char *email)
{
    ngx_svc_limit_t  limit;

    assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, ip, email), NGX_OK);

    return limit.verdict;
}


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


/* Of a network that is over its limit nothing is counted of the address. */

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

    ngx_svc_limit_lock(mac, 900000);

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
    assert_int_equal(ngx_svc_limit_clear(&limit, pool), NGX_OK);
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_ADMITTED);
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

        up = i % 2;                 /* what was counted here is so */
        ngx_svc_limit_give_back(&limit);
        up = 0;
    }

    for (i = 0; i < 10; i++) {
        assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1",
                               "ada@x"), NGX_OK);
    }

    ngx_svc_limit_give_back(&limit);
    ngx_svc_limit_give_back(&limit);            /* no more than its own */
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_ADMITTED);

    assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_OK);
    assert_int_equal(limit.verdict, NGX_SVC_LIMIT_LIMITED);
    ngx_svc_limit_give_back(&limit);            /* of who was not admitted */
    assert_int_equal(login("192.0.2.1", "ada@x"), NGX_SVC_LIMIT_LIMITED);
    assert_int_equal(calls, 0);
}


static void
test_redis_call(void **state)
{
    u_char           mac[NGX_SVC_LIMIT_MAC_LEN];
    ngx_svc_limit_t  limit;

    up = 1;

    assert_int_equal(check(&limit, NGX_SVC_LIMIT_SIGNUP, "::ffff:192.0.2.1",
                           NULL), NGX_AGAIN);
    assert_string_equal(call_text, "limit check: svc.rate.s.i.192.0.2.1"
                        " | 3600000 20");
    assert_int_equal(answers, 0);
    reply(0, 0, 3600000, 0, 0);
    assert_int_equal(answers, 1);

    ngx_svc_limit_give_back(&limit);
    assert_string_equal(call_text, "limit give back: svc.rate.s.i.192.0.2.1"
                        " | 3600000");
    call_handler(NULL, call_data);

    memset(mac, 0xab, sizeof(mac));
    ngx_svc_limit_lock(mac, 900000);
    assert_string_equal(call_text, "limit lock:"
                        " svc.lock.abababababababababababababababab | 900000");
    limit.mac = mac;
    assert_int_equal(ngx_svc_limit_clear(&limit, pool), NGX_AGAIN);
    assert_string_equal(call_text, "limit clear:"
                        " svc.lock.abababababababababababababababab"
                        " svc.rate.l.e.abababababababababababababababab");
    assert_int_equal(answers, 1);
    call_handler(NULL, call_data);
    assert_int_equal(answers, 2);

    set(NGX_SVC_SET_RATE_LIMIT_LOGIN_IP_MAX, 0);
    assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_AGAIN);
    assert_non_null(strstr(call_text, "check: svc.rate.l.e."));
    assert_non_null(strstr(call_text, " svc.lock."));
    assert_non_null(strstr(call_text, " | 300000 10"));
    reply(1, 11, 5000, 0, 0);
    assert_int_equal(limit.kind, NGX_SVC_LIMIT_EMAIL);
    assert_int_equal(limit.left, 5000);
}


static void
test_redis_answer(void **state)
{
    ngx_uint_t       i;
    ngx_svc_limit_t  limit;

    static const struct {
        long long                which, hits, left1, left2, lock;
        ngx_svc_limit_verdict_e  verdict;
        ngx_svc_limit_kind_e     kind;
        ngx_msec_t               left;
        unsigned                 first;
    } rows[] = {
        { 0, 0, 300000, 300000, 0, NGX_SVC_LIMIT_ADMITTED, 0, 0, 0 },
        { 1, 51, 7000, 0, 0, NGX_SVC_LIMIT_LIMITED, NGX_SVC_LIMIT_IP, 7000, 1 },
        { 1, 52, 0, 0, 0, NGX_SVC_LIMIT_LIMITED, NGX_SVC_LIMIT_IP, 1, 0 },
        { 2, 11, 7000, 9000, 0, NGX_SVC_LIMIT_LIMITED, NGX_SVC_LIMIT_EMAIL,
          9000, 1 },
        { 2, 12, 7000, 9000, 800000, NGX_SVC_LIMIT_LOCKED, NGX_SVC_LIMIT_EMAIL,
          800000, 0 }
    };

    up = 1;

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1",
                               "ada@x"), NGX_AGAIN);
        reply(rows[i].which, rows[i].hits, rows[i].left1, rows[i].left2,
              rows[i].lock);

        assert_int_equal(answers, i + 1);
        assert_int_equal(limit.store, NGX_SVC_LIMIT_REDIS);
        assert_int_equal(limit.verdict, rows[i].verdict);
        assert_int_equal(limit.left, rows[i].left);
        assert_int_equal(limit.first_over, rows[i].first);

        if (limit.verdict != NGX_SVC_LIMIT_ADMITTED) {
            assert_int_equal(limit.kind, rows[i].kind);
        }
    }

    assert_int_equal(metrics[NGX_SVC_M_RATE_REDIS], i);
    assert_int_equal(metrics[NGX_SVC_M_RATE_MEMORY], 0);
    assert_int_equal(metrics[NGX_SVC_M_RATE_LOGIN_IP], 2);
    assert_int_equal(metrics[NGX_SVC_M_RATE_LOGIN_EMAIL], 2);
}


/* What is no answer, and what cannot be asked, is answered by the memory. */

static void
test_redis_away(void **state)
{
    ngx_uint_t       i;
    redisReply       odd;
    ngx_svc_limit_t  limit;

    static const ngx_int_t  refusals[] = { NGX_DECLINED, NGX_BUSY, NGX_ERROR };

    up = 1;

    for (i = 0; i < 3; i++) {
        taken = refusals[i];
        assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1",
                               "ada@x"), NGX_OK);
        assert_int_equal(limit.store, NGX_SVC_LIMIT_MEMORY);
        assert_int_equal(limit.verdict, NGX_SVC_LIMIT_ADMITTED);
    }

    taken = NGX_OK;
    ngx_memzero(&odd, sizeof(odd));

    for (i = 3; i < 11; i++) {
        assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1",
                               "ada@x"), NGX_AGAIN);

        switch (i % 3) {

        case 0:
            call_handler(NULL, call_data);
            break;

        case 1:
            odd.type = REDIS_REPLY_NIL;
            call_handler(&odd, call_data);
            break;

        default:
            reply(3, 11, 1, 1, 0);
        }

        assert_int_equal(limit.store, NGX_SVC_LIMIT_MEMORY);
        assert_int_equal(limit.verdict, i < 10 ? NGX_SVC_LIMIT_ADMITTED
                                               : NGX_SVC_LIMIT_LIMITED);
    }

    assert_int_equal(answers, 8);
    assert_int_equal(metrics[NGX_SVC_M_RATE_MEMORY], 11);
}


/* A request goes away before its answer; and so does the process. */

static void
test_cancel(void **state)
{
    ngx_svc_limit_t  *limit;

    up = 1;

    limit = ngx_palloc(pool, sizeof(ngx_svc_limit_t));
    assert_int_equal(check(limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_AGAIN);
    ngx_svc_limit_cancel(limit);
    ngx_svc_limit_cancel(limit);
    reply(0, 0, 1, 1, 0);

    assert_int_equal(check(limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_AGAIN);
    ngx_terminate = 1;
    call_handler(NULL, call_data);
    ngx_terminate = 0;

    assert_int_equal(check(limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_AGAIN);
    ngx_destroy_pool(pool);
    pool = NULL;
    reply(0, 0, 1, 1, 0);

    assert_int_equal(answers, 0);
}


static void
test_no_memory(void **state)
{
    ngx_int_t        n;
    ngx_svc_limit_t  limit;

    up = 1;

    for (n = 0; n < 2; n++) {
        ngx_env_alloc_limit(n);
        assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, "192.0.2.1",
                               "ada@x"), NGX_ERROR);
        assert_null(limit.call);
    }

    ngx_env_alloc_limit(-1);
    assert_int_equal(calls, 0);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test_setup_teardown(test_email, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_email, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_ip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_off, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_give_back, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_redis_call, setup, teardown),
        cmocka_unit_test_setup_teardown(test_redis_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_redis_away, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
