/*
 * Validation tables.
 */

#include "ngx_unit.h"
#include "ngx_svc_schema.h"


#define A10   "aaaaaaaaaa"
#define A100  A10 A10 A10 A10 A10 A10 A10 A10 A10 A10


typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  nick;
    ngx_svc_value_t  active;
    ngx_svc_value_t  count;
    ngx_svc_value_t  big;
    ngx_svc_value_t  given;
    ngx_svc_value_t  rules;
    ngx_svc_value_t  any;
    ngx_svc_value_t  mode;
    ngx_svc_value_t  pair;
    ngx_svc_value_t  title;
} dst_t;


typedef struct {
    const char  *text;
    const char  *detail;
} row_t;


static ngx_int_t check_mode(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


static const ngx_svc_member_t  network = {
    ngx_null_string, NGX_SVC_T_STRING, 0, 1, 100, NULL, NULL, NULL, 0
};


static const ngx_svc_member_t  mode = {
    ngx_null_string, NGX_SVC_T_STRING, 0, 1, 20, check_mode, NULL, NULL, 0
};


static const ngx_svc_member_t  rule_members[] = {

    { ngx_string("action"), NGX_SVC_T_STRING, NGX_SVC_M_REQUIRED, 1, 20,
      NULL, NULL, NULL, 0 },

    { ngx_string("networks"), NGX_SVC_T_ARRAY, 0, 1, 3,
      NULL, NULL, &network, 0 },

    { ngx_string("one"), NGX_SVC_T_STRING, 0, 0, 1,
      NULL, NULL, NULL, 0 },

    { ngx_string("modes"), NGX_SVC_T_ARRAY|NGX_SVC_T_NULL, 0, 0, 0,
      NULL, NULL, &mode, 0 },

    ngx_svc_null_member
};


static const ngx_svc_member_t  name_members[] = {

    { ngx_string("givenName"), NGX_SVC_T_STRING,
      NGX_SVC_M_NOCASE|NGX_SVC_M_CLEARS, 1, 10,
      NULL, NULL, NULL, offsetof(dst_t, given) },

    { ngx_string("deep"), NGX_SVC_T_OBJECT, 0, 0, 0,
      NULL, rule_members, NULL, offsetof(dst_t, any) },

    ngx_svc_null_member
};


static const ngx_svc_member_t  table[] = {

    { ngx_string("userName"), NGX_SVC_T_STRING,
      NGX_SVC_M_REQUIRED|NGX_SVC_M_NOCASE, 1, 10,
      NULL, NULL, NULL, offsetof(dst_t, name) },

    { ngx_string("nick"), NGX_SVC_T_STRING|NGX_SVC_T_NULL, 0, 0, 0,
      NULL, NULL, NULL, offsetof(dst_t, nick) },

    { ngx_string("active"), NGX_SVC_T_BOOLEAN, NGX_SVC_M_BOOL_TEXT, 0, 0,
      NULL, NULL, NULL, offsetof(dst_t, active) },

    { ngx_string("count"), NGX_SVC_T_INTEGER, 0, -5, 500,
      NULL, NULL, NULL, offsetof(dst_t, count) },

    { ngx_string("big"), NGX_SVC_T_INTEGER, 0, 0, 0,
      NULL, NULL, NULL, offsetof(dst_t, big) },

    { ngx_string("name"), NGX_SVC_T_OBJECT, NGX_SVC_M_NOCASE, 0, 0,
      NULL, name_members, NULL, offsetof(dst_t, any) },

    { ngx_string("rules"), NGX_SVC_T_ARRAY, 0, 0, 4,
      NULL, rule_members, NULL, offsetof(dst_t, rules) },

    { ngx_string("mode"), NGX_SVC_T_STRING|NGX_SVC_T_NULL, 0, 0, 0,
      check_mode, NULL, NULL, offsetof(dst_t, mode) },

    { ngx_string("pair"), NGX_SVC_T_ARRAY|NGX_SVC_T_BOOLEAN, 0, 2, 2,
      NULL, NULL, NULL, offsetof(dst_t, pair) },

    { ngx_string("title"), NGX_SVC_T_STRING|NGX_SVC_T_ARRAY,
      NGX_SVC_M_CLEARS, 2, INT64_MAX,
      NULL, NULL, NULL, offsetof(dst_t, title) },

    ngx_svc_null_member
};


static ngx_int_t
check_mode(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    assert_int_equal(value->set, 1);
    assert_int_equal(value->null, 0);
    assert_true(member->check == check_mode);

    if (strcmp((char *) value->str.data, "bad") == 0) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE, "%s is bad", path);
    }

    if (strcmp((char *) value->str.data, "broken") == 0) {
        return NGX_ERROR;
    }

    /* a check can change the value that is stored */

    value->integer = 77;

    return NGX_OK;
}


