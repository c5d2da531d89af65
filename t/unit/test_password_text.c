/*
 * Passwords in the form in which they are compared: RFC 8265's OpaqueString.
 */

#include "ngx_unit.h"
#include "ngx_svc_password_text.h"


#define SPACES                                                                \
    "\xC2\xA0" "\xE1\x9A\x80" "\xE2\x80\x80" "\xE2\x80\x81" "\xE2\x80\x82"    \
    "\xE2\x80\x83" "\xE2\x80\x84" "\xE2\x80\x85" "\xE2\x80\x86"               \
    "\xE2\x80\x87" "\xE2\x80\x88" "\xE2\x80\x89" "\xE2\x80\x8A"               \
    "\xE2\x80\xAF" "\xE2\x81\x9F" "\xE3\x80\x80"


/* The first five are the examples that RFC 8265 accepts, in section 4.3. */

static void
test_text(void **state)
{
    size_t       len, points;
    u_char       text[NGX_SVC_PASSWORD_TEXT];
    ngx_uint_t   i;
    const char  *why;

    static const struct {
        const char  *in;
        const char  *out;
        size_t       points;
    } rows[] = {
        { "correct horse battery staple", "correct horse battery staple", 28 },
        { "Correct Horse Battery Staple", "Correct Horse Battery Staple", 28 },
        { "\xCF\x80\xC3\x9F\xC3\xA5", "\xCF\x80\xC3\x9F\xC3\xA5", 3 },
        { "Jack of \xE2\x99\xA6s", "Jack of \xE2\x99\xA6s", 10 },
        { "foo\xE1\x9A\x80" "bar", "foo bar", 7 },

        { SPACES, "                ", 16 },
        { " trailing and leading ", " trailing and leading ", 22 },
        { "  two  ", "  two  ", 7 },

        /* e and an acute, two marks in the other order, Hangul */
        { "e\xCC\x81", "\xC3\xA9", 1 },
        { "\xC3\xA9", "\xC3\xA9", 1 },
        { "q\xCC\x87\xCC\xA3", "q\xCC\xA3\xCC\x87", 3 },
        { "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "\xED\x95\x9C", 1 },

        /*
         * a singleton, one that is not composed again, no compatibility mapping
         */
        { "\xE2\x84\xAB", "\xC3\x85", 1 },
        { "\xE0\xA5\x98", "\xE0\xA4\x95\xE0\xA4\xBC", 2 },
        { "\xEF\xAC\x81\xEF\xBC\xA1", "\xEF\xAC\x81\xEF\xBC\xA1", 2 },

        /* a family, with U+200D in it */
        { "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9",
          "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9", 3 },

        { "\xF4\x8F\xBF\xBD", "\xF4\x8F\xBF\xBD", 1 },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        why = ngx_svc_password_text((u_char *) rows[i].in, strlen(rows[i].in),
                                    text, &len, &points);

        if (why != NULL || len != strlen(rows[i].out)
            || memcmp(text, rows[i].out, len) != 0
            || points != rows[i].points)
        {
            fail_msg("row %u: %s, %u bytes, %u code points", (unsigned) i,
                     why ? why : "taken", (unsigned) len, (unsigned) points);
        }
    }
}


static void
test_refused(void **state)
{
    size_t       len, points;
    u_char       text[NGX_SVC_PASSWORD_TEXT];
    ngx_uint_t   i;
    const char  *why;

    static const struct {
        const char  *in;
        size_t       len;
        const char  *why;
    } rows[] = {
        { "", 0, "must be 1 to 1024 bytes" },
        { "a\0b", 3, "must not have control characters" },
        { "\0", 1, "must not have control characters" },
        { "a\tb", 3, "must not have control characters" },
        { "a\r\n", 3, "must not have control characters" },
        { "\x7F", 1, "must not have control characters" },
        { "\xC2\x85", 2, "must not have control characters" },
        { "a\xFF", 2, "must be valid UTF-8" },
        { "\x80", 1, "must be valid UTF-8" },
        { "\xC3", 1, "must be valid UTF-8" },
        { "\xE2\x82", 2, "must be valid UTF-8" },
        { "\xC0\x80", 2, "must be valid UTF-8" },
        { "\xC1\xA1", 2, "must be valid UTF-8" },
        { "\xE0\x80\xA0", 3, "must be valid UTF-8" },
        { "\xED\xA0\x80", 3, "must be valid UTF-8" },
        { "\xF0\x80\x80\xA0", 4, "must be valid UTF-8" },
        { "\xF4\x90\x80\x80", 4, "must be valid UTF-8" },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        why = ngx_svc_password_text((u_char *) rows[i].in, rows[i].len, text,
                                    &len, &points);

        if (why == NULL || strcmp(why, rows[i].why) != 0) {
            fail_msg("row %u: %s", (unsigned) i, why ? why : "taken");
        }
    }
}


static void
test_length(void **state)
{
    size_t   len, points;
    u_char  *in, text[NGX_SVC_PASSWORD_TEXT];

    in = malloc(1025);
    assert_non_null(in);
    memset(in, 'a', 1025);

    assert_null(ngx_svc_password_text(in, 1024, text, &len, &points));
    assert_int_equal(len, 1024);
    assert_int_equal(points, 1024);

    assert_string_equal(ngx_svc_password_text(in, 1025, text, &len, &points),
                        "must be 1 to 1024 bytes");
    free(in);
}


/* The greatest growth: U+1D160 becomes three code points of four bytes each. */

static void
test_longest(void **state)
{
    size_t      len, points;
    u_char      in[1024], text[NGX_SVC_PASSWORD_TEXT];
    ngx_uint_t  i;

    for (i = 0; i < sizeof(in); i += 4) {
        memcpy(in + i, "\xF0\x9D\x85\xA0", 4);
    }

    assert_null(ngx_svc_password_text(in, sizeof(in), text, &len, &points));
    assert_int_equal(len, 3072);
    assert_int_equal(points, 768);
    assert_memory_equal(text, "\xF0\x9D\x85\x98\xF0\x9D\x85\xA5"
                              "\xF0\x9D\x85\xAE", 12);
}


/* A base letter with as many marks as there is room for, in the wrong order. */

static void
test_marks(void **state)
{
    size_t      len, points;
    u_char      in[1023], text[NGX_SVC_PASSWORD_TEXT];
    ngx_uint_t  i;

    in[0] = 'q';

    for (i = 1; i < sizeof(in); i += 2) {
        memcpy(in + i, (i & 2) ? "\xCC\x87" : "\xCC\xA3", 2);
    }

    assert_null(ngx_svc_password_text(in, sizeof(in), text, &len, &points));
    assert_int_equal(len, 1023);
    assert_int_equal(points, 512);
    assert_memory_equal(text, "q\xCC\xA3\xCC\xA3", 5);
    assert_memory_equal(text + 1019, "\xCC\x87\xCC\x87", 4);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_marks),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("password_text", tests, NULL, NULL);
}
