/*
 * Reading JSON: the check before the parser.
 */

#include "ngx_unit.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_check.h"


#define SYNTAX  "The body is not valid JSON: "


typedef struct {
    const char  *text;
    size_t       len;           /* 0: up to the NUL */
    const char  *detail;        /* NULL: admitted */
} row_t;


static const row_t  texts[] = {

    { "{}", 0, NULL },
    { "[]", 0, NULL },
    { " \t\r\n{ \t\r\n} \t\r\n", 0, NULL },
    { "{\"a\":1,\"b\":[true,false,null,\"x\",{}]}", 0, NULL },
    { "{ \"a\" : [ 1 , 2 ] , \"b\" : { } }", 0, NULL },
    { "[[],[[]],{\"\":{}}]", 0, NULL },
    { "\"\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0041 \\u00e9 \\uFFFF\"", 0,
      NULL },
    { "\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80"
      "\xf4\x8f\xbf\xbf\"", 0, NULL },
    { "\"\\ud83d\\ude00\"", 0, NULL },
    { "\"\\uD800\\uDC00\\uDBFF\\uDFFF\"", 0, NULL },
    { "null", 0, NULL },
    { "0", 0, NULL },
    { "-0", 0, NULL },
    { "-0.0e-0", 0, NULL },
    { "1.5E+3", 0, NULL },
    { "1e308", 0, NULL },
    { "1.7976931348623157e308", 0, NULL },
    { "-1.7976931348623158e+308", 0, NULL },
    { "17976931348623158e292", 0, NULL },
    { "0.00017976931348623158e312", 0, NULL },
    { "0e300", 0, NULL },
    { "5e-324", 0, NULL },
    { "1e-0000000000000000000000000300", 0, NULL },
    { "100000000000000000000000000000000000000000000000000000000000000", 0,
      NULL },

    { "", 0, "The body is empty." },
    { " ", 0, SYNTAX "a value is missing at byte 1." },
    { "[", 0, SYNTAX "a value is missing at byte 1." },
    { "[1,", 0, SYNTAX "a value is missing at byte 3." },
    { "{\"a\":", 0, SYNTAX "a value is missing at byte 5." },
    { "hello", 0, SYNTAX "a value is not valid at byte 0." },
    { "nul", 0, SYNTAX "a value is not valid at byte 0." },
    { "True", 0, SYNTAX "a value is not valid at byte 0." },
    { "NaN", 0, SYNTAX "a value is not valid at byte 0." },
    { "-Infinity", 0, SYNTAX "a value is not valid at byte 0." },
    { "'a'", 0, SYNTAX "a value is not valid at byte 0." },
    { "\xef\xbb\xbf{}", 0, SYNTAX "a value is not valid at byte 0." },
    { "\0{}", 3, SYNTAX "a value is not valid at byte 0." },
    { "\v{}", 0, SYNTAX "a value is not valid at byte 0." },
    { "\xc2\xa0{}", 0, SYNTAX "a value is not valid at byte 0." },
    { "[1,]", 0, SYNTAX "a value is not valid at byte 3." },
    { "[,1]", 0, SYNTAX "a value is not valid at byte 1." },
    { "[/**/]", 0, SYNTAX "a value is not valid at byte 1." },
    { "truex", 0, SYNTAX "something follows the value at byte 4." },
    { "{}{}", 0, SYNTAX "something follows the value at byte 2." },
    { "{} \0", 4, SYNTAX "something follows the value at byte 3." },
    { "{}]", 0, SYNTAX "something follows the value at byte 2." },
    { "1 2", 0, SYNTAX "something follows the value at byte 2." },
    { "[1", 0, SYNTAX "\",\" or \"]\" is missing at byte 2." },
    { "[1}", 0, SYNTAX "\",\" or \"]\" is missing at byte 2." },
    { "[1 2]", 0, SYNTAX "\",\" or \"]\" is missing at byte 3." },
    { "[\"a\":1]", 0, SYNTAX "\",\" or \"]\" is missing at byte 4." },
    { "{\"a\":1", 0, SYNTAX "\",\" or \"}\" is missing at byte 6." },
    { "{\"a\":1]", 0, SYNTAX "\",\" or \"}\" is missing at byte 6." },
    { "{\"a\":[]]", 0, SYNTAX "\",\" or \"}\" is missing at byte 7." },
    { "{", 0, SYNTAX "a member's name is missing at byte 1." },
    { "{a:1}", 0, SYNTAX "a member's name is missing at byte 1." },
    { "{1:1}", 0, SYNTAX "a member's name is missing at byte 1." },
    { "{]", 0, SYNTAX "a member's name is missing at byte 1." },
    { "{\"a\":1,}", 0, SYNTAX "a member's name is missing at byte 7." },
    { "{\"a\"}", 0, SYNTAX "\":\" is missing at byte 4." },
    { "{\"a\" 1}", 0, SYNTAX "\":\" is missing at byte 5." },
    { "{\"a", 0, SYNTAX "a string does not end at byte 3." },

    { "01", 0, SYNTAX "something follows the value at byte 1." },
    { "-", 0, SYNTAX "a value is not valid at byte 0." },
    { "-01", 0, SYNTAX "something follows the value at byte 2." },
    { "+1", 0, SYNTAX "a value is not valid at byte 0." },
    { ".5", 0, SYNTAX "a value is not valid at byte 0." },
    { "-.5", 0, SYNTAX "a value is not valid at byte 0." },
    { "1.", 0, SYNTAX "a digit is missing at byte 2." },
    { "[1.]", 0, SYNTAX "a digit is missing at byte 3." },
    { "1.e1", 0, SYNTAX "a digit is missing at byte 2." },
    { "1e", 0, SYNTAX "a digit is missing at byte 2." },
    { "1e+", 0, SYNTAX "a digit is missing at byte 3." },
    { "1e+-1", 0, SYNTAX "a digit is missing at byte 3." },
    { "0x10", 0, SYNTAX "something follows the value at byte 1." },
    { "1,5", 0, SYNTAX "something follows the value at byte 1." },
    { "[1e999]", 0, SYNTAX "a number is out of range at byte 1." },
    { "[0e999]", 0, SYNTAX "a number is out of range at byte 1." },
    { "[1e-330]", 0, SYNTAX "a number is out of range at byte 1." },
    { "[-0.000e-99999999999999999999]", 0,
      SYNTAX "a number is out of range at byte 1." },
    { "-1e309", 0, SYNTAX "a number is out of range at byte 0." },
    { "1e18446744073709551617", 0,
      SYNTAX "a number is out of range at byte 0." },
    { "1.7976931348623159e308", 0,
      SYNTAX "a number is out of range at byte 0." },
    { "0.0000000001e319", 0, SYNTAX "a number is out of range at byte 0." },
    { "1000000000000000000000000000000000000000000000000000000000000000", 0,
      SYNTAX "a number is too long at byte 0." },

    { "\"", 0, SYNTAX "a string does not end at byte 1." },
    { "\"a\\", 0, SYNTAX "a string does not end at byte 2." },
    { "\"a\\\"", 0, SYNTAX "a string does not end at byte 4." },
    { "\"\n\"", 0, SYNTAX "a control character is not escaped at byte 1." },
    { "\"\x1f\"", 0, SYNTAX "a control character is not escaped at byte 1." },
    { "\"a\0b\"", 5, SYNTAX "a control character is not escaped at byte 2." },
    { "{\"\t\":1}", 0, SYNTAX "a control character is not escaped at byte 2." },
    { "\"\\a\"", 0, SYNTAX "an escape is not valid at byte 1." },
    { "\"\\'\"", 0, SYNTAX "an escape is not valid at byte 1." },
    { "\"\\\0\"", 4, SYNTAX "an escape is not valid at byte 1." },
    { "\"\\U0041\"", 0, SYNTAX "an escape is not valid at byte 1." },
    { "\"\\u004\"", 0, SYNTAX "an escape is not valid at byte 1." },
    { "\"\\u0041", 0, SYNTAX "a string does not end at byte 7." },
    { "\"\\u00", 0, SYNTAX "an escape is not valid at byte 1." },
    { "\"\\u+041\"", 0, SYNTAX "an escape is not valid at byte 1." },
    { "\"\\u 041\"", 0, SYNTAX "an escape is not valid at byte 1." },
    { "\"\\u004g\"", 0, SYNTAX "an escape is not valid at byte 1." },
    { "\"\\u0000\"", 0, SYNTAX "\\u0000 is not allowed at byte 1." },
    { "{\"a\\u0000\":1}", 0, SYNTAX "\\u0000 is not allowed at byte 3." },
    { "\"\\ud83d\"", 0, SYNTAX "a surrogate stands alone at byte 7." },
    { "\"\\ud83dx\"", 0, SYNTAX "a surrogate stands alone at byte 7." },
    { "\"\\ud83d\\n\"", 0, SYNTAX "a surrogate stands alone at byte 7." },
    { "\"\\ud83d\\u0041\"", 0, SYNTAX "a surrogate stands alone at byte 7." },
    { "\"\\ud83d\\ud83d\"", 0, SYNTAX "a surrogate stands alone at byte 7." },
    { "\"\\ud83d\\tdc00\"", 0, SYNTAX "a surrogate stands alone at byte 7." },
    { "\"\\ud83dxudc00\"", 0, SYNTAX "a surrogate stands alone at byte 7." },
    { "\"\\ud83d\\udbff\"", 0, SYNTAX "a surrogate stands alone at byte 7." },
    { "\"\\ud83d\\ue000\"", 0, SYNTAX "a surrogate stands alone at byte 7." },
    { "\"\\ude00\\ud83d\"", 0, SYNTAX "a surrogate stands alone at byte 1." },
    { "\"\\udfff\"", 0, SYNTAX "a surrogate stands alone at byte 1." },

    { "\"\x80\"", 0, SYNTAX "a string is not valid UTF-8 at byte 1." },
    { "\"\xc0\x80\"", 0, SYNTAX "a string is not valid UTF-8 at byte 1." },
    { "\"\xed\xa0\x80\"", 0, SYNTAX "a string is not valid UTF-8 at byte 1." },
    { "\"\xc3", 0, SYNTAX "a string is not valid UTF-8 at byte 1." },
    { "\"\xc3\"", 0, SYNTAX "a string is not valid UTF-8 at byte 1." },
    { "{\"\xff\":1}", 0, SYNTAX "a string is not valid UTF-8 at byte 2." },
};


