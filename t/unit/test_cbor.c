/*
 * The check before libcbor.
 */

#include "ngx_unit.h"
#include "ngx_svc_cbor.h"
#include "ngx_svc_hex.h"


#define CBOR_MAX  64


static ngx_int_t
walk(const char *text, size_t *used)
{
    size_t         len;
    u_char         data[CBOR_MAX], *copy;
    ngx_int_t      rc;
    const u_char  *p;

    len = strlen(text) / 2;
    assert_true(len <= CBOR_MAX);
    assert_int_equal(ngx_svc_hex((u_char *) text, len, data), NGX_OK);

    /* so that ASan sees reads beyond the end */

    copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy + 1, data, len);

    p = copy + 1;
    rc = ngx_svc_cbor_skip(&p, copy + 1 + len);
    *used = p - copy - 1;

    free(copy);

    return rc;
}


/* Examples of RFC 8949, appendix A, and values at the limits. */

static void
test_good(void **state)
{
    size_t      used;
    ngx_uint_t  i;

    static const char  *good[] = {
        "00", "17", "1818", "1903e8", "1a000f4240", "1bffffffffffffffff",
        "20", "3bffffffffffffffff", "f4", "f5", "f6", "f7", "f0", "f8ff",
        "f90000", "fa47c35000", "fb3ff199999999999a", "40", "4401020304",
        "60", "6449455446", "80", "83010203", "8301820203820405", "a0",
        "a201020304", "a26161016162820203", "826161a161626163",
        "8181818181818181" "01", "8181818181818180", "5803010203",
        "590003010203", "5a00000003010203", "5b0000000000000003010203",
        "980101", "9b000000000000000101", "b801" "0102",
    };

    for (i = 0; i < ngx_unit_len(good); i++) {
        if (walk(good[i], &used) != NGX_OK) {
            fail_msg("%s is refused", good[i]);
        }

        assert_int_equal(used, strlen(good[i]) / 2);
    }

    /* only one item */

    assert_int_equal(walk("0102", &used), NGX_OK);
    assert_int_equal(used, 1);
    assert_int_equal(walk("810102", &used), NGX_OK);
    assert_int_equal(used, 2);
}


static void
test_bad(void **state)
{
    size_t      used;
    ngx_uint_t  i;

    static const char  *bad[] = {
        /* empty, or cut off */
        "", "18", "19", "1900", "1a000000", "1b00000000000000", "41", "61",
        "58", "5801", "81", "8201", "a1", "a101", "a2010203", "f8", "f900",
        "828101",

        /* reserved */
        "1c", "1d", "1e", "3c", "5c", "7c", "9c", "bc", "fc", "fd", "fe",

        /* of indefinite length, and the break code */
        "1f", "3f", "5fff", "5f4100ff", "7fff", "9fff", "9f01ff", "bfff",
        "bf0102ff", "ff", "81ff", "a1ff01", "819f01ff",

        /* tags */
        "c001", "c11a514b67b0", "d74401020304", "d9d9f700", "81c001",

        /* more than the bytes can contain */
        "9a10000001", "9b7fffffffffffffff", "9bffffffffffffffff",
        "ba10000001", "bb7fffffffffffffff", "bbffffffffffffffff",
        "bb8000000000000000", "5affffffff00", "5bffffffffffffffff00",
        "7bffffffffffffffff00", "82" "9affffffff00",

        /* too deep */
        "818181818181818181" "01", "818181818181818180",
    };

    for (i = 0; i < ngx_unit_len(bad); i++) {
        if (walk(bad[i], &used) != NGX_DECLINED) {
            fail_msg("%s is taken", bad[i]);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("cbor", tests, NULL, NULL);
}
