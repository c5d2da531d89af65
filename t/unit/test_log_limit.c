/*
 * Rate limits of the error log.
 */

#include "ngx_unit.h"
#include "ngx_svc_log_limit.h"


#define INTERVAL  60000


/* Returns how many of n lines at once are written. */

static ngx_uint_t
written(ngx_svc_log_limit_t *limit, ngx_uint_t burst, ngx_uint_t n)
{
    ngx_uint_t  i, lines;

    for (i = 0, lines = 0; i < n; i++) {
        lines += ngx_svc_log_limit(limit, burst, INTERVAL);
    }

    return lines;
}


static void
test_burst(void **state)
{
    ngx_uint_t           burst;
    ngx_svc_log_limit_t  limit;

    for (burst = 1; burst <= 10; burst++) {
        ngx_memzero(&limit, sizeof(limit));
        assert_int_equal(written(&limit, burst, 100), burst);
    }
}


static void
test_interval(void **state)
{
    ngx_uint_t           i;
    ngx_svc_log_limit_t  limit;

    /* counted from the first line on, and not from the last suppressed one */

    static const struct {
        ngx_msec_t  at;
        ngx_uint_t  lines;
    } steps[] = {
        { 5, 2 }, { INTERVAL, 0 }, { INTERVAL + 4, 0 }, { INTERVAL + 5, 2 },
        { 2 * INTERVAL + 4, 0 }, { 9 * INTERVAL, 2 }, { 10 * INTERVAL - 1, 0 },
        { 10 * INTERVAL, 2 }
    };

    ngx_memzero(&limit, sizeof(limit));

    for (i = 0; i < ngx_unit_len(steps); i++) {
        ngx_env_time(steps[i].at);
        assert_int_equal(written(&limit, 2, 5), steps[i].lines);
    }
}


/* The first line is written at any time, even when the clock overflows. */

static void
test_first(void **state)
{
    ngx_uint_t           i;
    ngx_svc_log_limit_t  limit;

    static const ngx_msec_t  starts[] = { 0, 1, (ngx_msec_t) -1000 };

    for (i = 0; i < ngx_unit_len(starts); i++) {
        ngx_memzero(&limit, sizeof(limit));

        ngx_env_time(starts[i]);
        assert_int_equal(written(&limit, 1, 5), 1);

        ngx_env_time(starts[i] + INTERVAL - 1);
        assert_int_equal(written(&limit, 1, 5), 0);

        ngx_env_time(starts[i] + INTERVAL);
        assert_int_equal(written(&limit, 1, 5), 1);
    }
}


static void
test_level(void **state)
{
    ngx_uint_t           i;
    ngx_svc_log_limit_t  limit;

    static const ngx_uint_t  levels[] = {
        NGX_LOG_ERR, NGX_LOG_ERR, NGX_LOG_INFO, NGX_LOG_INFO
    };

    ngx_memzero(&limit, sizeof(limit));

    for (i = 0; i < ngx_unit_len(levels); i++) {
        assert_int_equal(ngx_svc_log_limit_level(&limit, 2, INTERVAL,
                                                 NGX_LOG_ERR),
                         levels[i]);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_level)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