/*
 * The text is copied to memory of exactly its size, so that the sanitizer sees
 * reads beyond it.
 */

static ngx_int_t
check(const char *text, size_t len, ngx_svc_error_t *err)
{
    u_char     *p;
    ngx_int_t   rc;

    p = malloc(len);
    assert_true(p != NULL || len == 0);

    if (len) {
        memcpy(p, text, len);
    }

    ngx_memzero(err, sizeof(ngx_svc_error_t));

    rc = ngx_svc_json_check(p, len, err);

    free(p);

    assert_int_equal(rc, err->kind == NGX_SVC_E_NONE ? NGX_OK : NGX_DECLINED);

    return rc;
}


static void
refused(const char *text, size_t len, const char *detail, const char *row)
{
    ngx_svc_error_t  err;

    (void) check(text, len, &err);

    ngx_unit_error(&err, detail ? NGX_SVC_E_INVALID_SYNTAX : NGX_SVC_E_NONE,
                   detail ? detail : "", row);
}


static void
test_texts(void **state)
{
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(texts); i++) {
        refused(texts[i].text,
                texts[i].len ? texts[i].len : strlen(texts[i].text),
                texts[i].detail, texts[i].text);
    }
}


/* A valid text is refused without its last byte, and with one more. */

static void
test_truncated(void **state)
{
    size_t            len;
    ngx_svc_error_t   err;

    static const char  text[] =
        "{\"a\":[1.5e3,-2,\"x\\u00e9\\ud83d\\ude00\\n\xe2\x82\xac\",true,"
        "false,null,{\"b\":{}}]}";

    assert_int_equal(check(text, sizeof(text) - 1, &err), NGX_OK);

    for (len = 0; len < sizeof(text) - 1; len++) {
        assert_int_equal(check(text, len, &err), NGX_DECLINED);
    }

    assert_int_equal(check(text, sizeof(text), &err), NGX_DECLINED);
}


