/*
 * Limits of sign-in, with the answers that Redis may give.
 */

#include "ngx_unit_limit_redis.h"


/* static, because the pool's cleanup still uses it after a test */
static ngx_svc_limit_t  limit;


static void
test_redis_call(void **state)
{
    u_char  mac[NGX_SVC_LIMIT_MAC_LEN];

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
    limit.mac = mac;
    assert_int_equal(ngx_svc_limit_lock(&limit, pool, 900000), NGX_AGAIN);
    assert_string_equal(call_text, "limit lock:"
                        " svc.lock.abababababababababababababababab | 900000");
    assert_int_equal(answers, 1);
    call_handler(NULL, call_data);
    assert_int_equal(answers, 2);
    assert_int_equal(ngx_svc_limit_clear(&limit, pool, 7), NGX_AGAIN);
    assert_string_equal(call_text, "limit clear:"
                        " svc.lock.abababababababababababababababab"
                        " svc.rate.l.e.abababababababababababababababab"
                        " | 10 7");
    assert_int_equal(answers, 2);
    call_handler(NULL, call_data);
    assert_int_equal(answers, 3);

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
    ngx_uint_t  i;

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


/* When Redis cannot be asked, or its answer is invalid, the memory decides. */

static void
test_redis_away(void **state)
{
    ngx_uint_t  i;
    redisReply  odd;

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


/* A request is cancelled before its answer comes, and the process ends, too. */

static void
test_cancel(void **state)
{
    ngx_svc_limit_t  *gone;

    up = 1;

    gone = ngx_palloc(pool, sizeof(ngx_svc_limit_t));
    assert_int_equal(check(gone, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_AGAIN);
    ngx_svc_limit_cancel(gone);
    ngx_svc_limit_cancel(gone);
    reply(0, 0, 1, 1, 0);

    assert_int_equal(check(gone, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_AGAIN);
    ngx_terminate = 1;
    call_handler(NULL, call_data);
    ngx_terminate = 0;

    assert_int_equal(check(gone, NGX_SVC_LIMIT_LOGIN, "192.0.2.1", "ada@x"),
                     NGX_AGAIN);
    ngx_destroy_pool(pool);
    pool = NULL;
    reply(0, 0, 1, 1, 0);

    assert_int_equal(answers, 0);
}


static void
test_no_memory(void **state)
{
    ngx_int_t  n;

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
        cmocka_unit_test_setup_teardown(test_redis_call, setup, teardown),
        cmocka_unit_test_setup_teardown(test_redis_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_redis_away, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
