/*
 * LDAP search filters.
 */

#include "ngx_unit.h"
#include "ngx_svc_ldap_filter.h"


static ngx_str_t  mark = ngx_string("{email}");


/* Returns the number of marks; -1: it is not a filter. */

static int
parsed(const char *text, size_t len, size_t *at)
{
    ngx_str_t   filter;
    ngx_uint_t  marks;

    filter.data = (u_char *) text;
    filter.len = len;

    return ngx_svc_ldap_filter_parse(&filter, &mark, &marks, at) == NGX_OK
           ? (int) marks : -1;
}


static const struct {
    const char  *text;
    int          marks;
} good[] = {
    { "(mail={email})", 1 },
    { "(mail=*{email}*)", 1 },
    { "(&(objectClass=person)(mail={email}))", 1 },
    { "(|(mail={email})(proxyAddresses=smtp:{email}))", 2 },
    { "(!(mail={email}))", 1 },
    { "(&(|(a=1)(b>=2)(c<=3)(d~=4))(!(e=*)))", 0 },
    { "(mail;lang-en=x)", 0 },
    { "(1.2.840.113556.1.4.803=x)", 0 },
    { "(userAccountControl:1.2.840.113556.1.4.803:=2)", 0 },
    { "(cn:dn:={email})", 1 },
    { "(cn:DN:2.4.6.8.10:=x)", 0 },
    { "(:caseExactMatch:=x)", 0 },
    { "(:dn:2.4.6.8.10:=x)", 0 },
    { "(cn=\\2a\\28\\5C)", 0 },
    { "(cn=)", 0 },
    { "(cn=a=b:c~<>&|!)", 0 },
    { "(cn=\xc3\xbc)", 0 },
    { "(cn={email}{email})", 2 },
    { "(cn={Email})", 0 },
    { "(cn={email)", 0 },
};

static const struct {
    const char  *text;
    size_t       at;
} bad[] = {
    { "", 0 },
    { "mail={email}", 0 },
    { "(mail={email}", 13 },
    { "(mail={email}))", 14 },
    { "(mail={email})x", 14 },
    { " (mail={email})", 0 },
    { "((mail={email}))", 1 },
    { "()", 1 },
    { "(&)", 2 },
    { "(!)", 2 },
    { "(!(a=b)(c=d))", 7 },
    { "(&(a=b)c=d)", 7 },
    { "({email}=x)", 1 },
    { "(=x)", 1 },
    { "(-a=x)", 1 },
    { "(a b=x)", 2 },
    { "(a~x)", 3 },
    { "(a>*)", 3 },
    { "(a>=*)", 4 },
    { "(a=b(c)", 4 },
    { "(a=\\2)", 3 },
    { "(a=\\zz)", 3 },
    { "(a=\\", 3 },
    { "(a:=*)", 4 },
    { "(:=x)", 3 },
    { "(:dn:=x)", 6 },
    { "(a:dn:dn:x:=y)", 10 },
    { "(a::=y)", 3 },
    { "(a:b", 4 },
};


static void
test_good(void **state)
{
    size_t      at;
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(good); i++) {
        assert_int_equal(parsed(good[i].text, strlen(good[i].text), &at),
                         good[i].marks);
        assert_int_equal(at, strlen(good[i].text));
    }
}


static void
test_bad(void **state)
{
    size_t      at;
    ngx_uint_t  i;

    for (i = 0; i < ngx_unit_len(bad); i++) {
        assert_int_equal(parsed(bad[i].text, strlen(bad[i].text), &at), -1);
        assert_int_equal(at, bad[i].at);
    }

    assert_int_equal(parsed("(a=\0)", 5, &at), -1);
}


/* A filter that is cut anywhere is invalid, and the error is at its end. */

static void
test_beginnings(void **state)
{
    size_t       at, len;
    const char  *text;

    text = "(&(|(cn:dn:2.4:=x)(b>=2))(!(mail=*{email}\\2a)))";

    for (len = 0; len < strlen(text); len++) {
        assert_int_equal(parsed(text, len, &at), -1);
        assert_true(at <= len);
    }

    assert_int_equal(parsed(text, len, &at), 1);
}


static void
test_depth(void **state)
{
    char        text[4096], *p;
    size_t      at;
    ngx_uint_t  i, n;

    for (n = NGX_SVC_LDAP_FILTER_DEPTH - 1;
         n <= NGX_SVC_LDAP_FILTER_DEPTH;
         n++)
    {
        p = text;

        for (i = 0; i < n; i++) {
            p += sprintf(p, "(!");
        }

        p += sprintf(p, "(a=b)");

        for (i = 0; i < n; i++) {
            *p++ = ')';
        }

        assert_int_equal(parsed(text, p - text, &at),
                         n < NGX_SVC_LDAP_FILTER_DEPTH ? 0 : -1);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_depth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