static void
test_depth(void **state)
{
    char         text[2000 + 1];
    ngx_uint_t   depth;

    for (depth = 1; depth <= 1000; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);

        refused(text, 2 * depth, depth <= NGX_SVC_JSON_MAX_DEPTH
                ? NULL : SYNTAX "nested too deeply at byte 64.", "depth");
    }

    /* only opened, which is the cheapest to send */

    memset(text, '[', sizeof(text));
    refused(text, sizeof(text), SYNTAX "nested too deeply at byte 64.",
            "open");
}


/* Each of 64 levels keeps its own kind. */

static void
test_depth_kinds(void **state)
{
    char              text[1024], *p;
    uint64_t          seed;
    ngx_uint_t        i, n, bit;
    u_char            kinds[NGX_SVC_JSON_MAX_DEPTH];
    ngx_svc_error_t   err;

    seed = 7;

    for (n = 0; n < 200; n++) {
        p = text;

        for (i = 0; i < NGX_SVC_JSON_MAX_DEPTH; i++) {
            kinds[i] = ngx_unit_random(&seed) % 2;
            p = stpcpy(p, kinds[i] ? "{\"a\":" : "[");
        }

        *p++ = '1';

        for ( /* void */ ; i > 0; i--) {
            *p++ = kinds[i - 1] ? '}' : ']';
        }

        assert_int_equal(check(text, p - text, &err), NGX_OK);

        bit = ngx_unit_random(&seed) % NGX_SVC_JSON_MAX_DEPTH;
        p[-1 - (ngx_int_t) bit] = kinds[bit] ? ']' : '}';

        assert_int_equal(check(text, p - text, &err), NGX_DECLINED);
    }
}