static cJSON *
parse(ngx_pool_t *pool, const char *text)
{
    cJSON            *json;
    ngx_str_t         body;
    ngx_svc_error_t   err;

    body.data = (u_char *) text;
    body.len = strlen(text);
    ngx_memzero(&err, sizeof(err));

    if (ngx_svc_json_parse(pool, &body, &json, &err) != NGX_OK) {
        fail_msg("%s: %.*s", text, (int) err.len, err.detail);
    }

    return json;
}


static ngx_int_t
validate(ngx_pool_t *pool, ngx_uint_t flags, const char *text, dst_t *dst,
    ngx_svc_error_t *err)
{
    ngx_memzero(dst, sizeof(dst_t));
    ngx_memzero(err, sizeof(ngx_svc_error_t));

    return ngx_svc_schema_object(table, flags, parse(pool, text), dst, err);
}


static void
rows_are(ngx_pool_t *pool, ngx_uint_t flags, const row_t *row, ngx_uint_t n)
{
    dst_t             dst;
    ngx_int_t         rc;
    ngx_svc_error_t   err;

    for ( /* void */ ; n > 0; row++, n--) {
        rc = validate(pool, flags, row->text, &dst, &err);

        ngx_unit_error(&err, row->detail ? NGX_SVC_E_INVALID_VALUE
                                         : NGX_SVC_E_NONE,
                       row->detail ? row->detail : "", row->text);
        assert_int_equal(rc, row->detail ? NGX_DECLINED : NGX_OK);
    }
}


