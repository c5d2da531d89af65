/*
 * Reading JSON: the tree after the check.
 */

#include "ngx_unit.h"
#include "ngx_svc_json.h"


static ngx_int_t
parse(ngx_pool_t *pool, const char *text, size_t len, cJSON **json,
    ngx_svc_error_t *err)
{
    ngx_str_t  str;

    str.data = (u_char *) text;
    str.len = len;

    *json = NULL;
    ngx_memzero(err, sizeof(ngx_svc_error_t));

    return ngx_svc_json_parse(pool, &str, json, err);
}


static void
test_parse(void **state)
{
    cJSON            *json, *list;
    ngx_svc_error_t   err;

    static const char  text[] =
        "{\"s\":\"a\\u00e9\\ud83d\\ude00\\\"\\n\",\"n\":-2.5e3,\"t\":true,"
        "\"f\":false,\"z\":null,\"l\":[1,2,3],\"\":\"empty\"} ";

    assert_int_equal(parse(*state, text, sizeof(text) - 1, &json, &err),
                     NGX_OK);

    assert_string_equal(cJSON_GetObjectItemCaseSensitive(json, "s")
                        ->valuestring,
                        "a\xc3\xa9\xf0\x9f\x98\x80\"\n");
    assert_true(cJSON_GetObjectItemCaseSensitive(json, "n")->valuedouble
                == -2500.0);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "t")));
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(json, "f")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(json, "z")));
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(json, "")
                        ->valuestring, "empty");

    list = cJSON_GetObjectItemCaseSensitive(json, "l");
    assert_int_equal(cJSON_GetArraySize(list), 3);
    assert_int_equal(list->child->next->valueint, 2);
}


static void
test_parse_refuses(void **state)
{
    cJSON            *json;
    ngx_uint_t        i;
    ngx_svc_error_t   err;

    static const struct {
        const char  *text;
        const char  *detail;
    } rows[] = {
        { "[]", "The body must be a JSON object." },
        { "[{}]", "The body must be a JSON object." },
        { "\"{}\"", "The body must be a JSON object." },
        { "1", "The body must be a JSON object." },
        { "true", "The body must be a JSON object." },
        { "null", "The body must be a JSON object." },
        { "", "The body is empty." },
        { "{", "The body is not valid JSON: a member's name is missing at byte 1." },
        { "{\"a\":1,\"b\":2,\"a\":3}",
          "An object has two members named \"a\"." },
        { "{\"a\":1,\"\\u0061\":1}",
          "An object has two members named \"a\"." },
        { "{\"\xc3\xa9\":1,\"\\u00e9\":1}",
          "An object has two members named \"\xc3\xa9\"." },
        { "{\"/\":1,\"\\/\":1}", "An object has two members named \"/\"." },
        { "{\"\":1,\"\":1}", "An object has two members named \"\"." },
        { "{\"x\":{\"y\":[1,{\"b\":1,\"b\":1}]}}",
          "An object has two members named \"b\"." },
        { "{\"x\":[[[{\"z\":{\"c\":1,\"d\":1,\"c\":null}}]]]}",
          "An object has two members named \"c\"." },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(parse(*state, rows[i].text, strlen(rows[i].text),
                               &json, &err), NGX_DECLINED);
        ngx_unit_error(&err, NGX_SVC_E_INVALID_SYNTAX, rows[i].detail,
                       rows[i].text);
        assert_null(json);
    }
}


/* Equal names in different objects, and names that only look equal. */

static void
test_not_duplicates(void **state)
{
    cJSON            *json;
    ngx_uint_t        i;
    ngx_svc_error_t   err;

    static const char  *rows[] = {
        "{\"a\":1,\"A\":1}",
        "{\"a\":{\"a\":{\"a\":1}}}",
        "{\"a\":[{\"a\":1},{\"a\":1}],\"b\":{\"a\":1}}",
        "{\"a\":1,\"a \":1,\"aa\":1,\"\":1}",
        "{\"\xc3\xa9\":1,\"e\xcc\x81\":1}",
        "{\"a\":\"a\",\"b\":\"a\"}",
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(parse(*state, rows[i], strlen(rows[i]), &json, &err),
                         NGX_OK);
        assert_non_null(json);
    }
}


static void
test_members(void **state)
{
    char             *text, *p;
    cJSON            *json;
    ngx_uint_t        n, i;
    ngx_svc_error_t   err;

    text = malloc(16 * (NGX_SVC_JSON_MAX_MEMBERS + 2));
    assert_non_null(text);

    for (n = NGX_SVC_JSON_MAX_MEMBERS; n < NGX_SVC_JSON_MAX_MEMBERS + 2; n++) {
        p = text;
        *p++ = '{';

        for (i = 0; i < n; i++) {
            p += sprintf(p, "\"%u\":1,", (unsigned) (i * 7919 % 65536));
        }

        p[-1] = '}';

        if (n == NGX_SVC_JSON_MAX_MEMBERS) {
            assert_int_equal(parse(*state, text, p - text, &json, &err),
                             NGX_OK);
            assert_int_equal(cJSON_GetArraySize(json), n);
            continue;
        }

        assert_int_equal(parse(*state, text, p - text, &json, &err),
                         NGX_DECLINED);
        ngx_unit_error(&err, NGX_SVC_E_INVALID_SYNTAX,
                       "An object has more than 1024 members.", "members");
    }

    free(text);
}


/* A failure in the middle leaves only memory of the pool. */

static void
test_no_memory(void **state)
{
    cJSON            *json;
    ngx_int_t         rc, n;
    ngx_svc_error_t   err;

    static const char  text[] = "{\"a\":[1,\"x\",{\"b\":null}],\"c\":\"d\"}";

    for (n = 0; n < 100; n++) {
        ngx_env_alloc_limit(n);

        rc = parse(*state, text, sizeof(text) - 1, &json, &err);

        ngx_env_alloc_limit(-1);

        if (rc == NGX_OK) {
            break;
        }

        assert_int_equal(rc, NGX_ERROR);
        assert_int_equal(err.kind, NGX_SVC_E_NONE);
        assert_null(json);

        /* the next parse works as before */

        assert_int_equal(parse(*state, text, sizeof(text) - 1, &json, &err),
                         NGX_OK);
    }

    assert_in_range(n, 10, 50);
}


/*
 * Other users of cJSON in the process use malloc(): the sanitizer checks leaks.
 */

static void
test_other_users(void **state)
{
    char             *text;
    cJSON            *json, *other;
    ngx_svc_error_t   err;

    other = cJSON_Parse("{\"other\":[\"x\"]}");
    assert_non_null(other);

    assert_int_equal(parse(*state, "{\"a\":\"b\"}", 9, &json, &err), NGX_OK);
    assert_int_equal(parse(*state, "{\"a\":\"b\"", 8, &json, &err),
                     NGX_DECLINED);

    text = cJSON_PrintUnformatted(other);
    assert_string_equal(text, "{\"other\":[\"x\"]}");

    cJSON_free(text);
    cJSON_Delete(other);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_parse),
        ngx_unit_test(test_parse_refuses),
        ngx_unit_test(test_not_duplicates),
        ngx_unit_test(test_members),
        ngx_unit_test(test_no_memory),
        ngx_unit_test(test_other_users),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("json_parse", tests, NULL, NULL);
}
