/*
 * The filter of GET /Users, and the strings in it.
 */

#include "ngx_unit.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_text.h"


#define U   NGX_SVC_SCIM_CORE_URN
#define ANY  "userName eq "


typedef struct {
    const char             *text;
    ngx_svc_scim_filter_e   attribute;
    const char             *value;
} row_t;


typedef struct {
    const char             *text;
    size_t                  len;
    uint32_t                c;          /* 0: is not valid */
} character_t;


static const row_t  recognised[] = {

    { "userName eq \"a@b\"", NGX_SVC_SCIM_FILTER_USER_NAME, "a@b" },
    { "externalId eq \"x\"", NGX_SVC_SCIM_FILTER_EXTERNAL_ID, "x" },
    { "USERNAME EQ \"A@b\"", NGX_SVC_SCIM_FILTER_USER_NAME, "A@b" },
    { "externalid Eq \"x\"", NGX_SVC_SCIM_FILTER_EXTERNAL_ID, "x" },
    { U ":userName eq \"a\"", NGX_SVC_SCIM_FILTER_USER_NAME, "a" },
    { U ":externalId eq \"a\"", NGX_SVC_SCIM_FILTER_EXTERNAL_ID, "a" },
    { "URN:IETF:params:scim:schemas:CORE:2.0:user:USERname eQ \"a\"",
      NGX_SVC_SCIM_FILTER_USER_NAME, "a" },
    { "  userName  \t eq\t \"a\" \t ", NGX_SVC_SCIM_FILTER_USER_NAME, "a" },
    { ANY "\"\"", NGX_SVC_SCIM_FILTER_USER_NAME, "" },
    { ANY "\" a  b \"", NGX_SVC_SCIM_FILTER_USER_NAME, " a  b " },
    { ANY "\"a+b%20@c\"", NGX_SVC_SCIM_FILTER_USER_NAME, "a+b%20@c" },
    { ANY "\"a\\\"b\\\\c\\/d\"", NGX_SVC_SCIM_FILTER_USER_NAME,
      "a\"b\\c/d" },
    { ANY "\"\\b\\f\\n\\r\\t\"", NGX_SVC_SCIM_FILTER_USER_NAME,
      "\b\f\n\r\t" },
    { ANY "\"\\u0041\\u00e9\\u674E\\uFFFF\"", NGX_SVC_SCIM_FILTER_USER_NAME,
      "A\xc3\xa9\xe6\x9d\x8e\xef\xbf\xbf" },
    { ANY "\"\\ud800\\udc00\\uD83D\\uDE00\\udbff\\udfff\"",
      NGX_SVC_SCIM_FILTER_USER_NAME,
      "\xf0\x90\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf" },
    { ANY "\"Zo\xc3\xab \xe6\x9d\x8e \xf0\x9f\xa6\x80\x7f\"",
      NGX_SVC_SCIM_FILTER_USER_NAME,
      "Zo\xc3\xab \xe6\x9d\x8e \xf0\x9f\xa6\x80\x7f" },
    { ANY "\"' or 1=1 -- \"", NGX_SVC_SCIM_FILTER_USER_NAME,
      "' or 1=1 -- " },
    { ANY "\"a\\\" and externalId eq \\\"b\"",
      NGX_SVC_SCIM_FILTER_USER_NAME, "a\" and externalId eq \"b" },
};


