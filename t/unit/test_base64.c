/*
 * base64url.
 */

#include "ngx_unit.h"
#include "ngx_svc_base64.h"


static ngx_int_t
decode(const char *text, u_char *out, size_t *len)
{
    return ngx_svc_base64url_decode((u_char *) text, strlen(text), out, len);
}


/* RFC 4648, 10, without the padding; and the two letters that differ. */

static const struct {
    const char  *data;
    const char  *text;
} vectors[] = {
    { "", "" },
    { "f", "Zg" },
    { "fo", "Zm8" },
    { "foo", "Zm9v" },
    { "foob", "Zm9vYg" },
    { "fooba", "Zm9vYmE" },
    { "foobar", "Zm9vYmFy" },
    { "\xfb\xff\xbf", "-_-_" },
    { "\xff\xff", "__8" },
};


static void
test_vectors(void **state)
{
    char         text[16];
    size_t       len;
    u_char       out[16], *end;
    ngx_uint_t   i;

    for (i = 0; i < ngx_unit_len(vectors); i++) {
        assert_int_equal(decode(vectors[i].text, out, &len), NGX_OK);
        assert_int_equal(len, strlen(vectors[i].data));
        assert_memory_equal(out, vectors[i].data, len);

        end = ngx_svc_base64url((u_char *) text, (u_char *) vectors[i].data,
                                len);
        assert_int_equal(end - (u_char *) text, ngx_svc_base64url_len(len));
        *end = '\0';
        assert_string_equal(text, vectors[i].text);
    }
}


/*
 * Among all texts of two letters, and of three after a Z, each value has one.
 */

static void
test_one_spelling(void **state)
{
    int         a, b, c;
    char        text[] = "AAA";
    size_t      len;
    u_char      out[16];
    ngx_uint_t  two, three;

    two = 0;
    three = 0;

    for (a = 1; a < 256; a++) {
        for (b = 1; b < 256; b++) {
            text[0] = (char) a;
            text[1] = (char) b;
            text[2] = '\0';

            two += decode(text, out, &len) == NGX_OK;

            for (c = 1; c < 256 && a == 'Z'; c++) {
                text[2] = (char) c;
                three += decode(text, out, &len) == NGX_OK;
            }
        }
    }

    /* 8 bits, and 16 bits of which the first letter has 6 */

    assert_int_equal(two, 256);
    assert_int_equal(three, 1024);
}


static void
test_bad(void **state)
{
    size_t      len;
    u_char      out[16];
    ngx_uint_t  i;

    static const char  *bad[] = {
        "A", "AAAAA", "Zg=", "Zg==", "=", "Zm9v=", "Zm=v", "Zh", "Zm9", "Zm+v",
        "Zm/v", "Zm9v ", " Zm9v", "Zm9v\n", "Zm.v", "Zm\xc3\xa9v",
    };

    for (i = 0; i < ngx_unit_len(bad); i++) {
        if (decode(bad[i], out, &len) != NGX_DECLINED) {
            fail_msg("\"%s\" is read", bad[i]);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_one_spelling),
        cmocka_unit_test(test_bad),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
