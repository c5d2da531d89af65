/*
 * Forms: what clients send to the token endpoint.
 */

#include "ngx_unit.h"
#include "ngx_svc_form.h"
#include "ngx_svc_utf8.h"


#define FORM_MANY   100000
#define FORM_SIZE   65536       /* bytes, of the largest form */
#define FORM_RUNS   30
#define FORM_TIMES  12          /* what a form may take of a plain one's time */


/* A value of "name" after decoding; NULL: absent. */

static const struct {
    const char  *text;
    const char  *value;
} values[] = {
    { "", NULL },
    { "&", NULL },
    { "&&=&", NULL },
    { "=x", NULL },
    { "name", NULL },
    { "name=", NULL },
    { "name=&name=&name", NULL },
    { "name=x", "x" },
    { "&name=x&", "x" },
    { "name=x&name=", "x" },
    { "name=&name=x&name", "x" },
    { "Name=y&name=x", "x" },
    { "nam=y&name=x&names=z", "x" },
    { "name==", "=" },
    { "name=a=b", "a=b" },
    { "name=a+b%20c%2Bd", "a b c+d" },
    { "%6eam%65=%26%3d%25", "&=%" },
    { "name=%c3%BC\xc3\xbc", "\xc3\xbc\xc3\xbc" },
    { "name=%f4%8f%bf%bf", "\xf4\x8f\xbf\xbf" },
    { "name=%0d%0a", "\r\n" },
    { "name= ;x", " ;x" },
};

static const struct {
    const char  *text;
    const char  *detail;
} bad[] = {
    { "name=%", "The parameter 'name' has a percent sign without two"
      " hexadecimal digits." },
    { "name=%4", "The parameter 'name' has a percent sign without two"
      " hexadecimal digits." },
    { "name=%4&name=x", "The parameter 'name' has a percent sign without two"
      " hexadecimal digits." },
    { "name=%4g", "The parameter 'name' has a percent sign without two"
      " hexadecimal digits." },
    { "name=%g4", "The parameter 'name' has a percent sign without two"
      " hexadecimal digits." },
    { "x%=y", "A parameter has a percent sign without two hexadecimal"
      " digits." },
    { "a=b&%", "A parameter has a percent sign without two hexadecimal"
      " digits." },
    { "name=a%00", "The parameter 'name' has a NUL." },
    { "%00=a", "A parameter has a NUL." },
    { "name=%80", "The parameter 'name' is not valid UTF-8." },
    { "name=\xc3", "The parameter 'name' is not valid UTF-8." },
    { "name=%c3%c3", "The parameter 'name' is not valid UTF-8." },
    { "name=%c0%80", "The parameter 'name' is not valid UTF-8." },
    { "name=%ed%a0%80", "The parameter 'name' is not valid UTF-8." },
    { "name=%f4%90%80%80", "The parameter 'name' is not valid UTF-8." },
    { "\xff=", "A parameter is not valid UTF-8." },
    { "%22=%ff", "A parameter is not valid UTF-8." },
    { "'=%ff", "A parameter is not valid UTF-8." },
    { "%5c=%ff", "A parameter is not valid UTF-8." },
    { "%0a=%ff", "A parameter is not valid UTF-8." },
    { "\xc3\xbc=%ff", "A parameter is not valid UTF-8." },
    { "=%ff", "A parameter is not valid UTF-8." },
};


static ngx_int_t
parse(ngx_pool_t *pool, const char *text, ngx_svc_form_t *form,
    ngx_svc_error_t *err)
{
    ngx_str_t  str;

    str.data = (u_char *) text;
    str.len = strlen(text);

    err->kind = NGX_SVC_E_NONE;

    return ngx_svc_form_parse(pool, &str, form, err);
}


static void
test_values(void **state)
{
    ngx_str_t        value;
    ngx_uint_t       i;
    ngx_svc_form_t   form;
    ngx_svc_error_t  err;

    for (i = 0; i < ngx_unit_len(values); i++) {
        assert_int_equal(parse(*state, values[i].text, &form, &err), NGX_OK);
        assert_int_equal(ngx_svc_form_value(&form, "name", &value, &err),
                         NGX_OK);

        if (values[i].value == NULL) {
            assert_null(value.data);
            assert_int_equal(value.len, 0);
            continue;
        }

        assert_non_null(value.data);
        assert_string_equal((char *) value.data, values[i].value);
        assert_int_equal(value.len, strlen(values[i].value));
    }
}


