/*
 * Writing JSON.
 */

#include "ngx_unit.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_write.h"


#define TEXT(s)  (const u_char *) (s), sizeof(s) - 1


static void
written(ngx_svc_json_writer_t *w, const char *text)
{
    assert_int_equal(w->failed, 0);

    if ((size_t) (w->last - w->start) != strlen(text)
        || memcmp(w->start, text, strlen(text)) != 0)
    {
        fail_msg("%.*s, not %s", (int) (w->last - w->start), w->start, text);
    }
}


static void
test_all(void **state)
{
    ngx_svc_json_writer_t  w;

    /* each size, so that the buffer grows at each position */

    size_t  size;

    for (size = 0; size < 400; size++) {

        assert_int_equal(ngx_svc_json_writer_init(&w, *state, size), NGX_OK);

        ngx_svc_json_open(&w, NULL, '{');
        ngx_svc_json_string(&w, "s", TEXT("a\"b"));
        ngx_svc_json_integer(&w, "i", -7);
        ngx_svc_json_boolean(&w, "t", 1);
        ngx_svc_json_boolean(&w, "f", 0);
        ngx_svc_json_null(&w, "n");
        ngx_svc_json_plain(&w, "p", TEXT("2026-01-01"));
        ngx_svc_json_raw(&w, "r", TEXT("{\"x\":[1,2]}"));
        ngx_svc_json_open(&w, "empty", '{');
        ngx_svc_json_close(&w, '}');
        ngx_svc_json_open(&w, "list", '[');
        ngx_svc_json_integer(&w, NULL, 1);
        ngx_svc_json_string(&w, "", TEXT("two"));
        ngx_svc_json_open(&w, NULL, '[');
        ngx_svc_json_close(&w, ']');
        ngx_svc_json_open(&w, "", '{');
        ngx_svc_json_null(&w, "z");
        ngx_svc_json_null(&w, "y");
        ngx_svc_json_close(&w, '}');
        ngx_svc_json_null(&w, NULL);
        ngx_svc_json_close(&w, ']');
        ngx_svc_json_string_begin(&w, "parts");
        ngx_svc_json_string_append(&w, TEXT("http://"));
        ngx_svc_json_string_append(&w, TEXT(""));
        ngx_svc_json_string_append(&w, TEXT("a\\"));
        ngx_svc_json_string_append(&w, NULL, 0);
        ngx_svc_json_string_end(&w);
        ngx_svc_json_string(&w, "none", NULL, 0);
        ngx_svc_json_plain(&w, "plain", NULL, 0);
        ngx_svc_json_close(&w, '}');

        written(&w, "{\"s\":\"a\\\"b\",\"i\":-7,\"t\":true,\"f\":false,"
                    "\"n\":null,\"p\":\"2026-01-01\",\"r\":{\"x\":[1,2]},"
                    "\"empty\":{},\"list\":[1,\"two\",[],{\"z\":null,"
                    "\"y\":null},null],\"parts\":\"http://a\\\\\","
                    "\"none\":\"\",\"plain\":\"\"}");
    }
}


static void
test_escapes(void **state)
{
    u_char                 c, expected[16];
    ngx_uint_t             i;
    ngx_svc_json_writer_t  w;

    static const char  letters[] = "\bb\ff\nn\rr\tt\"\"\\\\";

    for (i = 0; i < 0x80; i++) {
        c = (u_char) i;

        (void) ngx_sprintf(expected, (i < 0x20) ? "\"\\u%04xi\"%Z"
                                                : "\"%c\"%Z", i);

        if (i && strchr(letters, c) && !(c >= 'a' && c <= 'z')) {
            (void) ngx_sprintf(expected, "\"\\%c\"%Z",
                               strchr(letters, c)[1]);
        }

        assert_int_equal(ngx_svc_json_writer_init(&w, *state, 0), NGX_OK);
        ngx_svc_json_string(&w, NULL, &c, 1);
        written(&w, (char *) expected);
    }

    assert_int_equal(ngx_svc_json_writer_init(&w, *state, 0), NGX_OK);
    ngx_svc_json_string(&w, NULL, TEXT("/\xc3\xa9\x7f\xe2\x80\xa8<>&'\n\n"));
    written(&w, "\"/\xc3\xa9\x7f\xe2\x80\xa8<>&'\\n\\n\"");
}


static void
test_integers(void **state)
{
    ngx_uint_t             i;
    ngx_svc_json_writer_t  w;

    static const struct {
        int64_t      n;
        const char  *text;
    } rows[] = {
        { 0, "0" },
        { 9, "9" },
        { 10, "10" },
        { -1, "-1" },
        { 4294967296, "4294967296" },
        { INT64_MAX, "9223372036854775807" },
        { INT64_MIN, "-9223372036854775808" },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(ngx_svc_json_writer_init(&w, *state, 0), NGX_OK);
        ngx_svc_json_integer(&w, NULL, rows[i].n);
        written(&w, rows[i].text);
    }
}


/* Strings read back through the check and cJSON are unchanged. */

