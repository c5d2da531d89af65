/*
 * ngx_svc_pg_results.c: each result is found by its statement.
 */

#include "ngx_unit.h"
#include "ngx_svc_pg.h"


static const ngx_svc_pg_statement_t  test_first = { .name = "first" };
static const ngx_svc_pg_statement_t  test_twice = { .name = "twice" };
static const ngx_svc_pg_statement_t  test_failed = { .name = "failed" };
static const ngx_svc_pg_statement_t  test_other = { .name = "other" };

static const ngx_svc_pg_statement_t  *test_statements[] = {
    &test_first, &test_twice, &test_twice, &test_failed
};


/* The last statement has no result, because one before it has failed. */

#define test_result(n)  ((PGresult *) &test_statements[n])

static PGresult  *test_results[NGX_SVC_PG_CALLS];

static const ngx_svc_pg_results_t  test_all = {
    test_statements, test_results, 4
};


static int
setup(void **state)
{
    ngx_uint_t  i;

    for (i = 0; i < 3; i++) {
        test_results[i] = test_result(i);
    }

    return 0;
}


static void
test_one(void **state)
{
    ngx_svc_pg_results_t  rest;

    assert_ptr_equal(ngx_svc_pg_result(&test_all, &test_first),
                     test_result(0));
    assert_ptr_equal(ngx_svc_pg_result(&test_all, &test_twice),
                     test_result(1));
    assert_null(ngx_svc_pg_result(&test_all, &test_failed));
    assert_null(ngx_svc_pg_result(&test_all, &test_other));
    assert_null(ngx_svc_pg_result(&test_all, NULL));
    assert_null(ngx_svc_pg_result(NULL, &test_first));

    /* statements before the first or after the last are not found */

    rest = test_all;
    rest.statements++;
    rest.results++;
    rest.n = 1;

    assert_null(ngx_svc_pg_result(&rest, &test_first));
    assert_ptr_equal(ngx_svc_pg_result(&rest, &test_twice), test_result(1));

    rest.n = 0;

    assert_null(ngx_svc_pg_result(&rest, &test_twice));
}


static void
test_of(void **state)
{
    static const ngx_svc_pg_statement_t *const  both[] = {
        &test_other, &test_twice, &test_first, NULL
    };

    static const ngx_svc_pg_statement_t *const  none[] = {
        &test_other, &test_failed, NULL
    };

    assert_ptr_equal(ngx_svc_pg_result_of(&test_all, both), test_result(1));
    assert_null(ngx_svc_pg_result_of(&test_all, none));
    assert_null(ngx_svc_pg_result_of(&test_all, &none[2]));
    assert_null(ngx_svc_pg_result_of(NULL, both));
}


static void
test_begin(void **state)
{
    ngx_svc_pg_results_t  empty = { NULL, NULL, 0 };

    assert_ptr_equal(ngx_svc_pg_result_first(&test_all), test_result(0));
    assert_null(ngx_svc_pg_result_first(&empty));
    assert_null(ngx_svc_pg_result_first(NULL));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_of),
        cmocka_unit_test(test_begin)
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