static void
test_bad(void **state)
{
    ngx_uint_t       i;
    ngx_svc_form_t   form;
    ngx_svc_error_t  err;

    for (i = 0; i < ngx_unit_len(bad); i++) {
        assert_int_equal(parse(*state, bad[i].text, &form, &err),
                         NGX_DECLINED);
        ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST, bad[i].detail,
                       bad[i].text);
    }
}


static void
test_twice(void **state)
{
    ngx_str_t        value;
    ngx_svc_form_t   form;
    ngx_svc_error_t  err;

    static const char *const  none[] = { NULL };
    static const char *const  some[] = { "audience", "resource", NULL };

    assert_int_equal(parse(*state, "resource=2&a=b&resource=1&resource=&c=d"
                           "&%72esource=2", &form, &err), NGX_OK);
    assert_int_equal(form.n, 5);

    assert_int_equal(ngx_svc_form_nth(&form, "resource", 0, &value), NGX_OK);
    assert_string_equal((char *) value.data, "2");
    assert_int_equal(ngx_svc_form_nth(&form, "resource", 1, &value), NGX_OK);
    assert_string_equal((char *) value.data, "1");
    assert_int_equal(ngx_svc_form_nth(&form, "resource", 2, &value), NGX_OK);
    assert_string_equal((char *) value.data, "2");
    assert_int_equal(ngx_svc_form_nth(&form, "resource", 3, &value),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_form_nth(&form, "a", 1, &value), NGX_DECLINED);
    assert_int_equal(ngx_svc_form_nth(&form, "b", 0, &value), NGX_DECLINED);
    assert_int_equal(ngx_svc_form_nth(&form, "resources", 0, &value),
                     NGX_DECLINED);
    assert_int_equal(ngx_svc_form_nth(&form, "resource", (ngx_uint_t) -1,
                                      &value), NGX_DECLINED);

    assert_int_equal(ngx_svc_form_unique(&form, some, &err), NGX_OK);

    assert_int_equal(ngx_svc_form_unique(&form, none, &err), NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST,
                   "The parameter 'resource' comes twice.", "unique");

    err.kind = NGX_SVC_E_NONE;
    assert_int_equal(ngx_svc_form_value(&form, "resource", &value, &err),
                     NGX_DECLINED);
    assert_null(value.data);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST,
                   "The parameter 'resource' comes twice.", "value");

    /* an unknown parameter, whose name may not be in a detail */

    assert_int_equal(parse(*state, "a\"=1&b=1&a\"=2", &form, &err), NGX_OK);
    assert_int_equal(ngx_svc_form_unique(&form, some, &err), NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST,
                   "A parameter comes twice.", "unknown");

    assert_int_equal(parse(*state, "a=&a=1&a", &form, &err), NGX_OK);
    assert_int_equal(ngx_svc_form_unique(&form, none, &err), NGX_OK);
}


/* Names of 64 bytes are in the detail, longer ones are not. */

static void
test_long_name(void **state)
{
    char             text[128], detail[256];
    ngx_svc_form_t   form;
    ngx_svc_error_t  err;

    memset(text, 'x', 64);
    strcpy(text + 64, "=%");

    sprintf(detail, "The parameter '%.64s' has a percent sign without two"
            " hexadecimal digits.", text);

    assert_int_equal(parse(*state, text, &form, &err), NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST, detail, "64");

    strcpy(text + 64, "x=%");

    assert_int_equal(parse(*state, text, &form, &err), NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST,
                   "A parameter has a percent sign without two hexadecimal"
                   " digits.", "65");
}


/* Writes n parameters of different names, unsorted; returns the end. */

static u_char *
many(u_char *p, ngx_uint_t n)
{
    ngx_uint_t  i;

    for (i = 0; i < n; i++) {
        p = ngx_sprintf(p, "%uxi=%ui&", i * 7919 % FORM_MANY, i);
    }

    return p;
}


/* A repeated parameter is found among as many as there may be. */

