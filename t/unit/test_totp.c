/*
 * Time-based one-time passwords, and the base 32 of their secrets.
 */

#include "ngx_unit.h"
#include "ngx_svc_base32.h"
#include "ngx_svc_totp.h"


#define SECRET  ((const u_char *) "12345678901234567890")


static ngx_int_t
verify(const char *code, time_t now, int64_t last_step, int64_t *step)
{
    ngx_str_t  text;

    text.data = (u_char *) code;
    text.len = strlen(code);

    return ngx_svc_totp_verify(SECRET, &text, now, last_step, step);
}


/* RFC 6238, appendix B: the last six of its eight digits. */

static const struct {
    time_t       now;
    const char  *code;
} vectors[] = {
    { 59, "287082" },
    { 1111111109, "081804" },
    { 1111111111, "050471" },
    { 1234567890, "005924" },
    { 2000000000, "279037" },
    { 20000000000, "353130" },
};


static void
test_vectors(void **state)
{
    int64_t     step;
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(vectors); i++) {
        step = -1;

        assert_int_equal(verify(vectors[i].code, vectors[i].now, 0, &step),
                         NGX_OK);
        assert_int_equal(step, vectors[i].now / 30);
    }
}


/* The code of 1111111109 is valid for the 30 seconds up to 1111111109. */

static void
test_window(void **state)
{
    time_t     now;
    int64_t    step;
    ngx_int_t  expected;

    for (now = 1111111080 - 90; now < 1111111080 + 120; now++) {
        expected = now >= 1111111080 - 30 && now < 1111111080 + 60
                   ? NGX_OK : NGX_DECLINED;
        step = -1;

        assert_int_equal(verify("081804", now, 0, &step), expected);
        assert_int_equal(step, expected == NGX_OK ? 37037036 : -1);
    }
}


static void
test_replay(void **state)
{
    int64_t  step;

    step = -1;

    assert_int_equal(verify("081804", 1111111109, 37037035, &step), NGX_OK);
    assert_int_equal(step, 37037036);

    /* the same step, and a step before the last one */

    step = -1;

    assert_int_equal(verify("081804", 1111111109, 37037036, &step),
                     NGX_DECLINED);
    assert_int_equal(verify("081804", 1111111111, 37037037, &step),
                     NGX_DECLINED);
    assert_int_equal(verify("081804", 1111111109, INT64_MAX, &step),
                     NGX_DECLINED);
    assert_int_equal(step, -1);
}


/* Steps 153567 and 153569 have the same code: it is valid for one sign-in. */

static void
test_same_code(void **state)
{
    int64_t  step;

    step = -1;

    assert_int_equal(verify("468457", 153568 * 30, 0, &step), NGX_OK);
    assert_int_equal(step, 153569);
    assert_int_equal(verify("468457", 153568 * 30, step, &step), NGX_DECLINED);
    assert_int_equal(verify("468457", 153569 * 30, step, &step), NGX_DECLINED);

    assert_int_equal(verify("468457", 153568 * 30, 153567, &step), NGX_OK);
    assert_int_equal(step, 153569);

    assert_int_equal(verify("468457", 153566 * 30, 0, &step), NGX_OK);
    assert_int_equal(step, 153567);
}


static void
test_shape(void **state)
{
    int64_t     step;
    ngx_str_t   text;
    ngx_uint_t  i;

    static ngx_str_t  bad[] = {
        ngx_string(""),
        ngx_string("81804"),
        ngx_string("0081804"),
        ngx_string("081804 "),
        ngx_string(" 081804"),
        ngx_string("+81804"),
        ngx_string("08180a"),
        ngx_string("08180\0"),
        ngx_string("08 804"),
        ngx_string("\xd9\xa0\xd9\xa8\xd9\xa1"),
        ngx_string("\xd9\xa0\xd9\xa8\xd9\xa1\xd9\xa8\xd9\xa0\xd9\xa4"),
    };

    for (i = 0; i < ngx_unit_len(bad); i++) {
        assert_int_equal(ngx_svc_totp_shaped(&bad[i]), 0);
        assert_int_equal(ngx_svc_totp_verify(SECRET, &bad[i], 1111111109, 0,
                                             &step),
                         NGX_DECLINED);
    }

    ngx_str_set(&text, "081804");
    assert_int_equal(ngx_svc_totp_shaped(&text), 1);
}


