/*
 * The characters of URIs, and their normal form.
 */

#include "ngx_unit.h"
#include "ngx_svc_uri.h"


typedef struct {
    const char  *text;
    const char  *same;              /* NULL: refused */
} row_t;


static const row_t  origins[] = {
    { "HTTPS://Login.Example.COM", "https://login.example.com" },
    { "https://x:443", "https://x" },
    { "https://x:80", "https://x:80" },
    { "https://x:4430", "https://x:4430" },
    { "http://x:80", "http://x" },
    { "http://x:443", "http://x:443" },
    { "HTTP://[::1]:80", "http://[::1]" },
    { "https://[::443]", "https://[::443]" },
    { "https://:443", "https://:443" },
    { "ldaps://X:443", "ldaps://x:443" },
    { "https:", "https:" },
    { "", "" },
};

static const row_t  paths[] = {
    { "", "" },
    { "/A/b?c=D", "/A/b?c=D" },
    { "/%7e%41%2d%5F", "/~A-_" },
    { "/%2f%c3%a9%25", "/%2F%C3%A9%25" },
    { "/%20", "/%20" },
    { "/%1f", NULL },
    { "/%7F", NULL },
    { "/%00", NULL },
    { "/%", NULL },
    { "/%4", NULL },
    { "/%4g", NULL },
    { "/%%41", NULL },
};


/* The text is in memory of exactly its size, for the sanitizer. */

static u_char *
exact(const char *text)
{
    u_char  *p;

    p = malloc(strlen(text) + (*text == 0));
    assert_non_null(p);

    return memcpy(p, text, strlen(text));
}


static void
test_bytes(void **state)
{
    u_char      c, text[3];
    ngx_uint_t  i;

    static const char  none[] = "\"#<>\\^`{|}";

    for (i = 0; i < 256; i++) {
        c = (u_char) i;
        text[0] = text[2] = 'x';
        text[1] = c;

        assert_int_equal(ngx_svc_uri_bytes(text, 3),
                         c <= ' ' || c >= 0x7f || strchr(none, c) ? 1 : 3);
    }

    assert_int_equal(ngx_svc_uri_bytes(text, 0), 0);
}


/* dst: another place, or the same one. */

static void
same(const row_t *row, u_char *dst, u_char *end)
{
    if (row->same == NULL) {
        assert_null(end);
        return;
    }

    assert_non_null(end);
    assert_int_equal(end - dst, strlen(row->same));
    assert_memory_equal(dst, row->same, end - dst);
}


static void
test_origin(void **state)
{
    size_t      len;
    u_char     *p, *dst;
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(origins); i++) {
        len = strlen(origins[i].text);
        p = exact(origins[i].text);
        dst = malloc(len + 1);
        assert_non_null(dst);

        same(&origins[i], dst, ngx_svc_uri_origin(dst, p, p + len));
        same(&origins[i], p, ngx_svc_uri_origin(p, p, p + len));

        free(p);
        free(dst);
    }
}


static void
test_path(void **state)
{
    size_t      len;
    u_char     *p, *dst;
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(paths); i++) {
        len = strlen(paths[i].text);
        p = exact(paths[i].text);
        dst = malloc(len + 1);
        assert_non_null(dst);

        same(&paths[i], dst, ngx_svc_uri_path(dst, p, p + len));

        free(p);
        free(dst);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_origin),
        cmocka_unit_test(test_path),
    };

    return cmocka_run_group_tests_name("uri", tests, NULL, NULL);
}
