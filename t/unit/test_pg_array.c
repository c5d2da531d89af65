/*
 * Arrays of texts, as PostgreSQL writes and reads them.
 */

#include "ngx_unit.h"
#include "ngx_svc_pg_array.h"




static void
test_read(void **state)
{
    ngx_pool_t          *p;
    ngx_uint_t           i, j;
    ngx_svc_pg_array_t   array;

    static const struct {
        ngx_str_t  text;
        int        n;               /* -1: not an array */
        char      *elts[3];
    } cases[] = {
        { ngx_string(""), 0, { NULL } },
        { ngx_string("{}"), 0, { NULL } },
        { ngx_string("{a}"), 1, { "a" } },
        { ngx_string("{a,b:c,d}"), 3, { "a", "b:c", "d" } },
        { ngx_string("{\"a,b\",\"\",c}"), 3, { "a,b", "", "c" } },
        { ngx_string("{\"{}\",\"a\\\"b\",\"\\\\\"}"), 3,
          { "{}", "a\"b", "\\" } },
        { ngx_string("a"), -1, { NULL } },
        { ngx_string("{a"), -1, { NULL } },
        { ngx_string("a,b}"), -1, { NULL } },
        { ngx_string("{\"a}"), -1, { NULL } },
        { ngx_string("{\"a\\\"}"), -1, { NULL } },
        { ngx_string("{\"a\"b}"), -1, { NULL } }
    };

    p = *state;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {

        if (cases[i].n < 0) {
            assert_int_equal(ngx_svc_pg_array_read(p, &cases[i].text, &array),
                             NGX_DECLINED);
            continue;
        }

        assert_int_equal(ngx_svc_pg_array_read(p, &cases[i].text, &array),
                         NGX_OK);
        assert_int_equal(array.n, cases[i].n);

        for (j = 0; j < array.n; j++) {
            assert_int_equal(array.elts[j].len, ngx_strlen(cases[i].elts[j]));
            assert_memory_equal(array.elts[j].data, cases[i].elts[j],
                                array.elts[j].len);
            assert_true(ngx_svc_pg_array_has(&array, &array.elts[j]));
        }
    }
}


static void
test_add(void **state)
{
    u_char               *last, text[256];
    ngx_str_t             all;
    ngx_uint_t            i;
    ngx_pool_t           *p;
    ngx_svc_pg_array_t    array;

    static const ngx_str_t  null = ngx_null_string;
    static const ngx_str_t  values[] = {
        ngx_string("a"), ngx_string("a,b"), ngx_string("\"\\"), ngx_string("")
    };

    p = *state;
    last = text;
    *last++ = '{';

    for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        last = ngx_svc_pg_array_add(last, &values[i]);
    }

    *last++ = '}';

    all.data = text;
    all.len = last - text;

    assert_int_equal(ngx_svc_pg_array_read(p, &all, &array), NGX_OK);
    assert_int_equal(array.n, sizeof(values) / sizeof(values[0]));

    for (i = 0; i < array.n; i++) {
        assert_int_equal(array.elts[i].len, values[i].len);
        assert_memory_equal(array.elts[i].data, values[i].data,
                            values[i].len);
    }

    text[0] = '{';
    last = ngx_svc_pg_array_add(text + 1, &null);
    last = ngx_svc_pg_array_add(last, &null);

    assert_int_equal(last - text, sizeof("{NULL,NULL") - 1);
    assert_memory_equal(text, "{NULL,NULL", last - text);
}


static void
test_join(void **state)
{
    ngx_str_t           text;
    ngx_pool_t         *p;
    ngx_svc_pg_array_t  array;

    static ngx_str_t  values[] = {
        ngx_string("a"), ngx_string(""), ngx_string("b c")
    };

    p = *state;
    array.elts = values;
    array.n = 3;

    assert_int_equal(ngx_svc_pg_array_join(p, &array, &text), NGX_OK);
    assert_int_equal(text.len, sizeof("a  b c") - 1);
    assert_memory_equal(text.data, "a  b c", text.len);

    array.n = 1;
    assert_int_equal(ngx_svc_pg_array_join(p, &array, &text), NGX_OK);
    assert_int_equal(text.len, 1);
    assert_int_equal(text.data[0], 'a');

    array.n = 0;
    assert_int_equal(ngx_svc_pg_array_join(p, &array, &text), NGX_OK);
    assert_int_equal(text.len, 0);
    assert_non_null(text.data);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_read),
        ngx_unit_test(test_add),
        ngx_unit_test(test_join)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