static const char  *others[] = {

    "",
    " ",
    "userName",
    "userName ",
    "userName eq",
    "userName eq ",
    "eq",
    "eq \"a\"",
    "\"a\"",
    "userName \"a\"",
    "userName\"a\" eq \"a\"",
    "userName eq a@b",
    "userName eq a",
    "userName eq 'a'",
    "userName eq 5",
    "userName eq true",
    "userName eq null",
    "userName eq\"a\"",
    "userNameeq \"a\"",
    "userName e \"a\"",
    "userName eqq \"a\"",
    "userName ne \"a\"",
    "userName co \"a\"",
    "userName sw \"a\"",
    "userName ew \"a\"",
    "userName gt \"a\"",
    "userName pr",
    "userName eq \"a\" and active eq true",
    "userName eq \"a\" or userName eq \"b\"",
    "userName eq \"a\" \"b\"",
    "userName eq \"a\")",
    "(userName eq \"a\")",
    "not (userName eq \"a\")",
    "userName.x eq \"a\"",
    "userNames eq \"a\"",
    "user eq \"a\"",
    "id eq \"a\"",
    "displayName eq \"a\"",
    "emails eq \"a\"",
    "emails[type eq \"work\"].value eq \"a\"",
    ":userName eq \"a\"",
    U " eq \"a\"",
    U ": eq \"a\"",
    U ".userName eq \"a\"",
    U ":displayName eq \"a\"",
    NGX_SVC_SCIM_ENTERPRISE_URN ":userName eq \"a\"",
    "urn:x:userName eq \"a\"",
    "userName\neq\n\"a\"",

    /* strings that are not valid */

    ANY "\"",
    ANY "\"a",
    ANY "\"a\\",
    ANY "\"a\\\"",
    ANY "\"\\x\"",
    ANY "\"\\u\"",
    ANY "\"\\u12",
    ANY "\"\\u12\"",
    ANY "\"\\u12g4\"",
    ANY "\"\\u0000\"",
    ANY "\"\\ud83d\"",
    ANY "\"\\ud83dx\"",
    ANY "\"\\ud83dxxxxxx\"",
    ANY "\"\\ud83d\\nxxxx\"",
    ANY "\"\\ud83d\\u0041\"",
    ANY "\"\\ud83d\\ue000\"",
    ANY "\"\\ud83d\\ud83d\"",
    ANY "\"\\ud83d\\uzzzz\"",
    ANY "\"\\ude00\"",
    ANY "\"a\nb\"",
    ANY "\"a\x1f\"",
    ANY "\"\xff\"",
    ANY "\"\xc3\"",
    ANY "\"\xed\xa0\x80\"",
};


static const character_t  characters[] = {

    { "a", 1, 'a' },
    { "\x01", 1, 1 },
    { "\x7f", 1, 0x7f },
    { "\xc2\x80", 2, 0x80 },
    { "\xdf\xbf", 2, 0x7ff },
    { "\xe0\xa0\x80", 3, 0x800 },
    { "\xed\x9f\xbf", 3, 0xd7ff },
    { "\xee\x80\x80", 3, 0xe000 },
    { "\xef\xbf\xbf", 3, 0xffff },
    { "\xf0\x90\x80\x80", 4, 0x10000 },
    { "\xf4\x8f\xbf\xbf", 4, 0x10ffff },

    { "\0", 1, 0 },
    { "\x80", 1, 0 },
    { "\xbf", 1, 0 },
    { "\xc0\x80", 2, 0 },
    { "\xc1\xbf", 2, 0 },
    { "\xc2", 1, 0 },
    { "\xc2\x41", 2, 0 },
    { "\xc2\xc0", 2, 0 },
    { "\xe0\x9f\xbf", 3, 0 },
    { "\xe1\x80", 2, 0 },
    { "\xed\xa0\x80", 3, 0 },
    { "\xed\xbf\xbf", 3, 0 },
    { "\xf0\x8f\xbf\xbf", 4, 0 },
    { "\xf1\x80\x80", 3, 0 },
    { "\xf4\x90\x80\x80", 4, 0 },
    { "\xf5\x80\x80\x80", 4, 0 },
    { "\xff", 1, 0 },
};


/* In blocks of exactly their size, so that a read beyond them is found. */

