/*
 * Filters as SQL conditions: which of them have a statement of their own, and
 * which can use an index.
 */

#include "ngx_unit.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_filter_sql.h"


typedef struct {
    const char            *filter;
    ngx_svc_scim_where_e   kind;
    const char            *param;       /* $3; NULL: none */
} kind_t;


typedef struct {
    const char            *filter;
    const char            *first;
    ngx_uint_t             cheap;
} first_t;


#define WORK   "emails[type eq \"work\"]"
#define KEY    "account.user_name_key = svc.address_key($3::text)"
#define ID     "018f3a5c-7d7e-7000-8000-000000000001"


static const kind_t  kinds[] = {
    { "userName eq \"A\"", NGX_SVC_SCIM_WHERE_USER_NAME, "A" },
    { "emails eq \"a\"", NGX_SVC_SCIM_WHERE_USER_NAME, "a" },
    { "emails.value eq \"a\"", NGX_SVC_SCIM_WHERE_USER_NAME, "a" },
    { "emails[value eq \"a\"]", NGX_SVC_SCIM_WHERE_USER_NAME, "a" },
    { WORK ".value eq \"a\"", NGX_SVC_SCIM_WHERE_USER_NAME, "a" },
    { "((userName eq \"\\u0041\"))", NGX_SVC_SCIM_WHERE_USER_NAME, "A" },
    { "userName eq \"A\" or nickName eq \"b\"", NGX_SVC_SCIM_WHERE_USER_NAME,
      "A" },
    { "externalId eq \"a\"", NGX_SVC_SCIM_WHERE_EXTERNAL_ID, "a" },
    { "externalId eq \"\"", NGX_SVC_SCIM_WHERE_EXTERNAL_ID, "" },
    { "active eq true", NGX_SVC_SCIM_WHERE_ACTIVE, NULL },
    { "active ne \"False\"", NGX_SVC_SCIM_WHERE_ACTIVE, NULL },
    { "active eq FALSE", NGX_SVC_SCIM_WHERE_INACTIVE, NULL },
    { "active pr", NGX_SVC_SCIM_WHERE_ALL, NULL },
    { WORK, NGX_SVC_SCIM_WHERE_ALL, NULL },
    { "not (nickName pr)", NGX_SVC_SCIM_WHERE_ALL, NULL },
    { "title pr or userName pr", NGX_SVC_SCIM_WHERE_ALL, NULL },
    { "nickName eq \"a\"", NGX_SVC_SCIM_WHERE_NOBODY, NULL },
    { "id eq \"a\"", NGX_SVC_SCIM_WHERE_NOBODY, NULL },
    { "groups[not (value pr)]", NGX_SVC_SCIM_WHERE_NOBODY, NULL },
    { "title pr and active eq null", NGX_SVC_SCIM_WHERE_NOBODY, NULL },
    { "userName ne \"a\"", NGX_SVC_SCIM_WHERE_OTHER, "a" },
    { "externalId eq null", NGX_SVC_SCIM_WHERE_OTHER, NULL },
    { "not (active eq true)", NGX_SVC_SCIM_WHERE_OTHER, NULL },
    { "emails.type eq \"home\" or title eq \"a\"", NGX_SVC_SCIM_WHERE_OTHER,
      "a" },
};


static const first_t  firsts[] = {
    { "title pr", "true", 0 },
    { "userName co \"a\"", "true", 0 },
    { "not (userName eq \"a\")", "true", 0 },
    { "userName eq \"a\" and title pr", KEY, 1 },
    { "title pr and userName eq \"a\"", KEY, 1 },
    { "userName eq \"a\" or title pr", "true", 0 },
    { "userName eq \"a\" or externalId eq \"b\"",
      "(" KEY " OR account.external_id = $4::text)", 1 },
    { "userName gt \"a\" and externalId eq \"b\"",
      "account.external_id = $4::text",
      1 },
    { "externalId sw \"a\"", "(account.external_id >= ($3::text)"
      " AND account.external_id"
      " < ($3::text) || repeat(chr(1114111), 257))", 0 },
    { "userName sw \"a\"", "(account.user_name_key >= svc.address_key($3::text)"
      " AND account.user_name_key < svc.address_key($3::text)"
      " || repeat(chr(1114111), 257))",
      0 },
    { "id eq \"" ID "\" and active eq true", "account.id = $3::uuid", 1 },
    { "id sw \"0\"", "true", 0 },
    { "meta.created gt \"2026-01-01T00:00:00Z\"",
      "account.created_at > to_timestamp($3::text::float8 / 1000)", 0 },
    { "meta.created eq \"2026-01-01T00:00:00Z\" and title pr",
      "account.created_at = to_timestamp($3::text::float8 / 1000)", 0 },
    { "userName ge \"a\" and meta.created gt \"2026-01-01T00:00:00Z\"",
      "account.created_at > to_timestamp($4::text::float8 / 1000)", 0 },
    { "meta.lastModified gt \"2026-01-01T00:00:00Z\"", "true", 0 },
};


static ngx_int_t
compile(ngx_pool_t *pool, const char *text, ngx_svc_scim_where_t *where)
{
    ngx_str_t         filter;
    ngx_svc_error_t   err;
    static ngx_str_t  users = ngx_string("https://x/scim/v2/Users/");

    ngx_memzero(&err, sizeof(ngx_svc_error_t));

    filter.data = (u_char *) text;
    filter.len = strlen(text);

    return ngx_svc_scim_where(pool, &filter, &users, where, &err);
}


static void
test_kinds(void **state)
{
    size_t                 i;
    ngx_pool_t            *pool;
    ngx_svc_scim_where_t   where;

    pool = ngx_create_pool(4096, ngx_env_log());

    for (i = 0; i < sizeof(kinds) / sizeof(kind_t); i++) {
        print_message("%s\n", kinds[i].filter);

        assert_int_equal(compile(pool, kinds[i].filter, &where), NGX_OK);
        assert_int_equal(where.kind, kinds[i].kind);
        assert_int_equal(where.nparams, kinds[i].param != NULL);

        if (kinds[i].param) {
            assert_int_equal(where.params[0].len, strlen(kinds[i].param));
            assert_memory_equal(where.params[0].data, kinds[i].param,
                                where.params[0].len);
        }
    }

    ngx_destroy_pool(pool);
}


static void
test_firsts(void **state)
{
    size_t                 i;
    ngx_pool_t            *pool;
    ngx_svc_scim_where_t   where;

    pool = ngx_create_pool(4096, ngx_env_log());

    for (i = 0; i < sizeof(firsts) / sizeof(first_t); i++) {
        print_message("%s\n", firsts[i].filter);

        assert_int_equal(compile(pool, firsts[i].filter, &where), NGX_OK);
        assert_int_equal(where.cheap, firsts[i].cheap);
        assert_int_equal(where.first.len, strlen(firsts[i].first));
        assert_memory_equal(where.first.data, firsts[i].first,
                            where.first.len);
    }

    ngx_destroy_pool(pool);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_kinds),
        ngx_unit_test(test_firsts),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("scim filter sql", tests, NULL, NULL);
}