static void
test_values(void **state)
{
    char             *text;
    size_t            i;
    ngx_svc_error_t   err;

    /* two zeros fewer than the limit plus one, because the array counts, too */

    text = malloc(2 * NGX_SVC_JSON_MAX_VALUES + 1);
    assert_non_null(text);

    for (i = 0; i < NGX_SVC_JSON_MAX_VALUES; i++) {
        text[2 * i + 1] = '0';
        text[2 * i + 2] = ',';
    }

    text[0] = '[';
    text[2 * NGX_SVC_JSON_MAX_VALUES - 2] = ']';

    assert_int_equal(check(text, 2 * NGX_SVC_JSON_MAX_VALUES - 1, &err),
                     NGX_OK);

    text[2 * NGX_SVC_JSON_MAX_VALUES - 2] = ',';
    text[2 * NGX_SVC_JSON_MAX_VALUES] = ']';

    assert_int_equal(check(text, 2 * NGX_SVC_JSON_MAX_VALUES + 1, &err),
                     NGX_DECLINED);
    assert_non_null(strstr((char *) err.detail, "too many values"));

    free(text);
}


/* Reads UTF-8 independently, by RFC 3629: decodes, then checks the number. */

static ngx_uint_t
valid_utf8(const u_char *p, size_t len)
{
    uint32_t  code;

    if (len == 2 && (p[0] & 0xe0) == 0xc0 && (p[1] & 0xc0) == 0x80) {
        code = (p[0] & 0x1f) << 6 | (p[1] & 0x3f);
        return code >= 0x80;
    }

    if (len == 3 && (p[0] & 0xf0) == 0xe0 && (p[1] & 0xc0) == 0x80
        && (p[2] & 0xc0) == 0x80)
    {
        code = (p[0] & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f);
        return code >= 0x800 && (code < 0xd800 || code > 0xdfff);
    }

    if (len == 4 && (p[0] & 0xf8) == 0xf0 && (p[1] & 0xc0) == 0x80
        && (p[2] & 0xc0) == 0x80 && (p[3] & 0xc0) == 0x80)
    {
        code = (p[0] & 0x07) << 18 | (p[1] & 0x3f) << 12 | (p[2] & 0x3f) << 6
               | (p[3] & 0x3f);
        return code >= 0x10000 && code <= 0x10ffff;
    }

    return 0;
}


/*
 * All pairs of a lead byte and a second byte, with third and fourth bytes at
 * the ends of their ranges.
 */

