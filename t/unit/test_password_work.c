/*
 * The work of a thread on one password.
 */

#include "ngx_unit_phc.h"
#include "ngx_svc_password_work.h"


static void work_of(ngx_svc_password_work_t *work, ngx_str_t *strings,
    ngx_uint_t n);
static ngx_int_t check(void *data);


/* Verifies until the first match; an invalid string does not match. */

static void
test_work(void **state)
{
    ngx_str_t                strings[4];
    ngx_svc_phc_t            phc;
    ngx_svc_password_work_t  work;

    ngx_str_set(&strings[0], "$2b$04$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh"
                             "9KS7.Lah/6CF");
    ngx_str_set(&strings[1], ARGON2ID("m=4194304,t=2,p=1"));
    ngx_str_set(&strings[2], GOOD_ARGON2);
    ngx_str_set(&strings[3], GOOD_BCRYPT);

    work_of(&work, strings, 4);
    ngx_svc_password_work(&work);

    assert_int_equal(work.rc, NGX_OK);
    assert_int_equal(work.checked, NGX_OK);
    assert_int_equal(work.matched, 2);
    assert_int_equal(work.refused, 1);
    assert_int_equal(work.made_len, 0);

    work_of(&work, strings, 2);
    work.make = NGX_SVC_PASSWORD_NEW;
    ngx_svc_password_work(&work);

    assert_int_equal(work.rc, NGX_OK);
    assert_int_equal(work.matched, -1);
    assert_int_equal(ngx_svc_phc_parse(work.made, work.made_len, NULL, &phc),
                     NGX_OK);
    assert_int_equal(ngx_svc_phc_verify(&phc, TEXT(HORSE)), NGX_OK);

    work_of(&work, strings, 4);
    work.make = NGX_SVC_PASSWORD_NEW;
    ngx_svc_password_work(&work);

    assert_int_equal(work.matched, 2);
    assert_int_equal(work.made_len, 0);
    assert_int_equal(ngx_svc_password_hashes(&work), 5);
}


static void
test_renew(void **state)
{
    ngx_str_t                strings[2];
    ngx_svc_phc_t            phc;
    ngx_svc_password_work_t  work;

    ngx_str_set(&strings[0], GOOD_BCRYPT);
    ngx_str_set(&strings[1], GOOD_ARGON2);

    work_of(&work, strings, 1);
    work.make = NGX_SVC_PASSWORD_RENEW;
    ngx_svc_password_work(&work);

    assert_int_equal(ngx_svc_password_hashes(&work), 1);
    assert_int_equal(work.rc, NGX_OK);
    assert_int_equal(work.matched, 0);
    assert_int_equal(ngx_svc_phc_parse(work.made, work.made_len, NULL, &phc),
                     NGX_OK);
    assert_false(ngx_svc_phc_outdated(&phc, &cheap));
    assert_int_equal(ngx_svc_phc_verify(&phc, TEXT(HORSE)), NGX_OK);

    /* its hash is up to date */

    work_of(&work, &strings[1], 1);
    work.make = NGX_SVC_PASSWORD_RENEW;
    ngx_svc_password_work(&work);

    assert_int_equal(work.matched, 0);
    assert_int_equal(work.made_len, 0);

    /* it does not match */

    work_of(&work, strings, 1);
    work.make = NGX_SVC_PASSWORD_RENEW;
    ngx_str_set(&work.password, "wrong");
    ngx_svc_password_work(&work);

    assert_int_equal(work.rc, NGX_OK);
    assert_int_equal(work.matched, -1);
    assert_int_equal(work.made_len, 0);
}


static void
test_dummy(void **state)
{
    ngx_svc_password_work_t  work;

    work_of(&work, NULL, 0);
    work.dummy = 1;
    work.make = NGX_SVC_PASSWORD_RENEW;
    ngx_svc_password_work(&work);

    assert_int_equal(ngx_svc_password_hashes(&work), 1);
    assert_int_equal(work.rc, NGX_OK);
    assert_int_equal(work.matched, -1);
    assert_int_equal(work.refused, -1);
    assert_int_equal(work.made_len, 0);

    work.cost.memory = 0;
    ngx_svc_password_work(&work);
    assert_int_equal(work.rc, NGX_ERROR);
}


/*
 * A password that check() refuses is not hashed: with this cost it would fail.
 */

static void
test_check(void **state)
{
    ngx_int_t                rc;
    ngx_svc_password_work_t  work;

    work_of(&work, NULL, 0);
    work.make = NGX_SVC_PASSWORD_NEW;
    work.check = check;
    work.check_data = &rc;
    work.cost.memory = 0;

    rc = NGX_DECLINED;
    ngx_svc_password_work(&work);

    assert_int_equal(work.rc, NGX_OK);
    assert_int_equal(work.checked, NGX_DECLINED);
    assert_int_equal(work.made_len, 0);

    rc = NGX_OK;
    ngx_svc_password_work(&work);
    assert_int_equal(work.rc, NGX_ERROR);

    work.cost = cheap;
    ngx_svc_password_work(&work);
    assert_int_equal(work.rc, NGX_OK);
    assert_int_equal(work.checked, NGX_OK);
    assert_true(work.made_len > 0);
}


static ngx_int_t
check(void *data)
{
    ngx_int_t *rc = data;

    return *rc;
}


static void
work_of(ngx_svc_password_work_t *work, ngx_str_t *strings, ngx_uint_t n)
{
    ngx_memzero(work, sizeof(ngx_svc_password_work_t));

    work->cost = cheap;
    ngx_str_set(&work->password, HORSE);
    work->strings = strings;
    work->nstrings = n;
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_renew),
        cmocka_unit_test(test_dummy),
        cmocka_unit_test(test_check),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("password_work", tests, NULL, NULL);
}
