/*
 * Texts that go to a directory, and that come from one.
 */

#include "ngx_unit.h"
#include "ngx_svc_ldap_text.h"


typedef struct {
    const char  *filter;
    const char  *email;
    const char  *filled;
} fill_t;


static ngx_str_t
str(const char *text)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return s;
}


static void
fills(void **state)
{
    size_t     i;
    ngx_str_t  filter, email;

    static const fill_t  rows[] = {
        { "(mail={email})", "ada@x.test", "(mail=ada@x.test)" },
        { "(uid={local})", "ada@x.test", "(uid=ada)" },
        { "(uid={local})", "a@b@x.test", "(uid=a@b)" },
        { "(uid={local})", "ada", "(uid=ada)" },
        { "(|(a={email})(b={email}))", "x@y", "(|(a=x@y)(b=x@y))" },
        { "(mail={email})", "*)(uid=*", "(mail=\\2a\\29\\28uid=\\2a)" },
        { "(mail={email})", "\\", "(mail=\\5c)" },
        { "(mail={email})", "\xc3\xbc@x", "(mail=\\c3\\bc@x)" },
        { "(mail={email})", "{email}", "(mail={email})" },
        { "(uid={local})", "{local}@x", "(uid={local})" },
        { "(mail={email})", "", "(mail=)" },
        { "{email}", "\xff\xff", "\\ff\\ff" },
        { "(a={email", "x", "(a={email" },
        { "(mail={email})", NULL, "(mail=*)" },
        { "(&(a=x)(uid={local}))", NULL, "(&(a=x)(uid=*))" }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        filter = str(rows[i].filter);
        email = str(rows[i].email ? rows[i].email : "");

        assert_string_equal(ngx_svc_ldap_filter_fill(*state, &filter,
                                                     rows[i].email ? &email
                                                                   : NULL),
                            rows[i].filled);
    }
}


/* Whatever the bytes are, they are one value, and come back as they were. */

static void
escapes(void **state)
{
    int         c;
    u_char      in[256], out[3 * 256], *p, *end, *q;
    ngx_str_t   value;

    for (c = 0; c < 256; c++) {
        in[c] = c;
    }

    value.data = in;
    value.len = 256;

    end = ngx_svc_ldap_escape(out, &value);

    for (p = out, c = 0; p < end; c++) {

        if (*p == '\\') {
            assert_int_equal(ngx_hextoi(p + 1, 2), c);
            p += 3;
            continue;
        }

        assert_int_equal(*p, c);
        q = (u_char *) strchr("()*\\", *p);
        assert_null(q);
        assert_in_range(*p, ' ', '~');
        p++;
    }

    assert_int_equal(c, 256);
    assert_ptr_equal(ngx_svc_ldap_escape_all(out, &value), out + 3 * 256);
}


static void
active_directory(void **state)
{
    u_char      bytes[] = { 1, 5, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0, 1, 2, 3, 4 };
    ngx_str_t   sid, value;

    assert_int_equal(ngx_svc_ldap_ad_code(
        "80090308: LdapErr: DSID-0C09042F, comment: AcceptSecurityContext "
        "error, data 52e, v2580"), 0x52e);
    assert_int_equal(ngx_svc_ldap_ad_code("data 773"), 0x773);
    assert_int_equal(ngx_svc_ldap_ad_code("data , v1"), 0);
    assert_int_equal(ngx_svc_ldap_ad_code("invalid"), 0);
    assert_int_equal(ngx_svc_ldap_ad_code(NULL), 0);
    assert_non_null(ngx_svc_ldap_ad_reason(0x532));
    assert_null(ngx_svc_ldap_ad_reason(0));

    value = str("0");
    assert_int_equal(ngx_svc_ldap_ad_expired(&value, 2000000000), 0);
    value = str("9223372036854775807");
    assert_int_equal(ngx_svc_ldap_ad_expired(&value, 2000000000), 0);
    value = str("116444736010000000");
    assert_int_equal(ngx_svc_ldap_ad_expired(&value, 1), 1);
    assert_int_equal(ngx_svc_ldap_ad_expired(&value, 0), 0);
    value = str("x");
    assert_int_equal(ngx_svc_ldap_ad_expired(&value, 2000000000), 0);

    sid.data = bytes;
    sid.len = sizeof(bytes);
    value = str("513");
    assert_int_equal(ngx_svc_ldap_sid_group(&sid, &value), NGX_OK);
    assert_memory_equal(bytes + 12, "\1\2\0\0", 4);
    value = str("4294967296");
    assert_int_equal(ngx_svc_ldap_sid_group(&sid, &value), NGX_DECLINED);
    sid.len = 13;
    value = str("513");
    assert_int_equal(ngx_svc_ldap_sid_group(&sid, &value), NGX_DECLINED);

    assert_int_equal(ngx_svc_ldap_range("0-1499"), 1500);
    assert_int_equal(ngx_svc_ldap_range("1500-*"), 0);
    assert_int_equal(ngx_svc_ldap_range("5-4"), 0);
    assert_int_equal(ngx_svc_ldap_range("-"), 0);
    assert_int_equal(ngx_svc_ldap_range(""), 0);
}


static void
shows(void **state)
{
    size_t       i;
    u_char       text[64], *end;
    ngx_str_t    value;

    static const struct {
        const char  *in;
        const char  *out;
        int          text;
    } rows[] = {
        { "uid=ada", "uid=ada", 1 },
        { "J\xc3\xb6rg", "J\xc3\xb6rg", 1 },
        { "a\nb\x1b", "a?b?", 0 },
        { "a\xff" "b", "a?b", 0 },
        { "a\xc3", "a", 0 },
        { "\xed\xa0\x80", "???", 0 },
        { "\xc2\x85", "??", 1 },
        { "", "", 1 }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        value = str(rows[i].in);
        assert_int_equal(ngx_svc_ldap_is_text(&value), rows[i].text);

        memcpy(text, value.data, value.len);
        end = ngx_svc_ldap_show(text, text + value.len);
        assert_int_equal(end - text, strlen(rows[i].out));
        assert_memory_equal(text, rows[i].out, end - text);
    }
}


int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fills, ngx_unit_setup,
                                        ngx_unit_teardown),
        cmocka_unit_test(escapes),
        cmocka_unit_test(active_directory),
        cmocka_unit_test(shows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