static void
test_utf8(void **state)
{
    u_char            text[6];
    size_t            len;
    ngx_int_t         rc;
    ngx_uint_t        i, j, k, l, n;
    ngx_svc_error_t   err;

    static const u_char  ends[] = {
        0x00, 0x22, 0x41, 0x7f, 0x80, 0x81, 0x9f, 0xa0, 0xbf, 0xc0, 0xe2, 0xff
    };

    n = ngx_unit_len(ends);

    for (i = 0x80; i <= 0xff; i++) {

        len = (i < 0xe0) ? 2 : (i < 0xf0) ? 3 : 4;

        for (j = 0; j <= 0xff; j++) {
            for (k = 0; k < (len > 2 ? n : 1); k++) {
                for (l = 0; l < (len > 3 ? n : 1); l++) {

                    text[0] = '"';
                    text[1] = i;
                    text[2] = j;
                    text[3] = ends[k];
                    text[4] = ends[l];
                    text[len + 1] = '"';

                    ngx_memzero(&err, sizeof(err));
                    rc = ngx_svc_json_check(text, len + 2, &err);

                    if ((rc == NGX_OK) != valid_utf8(text + 1, len)) {
                        fail_msg("%02x %02x %02x %02x: %d", text[1], text[2],
                                 text[3], text[4], (int) rc);
                    }
                }
            }
        }
    }
}


static void
test_code_points(void **state)
{
    char              text[16];
    ngx_int_t         rc;
    ngx_uint_t        code, valid;
    ngx_svc_error_t   err;

    for (code = 0; code <= 0xffff; code++) {
        snprintf(text, sizeof(text), "\"\\u%04x\"", (unsigned) code);

        ngx_memzero(&err, sizeof(err));
        rc = ngx_svc_json_check((u_char *) text, 8, &err);

        valid = code != 0 && (code < 0xd800 || code > 0xdfff);

        if ((rc == NGX_OK) != valid) {
            fail_msg("%s: %d", text, (int) rc);
        }
    }
}


/* Compares with strtod(), in the locale in which tests run. */

static void
test_finite(void **state)
{
    char              text[64], digits[64];
    double            d;
    int               exponent;
    uint64_t          seed;
    ngx_int_t         rc;
    ngx_uint_t        i, j, n, point, ninf;
    ngx_svc_error_t   err;

    static const char  limit[] =
        "1797693134862315807937289714053034150799341327";

    seed = 99;
    ninf = 0;

    for (i = 0; i < 100000; i++) {

        /* the first digits of the limit, and then others */

        n = 1 + ngx_unit_random(&seed) % (sizeof(limit) - 1);
        memcpy(digits, limit, n);

        for (j = ngx_unit_random(&seed) % (n + 2); j < n; j++) {
            digits[j] = '0' + ngx_unit_random(&seed) % 10;
        }

        if (digits[0] == '0') {
            digits[0] = '1';
        }

        point = 1 + ngx_unit_random(&seed) % n;
        exponent = 309 - (int) point + (int) (ngx_unit_random(&seed) % 3) - 1;

        snprintf(text, sizeof(text), "%.*s%s%.*se%d", (int) point, digits,
                 point < n ? "." : "", (int) (n - point), digits + point,
                 exponent);

        d = strtod(text, NULL);

        ngx_memzero(&err, sizeof(err));
        rc = ngx_svc_json_check((u_char *) text, strlen(text), &err);

        if ((rc == NGX_OK) != !__builtin_isinf(d)) {
            fail_msg("%s: %d, %g", text, (int) rc, d);
        }

        ninf += __builtin_isinf(d) != 0;
    }

    assert_in_range(ninf, 10000, 90000);
}


/* A megabyte of digits, or of leading zeros, is refused at once. */

static void
test_long_numbers(void **state)
{
    char  *text;

    text = malloc(1048576);
    assert_non_null(text);

    memset(text, '9', 1048576);
    refused(text, 1048576, SYNTAX "a number is too long at byte 0.", "digits");

    memset(text, '0', 1048576);
    text[1] = '.';
    refused(text, 1048576, SYNTAX "a number is too long at byte 0.", "zeros");

    memset(text, '1', 1048576);
    text[1] = 'e';
    refused(text, 1048576, SYNTAX "a number is too long at byte 0.",
            "exponent");

    free(text);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_depth_kinds),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_code_points),
        cmocka_unit_test(test_finite),
        cmocka_unit_test(test_long_numbers),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