static ngx_int_t
parse(ngx_pool_t *pool, const char *text, size_t len,
    ngx_svc_scim_filter_t *filter)
{
    u_char  *copy, *buf;

    copy = ngx_pnalloc(pool, len ? len : 1);
    buf = ngx_pnalloc(pool, len ? len : 1);

    assert_non_null(copy);
    assert_non_null(buf);

    ngx_memcpy(copy, text, len);
    memset(filter, 0xff, sizeof(ngx_svc_scim_filter_t));

    return ngx_svc_scim_filter_parse(copy, len, buf, filter);
}


static void
test_recognised(void **state)
{
    size_t                  len;
    ngx_uint_t              i;
    const row_t            *row;
    ngx_svc_scim_filter_t   filter;

    for (i = 0; i < ngx_unit_len(recognised); i++) {

        row = &recognised[i];
        len = strlen(row->text);

        if (parse(*state, row->text, len, &filter) != NGX_OK) {
            fail_msg("not recognised: %s", row->text);
        }

        if (filter.attribute != row->attribute
            || filter.value.len != strlen(row->value)
            || memcmp(filter.value.data, row->value, filter.value.len) != 0)
        {
            fail_msg("%s: %d \"%.*s\"", row->text, (int) filter.attribute,
                     (int) filter.value.len, filter.value.data);
        }
    }
}


static void
test_others(void **state)
{
    ngx_uint_t              i;
    ngx_svc_scim_filter_t   filter;

    for (i = 0; i < ngx_unit_len(others); i++) {

        if (parse(*state, others[i], strlen(others[i]), &filter)
            != NGX_DECLINED
            || filter.attribute != NGX_SVC_SCIM_FILTER_NONE
            || filter.value.len != 0)
        {
            fail_msg("recognised: %s", others[i]);
        }
    }

    assert_int_equal(parse(*state, ANY "\"a\0b\"", sizeof(ANY "\"a\0b\"") - 1,
                           &filter), NGX_DECLINED);
    assert_int_equal(parse(*state, "\0", 1, &filter), NGX_DECLINED);
}


/* A filter that is cut anywhere is not recognised. */

static void
test_cut(void **state)
{
    size_t                  len;
    ngx_uint_t              i;
    ngx_svc_scim_filter_t   filter;

    static const char  text[] = ANY "\"a\\\\\\u00e9\\ud83d\\ude00\xc3\xab\"";

    for (i = 0; i < ngx_unit_len(text) - 1; i++) {
        len = i;
        assert_int_equal(parse(*state, text, len, &filter), NGX_DECLINED);
    }

    assert_int_equal(parse(*state, text, sizeof(text) - 1, &filter), NGX_OK);
    assert_int_equal(filter.value.len, 10);
}


static void
test_characters(void **state)
{
    u_char             *copy;
    uint32_t            c;
    ngx_uint_t          i;
    const u_char       *p;
    const character_t  *row;

    for (i = 0; i < ngx_unit_len(characters); i++) {

        row = &characters[i];

        copy = ngx_pnalloc(*state, row->len);
        assert_non_null(copy);
        ngx_memcpy(copy, row->text, row->len);

        p = copy;
        c = ngx_svc_scim_decode(&p, copy + row->len);

        if (c != row->c || (c && p != copy + row->len)) {
            fail_msg("character %d: %x", (int) i, (unsigned) c);
        }
    }
}


static void
test_string_without_buffer(void **state)
{
    const u_char  *p;

    static const u_char  text[] = "\"a\\u00e9\\ud83d\\ude00\"rest";

    p = text;
    assert_int_equal(ngx_svc_scim_string(&p, text + sizeof(text) - 1, NULL),
                     7);
    assert_string_equal((char *) p, "rest");

    assert_int_equal(ngx_svc_scim_string(&p, p + 4, NULL), NGX_ERROR);
    assert_string_equal((char *) p, "rest");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_recognised),
        ngx_unit_test(test_others),
        ngx_unit_test(test_cut),
        ngx_unit_test(test_characters),
        ngx_unit_test(test_string_without_buffer),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("scim filter", tests, NULL, NULL);
}