static void
test_messages(void **state)
{
    static const row_t  rows[] = {

        { "{\"userName\":\"x\"}", NULL },
        { "{\"USERNAME\":\"" A10 "\"}", NULL },
        { "{}", "\"userName\" is required." },
        { "{\"user_name\":\"x\"}", "\"userName\" is required." },
        { "{\"userNam\":\"x\"}", "\"userName\" is required." },
        { "{\"userName\":\"\"}",
          "\"userName\" must be a string of 1 to 10 bytes." },
        { "{\"userName\":\"" A10 "a\"}",
          "\"userName\" must be a string of 1 to 10 bytes." },
        { "{\"userName\":\"\\u20ac\\u20ac\\u20aca\"}", NULL },
        { "{\"userName\":\"\\u20ac\\u20ac\\u20acaa\"}",
          "\"userName\" must be a string of 1 to 10 bytes." },
        { "{\"userName\":null}",
          "\"userName\" must be a string of 1 to 10 bytes." },
        { "{\"userName\":1}",
          "\"userName\" must be a string of 1 to 10 bytes." },
        { "{\"userName\":{}}",
          "\"userName\" must be a string of 1 to 10 bytes." },
        { "{\"username\":[\"x\"]}",
          "\"userName\" must be a string of 1 to 10 bytes." },
        { "{\"userName\":\"x\",\"username\":\"y\"}",
          "\"userName\" is given more than once." },

        { "{\"userName\":\"x\",\"nick\":\"\"}", NULL },
        { "{\"userName\":\"x\",\"nick\":\"" A100 "\"}", NULL },
        { "{\"userName\":\"x\",\"nick\":null}", NULL },
        { "{\"userName\":\"x\",\"NICK\":1}", NULL },
        { "{\"userName\":\"x\",\"nick\":1}",
          "\"nick\" must be a string or null." },

        { "{\"userName\":\"x\",\"active\":true}", NULL },
        { "{\"userName\":\"x\",\"active\":\"False\"}", NULL },
        { "{\"userName\":\"x\",\"active\":\"TRUE\"}", NULL },
        { "{\"userName\":\"x\",\"active\":\"yes\"}",
          "\"active\" must be true or false." },
        { "{\"userName\":\"x\",\"active\":\"true \"}",
          "\"active\" must be true or false." },
        { "{\"userName\":\"x\",\"active\":\"tru\"}",
          "\"active\" must be true or false." },
        { "{\"userName\":\"x\",\"active\":\"\"}",
          "\"active\" must be true or false." },
        { "{\"userName\":\"x\",\"active\":1}",
          "\"active\" must be true or false." },
        { "{\"userName\":\"x\",\"active\":null}",
          "\"active\" must be true or false." },

        { "{\"userName\":\"x\",\"count\":-5}", NULL },
        { "{\"userName\":\"x\",\"count\":5e2}", NULL },
        { "{\"userName\":\"x\",\"count\":40.0}", NULL },
        { "{\"userName\":\"x\",\"count\":40.5}",
          "\"count\" must be an integer from -5 to 500." },
        { "{\"userName\":\"x\",\"count\":-6}",
          "\"count\" must be an integer from -5 to 500." },
        { "{\"userName\":\"x\",\"count\":501}",
          "\"count\" must be an integer from -5 to 500." },
        { "{\"userName\":\"x\",\"count\":1e308}",
          "\"count\" must be an integer from -5 to 500." },
        { "{\"userName\":\"x\",\"count\":\"5\"}",
          "\"count\" must be an integer from -5 to 500." },
        { "{\"userName\":\"x\",\"count\":true}",
          "\"count\" must be an integer from -5 to 500." },
        { "{\"userName\":\"x\",\"big\":9007199254740991}", NULL },
        { "{\"userName\":\"x\",\"big\":-9007199254740991}", NULL },
        { "{\"userName\":\"x\",\"big\":9007199254740993}",
          "\"big\" must be an integer." },
        { "{\"userName\":\"x\",\"big\":-9007199254740993}",
          "\"big\" must be an integer." },
        { "{\"userName\":\"x\",\"big\":1e300}",
          "\"big\" must be an integer." },
        { "{\"userName\":\"x\",\"big\":1e-300}",
          "\"big\" must be an integer." },

        { "{\"userName\":\"x\",\"name\":{}}", NULL },
        { "{\"userName\":\"x\",\"NAME\":{\"GIVENNAME\":\"y\"}}", NULL },
        { "{\"userName\":\"x\",\"name\":\"y\"}",
          "\"name\" must be an object." },
        { "{\"userName\":\"x\",\"name\":[]}", "\"name\" must be an object." },
        { "{\"userName\":\"x\",\"Name\":{\"GivenName\":1}}",
          "\"name.givenName\" must be a string of 1 to 10 bytes or null." },
        { "{\"userName\":\"x\",\"name\":{\"givenName\":[1]}}",
          "\"name.givenName\" must be a string of 1 to 10 bytes or null." },
        { "{\"userName\":\"x\",\"name\":{\"givenName\":\"1\","
          "\"givenname\":\"2\"}}",
          "\"name.givenName\" is given more than once." },
        { "{\"userName\":\"x\",\"name\":{\"deep\":{\"action\":\"a\","
          "\"networks\":[\"\"]}}}",
          "\"name.deep.networks[0]\" must be a string of 1 to 100 bytes." },

        { "{\"userName\":\"x\",\"rules\":[]}", NULL },
        { "{\"userName\":\"x\",\"rules\":[{\"action\":\"a\"}]}", NULL },
        { "{\"userName\":\"x\",\"rules\":{}}",
          "\"rules\" must be an array of 0 to 4 elements." },
        { "{\"userName\":\"x\",\"rules\":[1,2,3,4,5]}",
          "\"rules\" must be an array of 0 to 4 elements." },
        { "{\"userName\":\"x\",\"rules\":[{\"action\":\"a\"},1]}",
          "\"rules[1]\" must be an object." },
        { "{\"userName\":\"x\",\"rules\":[{}]}",
          "\"rules[0].action\" is required." },
        { "{\"userName\":\"x\",\"rules\":[{\"action\":\"a\"},"
          "{\"action\":\"a\"},{\"action\":\"a\",\"networks\":[\"\"]}]}",
          "\"rules[2].networks[0]\" must be a string of 1 to 100 bytes." },
        { "{\"userName\":\"x\",\"rules\":[{\"action\":\"a\","
          "\"networks\":[\"a\",\"" A100 "\",\"" A100 "b\"]}]}",
          "\"rules[0].networks[2]\" must be a string of 1 to 100 bytes." },
        { "{\"userName\":\"x\",\"rules\":[{\"action\":\"a\","
          "\"networks\":[]}]}",
          "\"rules[0].networks\" must be an array of 1 to 3 elements." },
        { "{\"userName\":\"x\",\"rules\":[{\"action\":\"a\","
          "\"modes\":[]},{\"action\":\"a\",\"modes\":null}]}", NULL },
        { "{\"userName\":\"x\",\"rules\":[{\"action\":\"a\","
          "\"modes\":[\"good\",\"bad\"]}]}",
          "rules[0].modes[1] is bad" },
        { "{\"userName\":\"x\",\"rules\":[{\"action\":\"a\","
          "\"modes\":0}]}",
          "\"rules[0].modes\" must be an array or null." },

        { "{\"userName\":\"x\",\"rules\":[{\"action\":\"a\","
          "\"one\":\"ab\"}]}",
          "\"rules[0].one\" must be a string of 0 to 1 byte." },

        { "{\"userName\":\"x\",\"mode\":\"good\"}", NULL },
        { "{\"userName\":\"x\",\"mode\":null}", NULL },
        { "{\"userName\":\"x\",\"mode\":\"bad\"}", "mode is bad" },

        { "{\"userName\":\"x\",\"pair\":[1,2]}", NULL },
        { "{\"userName\":\"x\",\"pair\":[1]}",
          "\"pair\" must be true or false or an array of 2 elements." },
        { "{\"userName\":\"x\",\"pair\":\"true\"}",
          "\"pair\" must be true or false or an array of 2 elements." },

        { "{\"userName\":\"x\",\"title\":\"\"}", NULL },
        { "{\"userName\":\"x\",\"title\":[]}", NULL },
        { "{\"userName\":\"x\",\"title\":null}", NULL },
        { "{\"userName\":\"x\",\"title\":\"xy\"}", NULL },
        { "{\"userName\":\"x\",\"title\":\"x\"}",
          "\"title\" must be a string of at least 2 bytes or an array of at"
          " least 2 elements or null." },

        { "{\"userName\":\"x\",\"other\":{\"a\":[1,2]},\"\":1}", NULL },
    };

    rows_are(*state, 0, rows, ngx_unit_len(rows));
}