static void
test_many(void **state)
{
    u_char           *p;
    ngx_str_t         text, value;
    ngx_svc_form_t    form;
    ngx_svc_error_t   err;

    static const char *const  none[] = { NULL };

    text.data = ngx_palloc(*state, FORM_MANY * 16);
    assert_non_null(text.data);

    p = many(text.data, NGX_SVC_FORM_MAX);
    text.len = p - text.data;
    err.kind = NGX_SVC_E_NONE;

    assert_int_equal(ngx_svc_form_parse(*state, &text, &form, &err), NGX_OK);
    assert_int_equal(form.n, NGX_SVC_FORM_MAX);
    assert_int_equal(ngx_svc_form_unique(&form, none, &err), NGX_OK);
    assert_int_equal(ngx_svc_form_value(&form, "1eef", &value, &err), NGX_OK);
    assert_string_equal((char *) value.data, "1");

    p = many(text.data, NGX_SVC_FORM_MAX - 1);
    text.len = ngx_sprintf(p, "1eef=x") - text.data;

    assert_int_equal(ngx_svc_form_parse(*state, &text, &form, &err), NGX_OK);
    assert_int_equal(ngx_svc_form_unique(&form, none, &err), NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST,
                   "The parameter '1eef' comes twice.", "many");
}


static void
test_too_many(void **state)
{
    ngx_str_t        text;
    ngx_uint_t       i, n;
    ngx_svc_form_t   form;
    ngx_svc_error_t  err;

    static const ngx_uint_t  numbers[] = { NGX_SVC_FORM_MAX + 1, FORM_MANY };

    text.data = ngx_palloc(*state, FORM_MANY * 16);
    assert_non_null(text.data);

    for (i = 0; i < ngx_unit_len(numbers); i++) {
        text.len = many(text.data, numbers[i]) - text.data;
        err.kind = NGX_SVC_E_NONE;

        assert_int_equal(ngx_svc_form_parse(*state, &text, &form, &err),
                         NGX_DECLINED);
        ngx_unit_error(&err, NGX_SVC_E_INVALID_REQUEST,
                       "There are more than 1024 parameters.", "too many");
    }

    /* parameters without a value do not count */

    for (n = 0; n < FORM_MANY; n++) {
        ngx_memcpy(text.data + n * 3, "a=&", 3);
    }

    text.len = ngx_sprintf(text.data + n * 3, "a=1") - text.data;
    err.kind = NGX_SVC_E_NONE;

    assert_int_equal(ngx_svc_form_parse(*state, &text, &form, &err), NGX_OK);
    assert_int_equal(form.n, 1);
}


static void
test_memory(void **state)
{
    ngx_int_t        n;
    ngx_svc_form_t   form;
    ngx_svc_error_t  err;

    for (n = 0; n < 2; n++) {
        ngx_env_alloc_limit(n);
        assert_int_equal(parse(*state, "a=b", &form, &err), NGX_ERROR);
    }

    ngx_env_alloc_limit(2);
    assert_int_equal(parse(*state, "a=b", &form, &err), NGX_OK);
}


/*
 * All texts of one to three bytes, compared with decoding and encoding again.
 */

static void
test_utf8(void **state)
{
    u_char      text[4], *p;
    uint32_t    c;
    ngx_uint_t  i, good;

    static const char  *four[] = {
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\xf1\x80\xbf\x80"
    };

    static const char  *none[] = {
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80", "\xf0\x90\x80\xc0", "\xf0\x90\xc0\x80",
        "\xf0\x90\x80"
    };

    for (i = 0, good = 0; i < 0x1000000; i++) {
        text[0] = (u_char) (i >> 16);
        text[1] = (u_char) (i >> 8);
        text[2] = (u_char) i;

        if (text[0] < 0xe0 || text[0] >= 0xf0) {
            continue;
        }

        c = (text[0] & 0xf) << 12 | (text[1] & 0x3f) << 6 | (text[2] & 0x3f);
        p = text;

        if (ngx_svc_utf8(text, 3) == NGX_OK) {
            good++;
            assert_true(c >= 0x800 && (c < 0xd800 || c > 0xdfff));
            assert_int_equal(ngx_utf8_decode(&p, 3), c);
        }
    }

    assert_int_equal(good, 0x10000 - 0x800 - 0x800);

    for (i = 0, good = 0; i < 0x10000; i++) {
        text[0] = (u_char) (i >> 8);
        text[1] = (u_char) i;

        good += (ngx_svc_utf8(text, 2) == NGX_OK);
    }

    assert_int_equal(good, 0x80 * 0x80 + (0x800 - 0x80));

    for (i = 0; i < ngx_unit_len(four); i++) {
        assert_int_equal(ngx_svc_utf8((u_char *) four[i], 4), NGX_OK);
    }

    for (i = 0; i < ngx_unit_len(none); i++) {
        assert_int_equal(ngx_svc_utf8((u_char *) none[i], strlen(none[i])),
                         NGX_DECLINED);
    }
}