static void
test_round_trip(void **state)
{
    cJSON                  *json;
    u_char                  text[512];
    size_t                  len;
    uint64_t                seed;
    ngx_str_t               body;
    ngx_uint_t              i, n;
    ngx_svc_error_t         err;
    ngx_svc_json_writer_t   w;

    static const char  *chars[] = {
        "a", "\"", "\\", "\n", "\x01", "\x1f", " ", "/", "\x7f", "\xc3\xa9",
        "\xe2\x82\xac", "\xf0\x9f\x98\x80", "plain text", "\t"
    };

    seed = 5;

    for (n = 0; n < 2000; n++) {
        len = 0;

        for (i = ngx_unit_random(&seed) % 40; i > 0; i--) {
            len += ngx_sprintf(text + len, "%s",
                               chars[ngx_unit_random(&seed)
                                     % ngx_unit_len(chars)])
                   - (text + len);
        }

        text[len] = '\0';

        assert_int_equal(ngx_svc_json_writer_init(&w, *state, 64), NGX_OK);
        ngx_svc_json_open(&w, NULL, '{');
        ngx_svc_json_string(&w, "s", text, len);
        ngx_svc_json_close(&w, '}');

        body.data = w.start;
        body.len = w.last - w.start;
        ngx_memzero(&err, sizeof(err));

        assert_int_equal(ngx_svc_json_parse(*state, &body, &json, &err),
                         NGX_OK);
        assert_string_equal(json->child->valuestring, (char *) text);
    }
}


/* The room doubles, so that copying stays in proportion to what is written. */

static void
test_growth(void **state)
{
    u_char                 *start;
    ngx_uint_t              i, moves;
    ngx_svc_json_writer_t   w;

    assert_int_equal(ngx_svc_json_writer_init(&w, *state, 0), NGX_OK);

    moves = 0;
    start = w.start;

    ngx_svc_json_open(&w, NULL, '[');

    for (i = 0; i < 200000; i++) {
        ngx_svc_json_integer(&w, NULL, i);

        if (w.start != start) {
            start = w.start;
            moves++;
        }
    }

    ngx_svc_json_close(&w, ']');

    assert_int_equal(w.failed, 0);
    assert_int_equal(w.last - w.start, 1288891);
    assert_true(w.end - w.start < 2 * 1288891 + 128);
    assert_in_range(moves, 10, 16);
}


/* A value that needs more than twice the room, at each fill of the buffer. */

static void
test_large(void **state)
{
    u_char                  text[400];
    size_t                  fill, len;
    ngx_pool_t             *pool;
    ngx_svc_json_writer_t   w;

    memset(text, 'x', sizeof(text));

    for (fill = 0; fill <= 64; fill++) {
        pool = ngx_create_pool(1024, ngx_env_log());
        assert_non_null(pool);

        for (len = 0; len <= sizeof(text); len++) {
            assert_int_equal(ngx_svc_json_writer_init(&w, pool, 64), NGX_OK);

            ngx_svc_json_raw(&w, NULL, text, fill);
            ngx_svc_json_raw(&w, "k", text, len);

            assert_int_equal(w.failed, 0);
            assert_int_equal(w.last - w.start, fill + 5 + len);
            assert_memory_equal(w.start + fill, ",\"k\":", 5);
            assert_true(w.last <= w.end);
        }

        ngx_destroy_pool(pool);
    }
}


static void
test_no_memory(void **state)
{
    size_t                  len;
    ngx_int_t               n, rc;
    ngx_uint_t              i;
    ngx_svc_json_writer_t   w;

    for (n = 0; n < 20; n++) {
        ngx_env_alloc_limit(n);

        rc = ngx_svc_json_writer_init(&w, *state, 0);
        assert_int_equal(rc, n == 0 ? NGX_ERROR : NGX_OK);
        assert_int_equal(w.failed, n == 0);

        ngx_svc_json_open(&w, NULL, '{');

        for (i = 0; i < 200; i++) {
            ngx_svc_json_string(&w, "key", TEXT("a\nb"));
        }

        if (!w.failed) {
            break;
        }

        /* nothing more is written, whether there is memory or not */

        ngx_env_alloc_limit(-1);

        len = w.last - w.start;

        ngx_svc_json_string(&w, NULL, TEXT("x"));
        ngx_svc_json_plain(&w, "k", TEXT("x"));
        ngx_svc_json_integer(&w, "k", 1);
        ngx_svc_json_boolean(&w, "k", 1);
        ngx_svc_json_null(&w, "k");
        ngx_svc_json_raw(&w, "k", TEXT("1"));
        ngx_svc_json_open(&w, "k", '{');
        ngx_svc_json_string_begin(&w, "k");
        ngx_svc_json_string_append(&w, TEXT("x"));
        ngx_svc_json_string_end(&w);
        ngx_svc_json_close(&w, '}');

        assert_int_equal(w.failed, 1);
        assert_int_equal(w.last - w.start, len);
    }

    assert_in_range(n, 3, 10);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_all),
        ngx_unit_test(test_escapes),
        ngx_unit_test(test_integers),
        ngx_unit_test(test_round_trip),
        ngx_unit_test(test_growth),
        cmocka_unit_test(test_large),
        ngx_unit_test(test_no_memory),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("json_write", tests, NULL, NULL);
}