static void
test_strict(void **state)
{
    static const row_t  rows[] = {

        { "{\"userName\":\"x\"}", NULL },
        { "{\"username\":\"x\",\"NAME\":{\"givenname\":\"x\"},"
          "\"rules\":[{\"action\":\"a\"}]}", NULL },
        { "{\"userName\":\"x\",\"other\":1}",
          "\"other\" is not a known member." },
        { "{\"userName\":\"x\",\"\":1}", "\"\" is not a known member." },
        { "{\"userName\":\"x\",\"Nick\":\"x\"}",
          "\"Nick\" is not a known member." },
        { "{\"userName\":\"x\",\"userNames\":\"x\"}",
          "\"userNames\" is not a known member." },
        { "{\"userName\":\"x\",\"name\":{\"givenName\":\"x\",\"x\":{}}}",
          "\"name.x\" is not a known member." },
        { "{\"userName\":\"x\",\"rules\":[{\"action\":\"a\"},"
          "{\"action\":\"a\",\"acton\":1}]}",
          "\"rules[1].acton\" is not a known member." },

        /*
         * the name is cut at 256 bytes, before the character that would be
         * halved
         */

        { "{\"" A100 A100 A10 A10 A10 A10 A10 "aaaaa\\u20ac\":1}",
          "\"" A100 A100 A10 A10 A10 A10 A10 "aaaaa\" is not a known"
          " member." },
        { "{\"" A100 A100 A10 A10 A10 A10 A10 "aaaaa\\u00e9\":1}",
          "\"" A100 A100 A10 A10 A10 A10 A10 "aaaaa\" is not a known"
          " member." },
        { "{\"" A100 A100 A10 A10 A10 A10 A10 "aaa\\u20ac\":1}",
          "\"" A100 A100 A10 A10 A10 A10 A10 "aaa\xe2\x82\xac\" is not a known"
          " member." },
        { "{\"userName\":\"x\",\"name\":{\"" A100 A100 A100 A100 "\":1}}",
          "\"name." A100 A100 A10 A10 A10 A10 A10 "a\" is not a known"
          " member." },
    };

    rows_are(*state, NGX_SVC_S_STRICT, rows, ngx_unit_len(rows));
}