/* Forms of FORM_SIZE bytes: a repeated text, in which "@" becomes a number. */

static const struct {
    const char  *name;
    const char  *text;
    ngx_uint_t   times;         /* 0: as often as it fits */
} large[] = {
    { "nothing", "&", 0 },
    { "names alone", "a&", 0 },
    { "empty values", "a=&", 0 },
    { "two bytes each", "a=b&", 0 },
    { "percent signs", "%41", 0 },
    { "percent signs in values", "n@=%C3%BC%C3%BC%C3%BC%C3%BC%C3%BC%C3%BC&",
      1000 },
    { "a name each", "n@=x&", 1024 },
    { "a name of 57 bytes each",
      "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn@=x&", 1024 },
    { "one name", "resource=urn:a@&", 1024 },
    { "characters of three bytes", "\xe2\x82\xac", 0 },
};


static void
form_fill(u_char *p, const char *text, ngx_uint_t times)
{
    u_char      *last;
    ngx_uint_t   n;
    const char  *c;

    last = p + FORM_SIZE;

    for (n = 0; times == 0 || n < times; n++) {

        if ((size_t) (last - p) < strlen(text) + 5) {
            break;
        }

        for (c = text; *c; c++) {
            if (*c == '@') {
                p = ngx_sprintf(p, "%05ui", (n * 7919) % 100000);

            } else {
                *p++ = *c;
            }
        }
    }

    memset(p, '&', last - p);
}


/* Returns the microseconds of the processor, the least of some runs. */

static double
form_time(const ngx_str_t *text)
{
    double            best, took;
    ngx_uint_t        i;
    ngx_pool_t       *pool;
    ngx_svc_form_t    form;
    ngx_svc_error_t   err;
    struct timespec   from, to;

    static const char *const  repeatable[] = { "resource", NULL };

    best = 0;

    for (i = 0; i < FORM_RUNS; i++) {
        pool = ngx_create_pool(4096, ngx_env_log());
        assert_non_null(pool);

        (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);

        ngx_memzero(&err, offsetof(ngx_svc_error_t, detail));

        if (ngx_svc_form_parse(pool, text, &form, &err) == NGX_OK) {
            (void) ngx_svc_form_unique(&form, repeatable, &err);
        }

        (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);

        ngx_destroy_pool(pool);

        took = (to.tv_sec - from.tv_sec) * 1e6
               + (to.tv_nsec - from.tv_nsec) / 1e3;
        best = (i == 0 || took < best) ? took : best;
    }

    return best;
}


/* Only the ratio is tested, because a slow machine is slow with all forms. */

static void
test_time(void **state)
{
    double      plain, took;
    ngx_str_t   text;
    ngx_uint_t  i;

    text.len = FORM_SIZE;
    text.data = ngx_palloc(*state, FORM_SIZE);
    assert_non_null(text.data);

    memset(text.data, 'x', FORM_SIZE);
    text.data[1] = '=';
    plain = form_time(&text);

    printf("# a form of 64 KiB with one value: %.0f us\n", plain);

    for (i = 0; i < ngx_unit_len(large); i++) {
        form_fill(text.data, large[i].text, large[i].times);
        took = form_time(&text);

        printf("# %s: %.0f us, %.2f times that\n", large[i].name, took,
               took / plain);

        if (took > FORM_TIMES * plain) {
            fail_msg("%s: %.0f us, and %.0f us of one value", large[i].name,
                     took, plain);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_values),
        ngx_unit_test(test_bad),
        ngx_unit_test(test_twice),
        ngx_unit_test(test_long_name),
        ngx_unit_test(test_many),
        ngx_unit_test(test_too_many),
        ngx_unit_test(test_memory),
        cmocka_unit_test(test_utf8),
        ngx_unit_test(test_time),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("form", tests, NULL, NULL);
}