/* One digit is changed. */

static void
test_wrong(void **state)
{
    char        text[] = "081804";
    int64_t     step;
    ngx_uint_t  i, n;

    for (i = 0; i < 6; i++) {
        for (n = 0; n < 9; n++) {
            text[i] = text[i] == '9' ? '0' : text[i] + 1;
            assert_int_equal(verify(text, 1111111109, 0, &step),
                             NGX_DECLINED);
        }

        text[i] = text[i] == '9' ? '0' : text[i] + 1;
        assert_int_equal(verify(text, 1111111109, 0, &step), NGX_OK);
    }
}


/* RFC 4648, 10, without the padding. */

static void
test_base32(void **state)
{
    char        text[64];
    u_char     *end;
    ngx_uint_t  i;

    static const struct {
        const char  *data;
        const char  *text;
    } rows[] = {
        { "", "" },
        { "f", "MY" },
        { "fo", "MZXQ" },
        { "foo", "MZXW6" },
        { "foob", "MZXW6YQ" },
        { "fooba", "MZXW6YTB" },
        { "foobar", "MZXW6YTBOI" },
        { "12345678901234567890", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        end = ngx_svc_base32((u_char *) text, NGX_SVC_BASE32_RFC4648,
                             (u_char *) rows[i].data, strlen(rows[i].data));

        assert_int_equal(end - (u_char *) text,
                         ngx_svc_base32_len(strlen(rows[i].data)));
        *end = '\0';
        assert_string_equal(text, rows[i].text);
    }
}


static void
test_uri(void **state)
{
    ngx_str_t    uri, issuer, account;
    ngx_uint_t   i;
    ngx_pool_t  *pool = *state;

#define EURO  "\xe2\x82\xac"
#define EUROS  EURO EURO EURO EURO EURO EURO EURO
#define EURO_URI  "%E2%82%AC"
#define EURO_URIS  EURO_URI EURO_URI EURO_URI EURO_URI EURO_URI EURO_URI      \
                   EURO_URI
#define END  "&algorithm=SHA1&digits=6&period=30"
#define KEY  "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer="

    static const struct {
        const char  *issuer;
        const char  *account;
        const char  *uri;
    } rows[] = {
        { "Acme", "ada@acme.test",
          "otpauth://totp/Acme:ada%40acme.test" KEY "Acme" END },
        { "A:B & C/\"?#", "a+b@x.test",
          "otpauth://totp/A%3AB%20%26%20C%2F%22%3F%23:a%2Bb%40x.test"
          KEY "A%3AB%20%26%20C%2F%22%3F%23" END },

        /* 63 and 66 bytes: 64 are not a whole number of characters */

        { EUROS EUROS EUROS, "a",
          "otpauth://totp/" EURO_URIS EURO_URIS EURO_URIS ":a"
          KEY EURO_URIS EURO_URIS EURO_URIS END },
        { EUROS EUROS EUROS EURO, "a",
          "otpauth://totp/" EURO_URIS EURO_URIS EURO_URIS ":a"
          KEY EURO_URIS EURO_URIS EURO_URIS END },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        issuer.data = (u_char *) rows[i].issuer;
        issuer.len = strlen(rows[i].issuer);
        account.data = (u_char *) rows[i].account;
        account.len = strlen(rows[i].account);

        assert_int_equal(ngx_svc_totp_uri(pool, &issuer, &account, SECRET,
                                          &uri),
                         NGX_OK);
        assert_int_equal(uri.len, strlen(rows[i].uri));
        assert_memory_equal(uri.data, rows[i].uri, uri.len);
    }

    ngx_env_alloc_limit(0);
    assert_int_equal(ngx_svc_totp_uri(pool, &issuer, &account, SECRET, &uri),
                     NGX_ERROR);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_same_code),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_base32),
        ngx_unit_test(test_uri),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("totp", tests, NULL, NULL);
}