static void
test_values(void **state)
{
    dst_t             dst;
    ngx_svc_error_t   err;

    assert_int_equal(validate(*state, 0,
        "{\"USERNAME\":\"jane\",\"active\":\"True\",\"count\":40.0,"
        "\"big\":-9007199254740991,\"name\":{\"GivenName\":\"J\"},"
        "\"rules\":[{\"action\":\"a\"}],\"mode\":\"m\",\"pair\":true,"
        "\"title\":\"\"}", &dst, &err), NGX_OK);

    assert_int_equal(dst.name.set, 1);
    assert_int_equal(dst.name.null, 0);
    assert_int_equal(dst.name.str.len, 4);
    assert_string_equal((char *) dst.name.str.data, "jane");
    assert_ptr_equal(dst.name.str.data, dst.name.json->valuestring);

    assert_int_equal(dst.nick.set, 0);
    assert_null(dst.nick.json);

    assert_int_equal(dst.active.set, 1);
    assert_int_equal(dst.active.integer, 1);

    assert_int_equal(dst.count.integer, 40);
    assert_true(dst.big.integer == -9007199254740991);

    assert_string_equal((char *) dst.given.str.data, "J");
    assert_true(cJSON_IsObject(dst.any.json));

    assert_int_equal(dst.rules.set, 1);
    assert_true(cJSON_IsArray(dst.rules.json));

    assert_int_equal(dst.mode.integer, 77);
    assert_int_equal(dst.pair.integer, 1);

    assert_int_equal(dst.title.set, 1);
    assert_int_equal(dst.title.null, 1);
    assert_int_equal(dst.title.str.len, 0);

    assert_int_equal(validate(*state, 0,
        "{\"userName\":\"a\",\"active\":\"fALSE\",\"count\":-0.0,"
        "\"nick\":null,\"mode\":null,\"pair\":false,\"title\":[],"
        "\"name\":{\"givenName\":null}}", &dst, &err), NGX_OK);

    assert_int_equal(dst.active.set, 1);
    assert_int_equal(dst.active.integer, 0);
    assert_int_equal(dst.count.set, 1);
    assert_int_equal(dst.count.integer, 0);
    assert_int_equal(dst.nick.set, 1);
    assert_int_equal(dst.nick.null, 1);
    assert_int_equal(dst.mode.null, 1);
    assert_int_equal(dst.mode.integer, 0);
    assert_int_equal(dst.pair.set, 1);
    assert_int_equal(dst.pair.integer, 0);
    assert_int_equal(dst.title.null, 1);
    assert_int_equal(dst.given.set, 1);
    assert_int_equal(dst.given.null, 1);
}


static void
test_one_value(void **state)
{
    char                     path[400];
    cJSON                   *json;
    dst_t                    dst;
    ngx_svc_error_t          err;
    const ngx_svc_member_t  *rules;

    rules = &table[6];

    json = parse(*state, "{\"rules\":[{\"action\":\"a\",\"x\":1}]}")->child;

    ngx_memzero(&dst, sizeof(dst));
    ngx_memzero(&err, sizeof(err));

    assert_int_equal(ngx_svc_schema_value(rules, json, "config.rules", &dst,
                                          &err), NGX_OK);
    assert_ptr_equal(dst.rules.json, json);

    assert_int_equal(ngx_svc_schema_value(rules, json, "config.rules", NULL,
                                          &err), NGX_OK);

    json = parse(*state, "{\"rules\":[{}]}")->child;

    assert_int_equal(ngx_svc_schema_value(rules, json, "config.rules", &dst,
                                          &err), NGX_DECLINED);
    ngx_unit_error(&err, NGX_SVC_E_INVALID_VALUE,
                   "\"config.rules[0].action\" is required.", "value");

    /* a name from the caller that is too long */

    memset(path, 'p', sizeof(path));
    path[254] = '\xe2';
    path[255] = '\x82';
    path[256] = '\xac';
    path[399] = '\0';

    ngx_memzero(&err, sizeof(err));

    assert_int_equal(ngx_svc_schema_value(&table[0], json, path, &dst, &err),
                     NGX_DECLINED);

    memcpy(path + 254, "\" must", sizeof("\" must"));
    assert_memory_equal(err.detail + 1, path, 260);
}


