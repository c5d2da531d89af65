/*
 * Errors: their table, and details that are cut.
 */

#include "ngx_unit.h"


static void
test_rows(void **state)
{
    ngx_uint_t                  i;
    const ngx_svc_error_row_t  *row;

    for (i = NGX_SVC_E_NONE + 1; i < NGX_SVC_E_LAST; i++) {
        row = ngx_svc_error_row(i);

        assert_in_range(row->status, 400, 599);
        assert_int_not_equal(row->code.len, 0);
        assert_int_not_equal(row->detail.len, 0);
        assert_int_equal(ngx_svc_error_row(ngx_svc_error_kind(row->status))
                         ->status, row->status);
    }

    assert_int_equal(ngx_svc_error_kind(299), NGX_SVC_E_NONE);
    assert_int_equal(ngx_svc_error_kind(404), NGX_SVC_E_NOT_FOUND);
    assert_int_equal(ngx_svc_error_row(NGX_SVC_E_UNIQUENESS)->status, 409);
    assert_string_equal(
        (char *) ngx_svc_error_row(NGX_SVC_E_UNIQUENESS)->scim_type.data,
        "uniqueness");
}


static void
test_first_stays(void **state)
{
    ngx_svc_error_t  err;

    ngx_memzero(&err, sizeof(err));

    assert_int_equal(ngx_svc_fail(&err, NGX_SVC_E_INVALID_VALUE, "%s %d",
                                  "one", 1), NGX_DECLINED);
    assert_int_equal(ngx_svc_fail(&err, NGX_SVC_E_INTERNAL, "two"),
                     NGX_DECLINED);

    ngx_unit_error(&err, NGX_SVC_E_INVALID_VALUE, "one 1", "first");
}


/* Characters of one to four bytes, at each position around the limit. */

static void
test_cut(void **state)
{
    char              text[NGX_SVC_ERROR_DETAIL + 8];
    size_t            pad, n, len, max;
    ngx_svc_error_t   err;

    static const char  *chars[] = {
        "x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"
    };

    max = NGX_SVC_ERROR_DETAIL;

    for (n = 0; n < ngx_unit_len(chars); n++) {
        len = strlen(chars[n]);

        for (pad = max - 6; pad <= max; pad++) {

            memset(text, 'a', pad);
            memcpy(text + pad, chars[n], len + 1);

            ngx_memzero(&err, sizeof(err));
            ngx_svc_fail(&err, NGX_SVC_E_INVALID_VALUE, "%s", text);

            if (pad + len < max) {
                assert_int_equal(err.len, pad + len);

            } else if (pad + len > max) {
                assert_int_equal(err.len, pad);

            } else {
                assert_true(err.len == pad || err.len == max);
            }

            assert_memory_equal(err.detail, text, err.len);
        }
    }
}


/* A client's name may have quotes: the format says where it ends. */

static void
test_member(void **state)
{
    char             name[NGX_SVC_ERROR_DETAIL + 8];
    ngx_uint_t       i;
    ngx_svc_error_t  err;

    static const struct {
        const char  *fmt;
        const char  *member;
    } cases[] = {
        { "\"%s\" is not a known member.", "a\"b" },
        { "\"%s[%ui].x\" must differ from \"%s\".", "a\"b[7].x" },
        { "\"name\" is required, \"%s\" too.", "name" },
        { "%s", "" },
        { "There is no \"%s\".", "" },
        { "\"%s", "" },
        { "\"\" is %s.", "" }
    };

    for (i = 0; i < ngx_unit_len(cases); i++) {
        ngx_memzero(&err, sizeof(err));
        ngx_svc_fail(&err, NGX_SVC_E_INVALID_VALUE, cases[i].fmt, "a\"b",
                     (ngx_uint_t) 7, "c");

        assert_int_equal(err.member, strlen(cases[i].member));
        assert_memory_equal(err.detail + 1, cases[i].member, err.member);
    }

    /* one that is cut is none */

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';

    ngx_memzero(&err, sizeof(err));
    ngx_svc_fail(&err, NGX_SVC_E_INVALID_VALUE, "\"%s\" is wrong.", name);
    assert_int_equal(err.member, 0);
    assert_int_equal(err.len, NGX_SVC_ERROR_DETAIL);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_first_stays),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_member),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
