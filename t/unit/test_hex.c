/*
 * Hexadecimal digits as bytes.
 */

#include "ngx_unit.h"
#include "ngx_svc_hex.h"


static void
test_digits(void **state)
{
    u_char      text[2], out[1];
    ngx_int_t   high, low;
    ngx_uint_t  i, j;

    /* all pairs, compared with nginx's own reader */

    for (i = 0; i < 256; i++) {
        for (j = 0; j < 256; j++) {
            text[0] = (u_char) i;
            text[1] = (u_char) j;

            high = ngx_hextoi(&text[0], 1);
            low = ngx_hextoi(&text[1], 1);

            if (high == NGX_ERROR || low == NGX_ERROR) {
                assert_int_equal(ngx_svc_hex(text, 1, out), NGX_DECLINED);
                continue;
            }

            assert_int_equal(ngx_svc_hex(text, 1, out), NGX_OK);
            assert_int_equal(out[0], high * 16 + low);
        }
    }
}


static void
test_bytea(void **state)
{
    size_t      len;
    u_char      out[3];
    ngx_uint_t  i;

    static ngx_str_t  good = ngx_string("\\x00a1Ff");
    static ngx_str_t  empty = ngx_string("\\x");

    static ngx_str_t  bad[] = {
        ngx_string(""), ngx_string("\\"), ngx_string("\\x0"),
        ngx_string("0x00"), ngx_string("\\y00"), ngx_string("\\x0g"),
        ngx_string("\\x00000000")
    };

    len = sizeof(out);
    assert_int_equal(ngx_svc_hex_bytea(&good, out, &len), NGX_OK);
    assert_int_equal(len, 3);
    assert_memory_equal(out, "\x00\xa1\xff", 3);

    assert_int_equal(ngx_svc_hex_bytea(&empty, out, &len), NGX_OK);
    assert_int_equal(len, 0);

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        len = sizeof(out);
        assert_int_equal(ngx_svc_hex_bytea(&bad[i], out, &len), NGX_DECLINED);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_bytea)
    };

    ngx_env_init();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