/* A check's NGX_ERROR is not reported as the client's mistake. */

static void
test_check_fails(void **state)
{
    dst_t             dst;
    ngx_svc_error_t   err;

    assert_int_equal(validate(*state, 0,
                              "{\"userName\":\"x\",\"mode\":\"broken\"}",
                              &dst, &err), NGX_ERROR);
    assert_int_equal(err.kind, NGX_SVC_E_NONE);

    assert_int_equal(validate(*state, 0,
                              "{\"userName\":\"x\",\"rules\":[{\"action\":"
                              "\"a\",\"modes\":[\"broken\"]}]}", &dst, &err),
                     NGX_ERROR);
    assert_int_equal(err.kind, NGX_SVC_E_NONE);
}


static void
test_required_clears(void **state)
{
    ngx_uint_t        i;
    ngx_svc_value_t   value;
    ngx_svc_error_t   err;

    static const ngx_svc_member_t  members[] = {
        { ngx_string("a"), NGX_SVC_T_STRING,
          NGX_SVC_M_REQUIRED|NGX_SVC_M_CLEARS, 0, 0, NULL, NULL, NULL, 0 },
        ngx_svc_null_member
    };

    static const ngx_svc_member_t  nullable[] = {
        { ngx_string("a"), NGX_SVC_T_STRING|NGX_SVC_T_NULL,
          NGX_SVC_M_REQUIRED, 0, 0, NULL, NULL, NULL, 0 },
        ngx_svc_null_member
    };

    static const char  *texts[] = {
        "{\"a\":null}", "{\"a\":\"\"}", "{\"a\":[]}", "{}"
    };

    for (i = 0; i < ngx_unit_len(texts); i++) {
        ngx_memzero(&err, sizeof(err));

        assert_int_equal(ngx_svc_schema_object(members, 0,
                                               parse(*state, texts[i]),
                                               &value, &err), NGX_DECLINED);
        ngx_unit_error(&err, NGX_SVC_E_INVALID_VALUE, "\"a\" is required.",
                       texts[i]);
    }

    ngx_memzero(&err, sizeof(err));

    assert_int_equal(ngx_svc_schema_object(nullable, 0,
                                           parse(*state, texts[0]), &value,
                                           &err), NGX_OK);
    assert_int_equal(value.null, 1);
}


static void
test_blank(void **state)
{
    ngx_uint_t        i, flags;
    ngx_svc_value_t   value;
    ngx_svc_error_t   err;

    ngx_svc_member_t  members[] = {
        { ngx_string("a"), NGX_SVC_T_TEXT, NGX_SVC_M_CLEARS, 0, 9,
          NULL, NULL, NULL, 0 },
        ngx_svc_null_member
    };

    static const char  *texts[] = {
        "{\"a\":\"\"}", "{\"a\":\" \"}", "{\"a\":\" \\t\\r\\n \"}"
    };

    for (flags = 0; flags <= NGX_SVC_M_CLEARS; flags += NGX_SVC_M_CLEARS) {
        members[0].flags = flags;

        for (i = 0; i < ngx_unit_len(texts); i++) {
            ngx_memzero(&err, sizeof(err));

            assert_int_equal(ngx_svc_schema_object(members, 0,
                                                   parse(*state, texts[i]),
                                                   &value, &err), NGX_OK);
            assert_int_equal(value.set, 1);
            assert_int_equal(value.null, flags != 0);
            assert_int_equal(value.str.len, 0);
        }
    }

    members[0].type = NGX_SVC_T_STRING;

    assert_int_equal(ngx_svc_schema_object(members, 0, parse(*state, texts[1]),
                                           &value, &err), NGX_OK);
    assert_int_equal(value.null, 0);
    assert_int_equal(value.str.len, 1);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_messages),
        ngx_unit_test(test_strict),
        ngx_unit_test(test_values),
        ngx_unit_test(test_one_value),
        ngx_unit_test(test_blank),
        ngx_unit_test(test_check_fails),
        ngx_unit_test(test_required_clears),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
