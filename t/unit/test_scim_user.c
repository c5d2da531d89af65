/*
 * Bodies of POST and PUT.
 */

#include "ngx_unit_scim.h"


#define SYNTAX    NGX_SVC_E_INVALID_SYNTAX
#define VALUE     NGX_SVC_E_INVALID_VALUE

#define TEXT      "must be a string of 0 to 1024 bytes or null."
#define REQUIRED  "\"userName\" is required."
#define EMAIL                                                                 \
    "\"userName\" must be an e-mail address: one \"@\" with something on"     \
    " both sides, no white space or control characters, at most 254 bytes."

/* a body of POST with more members than its userName */
#define WITH(members)  "{\"userName\":\"a@b\"," members "}"

/* what a PUT clears that does not mention these */
#define NAMES      "givenName~ familyName~ "
#define REST       "title~ locale~ department~"


static const ngx_unit_scim_row_t  created[] = {

    { "{\"userName\":\"a@b\"}", "userName=a@b" },
    { "{\"USERNAME\":\"A@B\"}", "userName=A@B" },
    { "{\"" U ":userName\":\"a@b\"}", "userName=a@b" },

    { WITH("\"active\":true"), "userName=a@b active=1" },
    { WITH("\"active\":false"), "userName=a@b active=0" },
    { WITH("\"active\":\"True\""), "userName=a@b active=1" },
    { WITH("\"active\":\"FALSE\""), "userName=a@b active=0" },
    { WITH("\"Active\":\"fALSe\""), "userName=a@b active=0" },
    { WITH("\"active\":null"), "userName=a@b" },

    { WITH("\"displayName\":\"D\",\"title\":\"T\",\"locale\":\"en\","
           "\"externalId\":\"X\",\"name\":{\"givenName\":\"G\","
           "\"familyName\":\"F\",\"formatted\":\"O\"},"
           "\"" E "\":{\"department\":\"S\"}"),
      "userName=a@b externalId=X givenName=G familyName=F displayName=D"
      " title=T locale=en department=S" },
    { WITH("\"DISPLAYNAME\":\"D\",\"NAME\":{\"GIVENNAME\":\"G\"}"),
      "userName=a@b givenName=G displayName=D" },
    { WITH("\"" U ":title\":\"T\",\"" U ":name\":{\"givenName\":\"G\"},"
           "\"" E ":department\":\"S\",\"name.familyName\":\"F\""),
      "userName=a@b givenName=G familyName=F title=T department=S" },
    { WITH("\"title\":\" \\u00e9\\n\\\" \""),
      "userName=a@b title= \xc3\xa9\n\" " },

    /* the display name is name.formatted, unless the request has one */

    { WITH("\"name\":{\"formatted\":\"O\"}"), "userName=a@b displayName=O" },
    { WITH("\"name\":{\"formatted\":\"O\"},\"displayName\":\"D\""),
      "userName=a@b displayName=D" },
    { WITH("\"displayName\":\"D\",\"name.formatted\":\"O\""),
      "userName=a@b displayName=D" },
    { WITH("\"displayName\":null,\"name.formatted\":\"O\""),
      "userName=a@b displayName~" },
    { WITH("\"name.formatted\":null"), "userName=a@b displayName~" },

    /* empty values, in their three forms */

    { WITH("\"title\":null,\"locale\":\"\",\"displayName\":[],"
           "\"externalId\":\"\",\"" E "\":{\"department\":null}"),
      "userName=a@b externalId~ displayName~ title~ locale~ department~" },
    { WITH("\"name\":null,\"" E "\":null"),
      "userName=a@b givenName~ familyName~ department~" },
    { WITH("\"name\":[],\"" E "\":\"\""),
      "userName=a@b givenName~ familyName~ department~" },
    { WITH("\"name\":\"\",\"" E "\":[]"),
      "userName=a@b givenName~ familyName~ department~" },
    { WITH("\"name\":{},\"" E "\":{}"), "userName=a@b" },

    /* attributes that are not mapped */

    { WITH("\"id\":5,\"meta\":\"x\",\"schemas\":{},\"emails\":false,"
           "\"password\":\"p\",\"groups\":[],\"roles\":[],\"x\":1e9,"
           "\"\":0,\"1 [\":null,\"nickName\":{\"a\":[{}]},"
           "\"emails[type eq \\\"work\\\"].value\":\"x\","
           "\"department\":\"no\",\"urn:x:active\":false,\"" U "\":5,"
           "\"NickName\":1"),
      "userName=a@b" },
    { WITH("\"name\":{\"middleName\":5,\"\":{},\"name\":{\"givenName\":1}},"
           "\"" E "\":{\"manager\":{\"value\":1},\"title\":5,\"\":1}"),
      "userName=a@b" },

    /* e-mail addresses */

    { "{\"userName\":\"\\u00e9\\ud83d\\ude00@\\u674e\"}",
      "userName=\xc3\xa9\xf0\x9f\x98\x80@\xe6\x9d\x8e" },
    { "{\"userName\":\"o'neil+x.y!#$%&*/=?^_`{|}~-@a-b.c\"}",
      "userName=o'neil+x.y!#$%&*/=?^_`{|}~-@a-b.c" },
    { "{\"userName\":\"\\u00a1\\u1681\\u2030\\u205e\\u3001@a_b\"}",
      "userName=\xc2\xa1\xe1\x9a\x81\xe2\x80\xb0\xe2\x81\x9e\xe3\x80\x81@a_b" },
};


static const ngx_unit_scim_bad_t  not_created[] = {

    { "{}", VALUE, REQUIRED },
    { "{\"userName\":null}", VALUE, REQUIRED },
    { "{\"userName\":\"\"}", VALUE, REQUIRED },
    { "{\"userName\":[]}", VALUE, REQUIRED },
    { "{\"title\":\"T\"}", VALUE, REQUIRED },
    { "{\"name\":{\"userName\":\"a@b\"}}", VALUE, REQUIRED },
    { "{\"" E ":userName\":\"a@b\"}", VALUE, REQUIRED },

    { "{\"userName\":5}", VALUE,
      "\"userName\" must be a string or null." },
    { "{\"userName\":{}}", VALUE,
      "\"userName\" must be a string or null." },
    { "{\"userName\":[\"a@b\"]}", VALUE,
      "\"userName\" must be a string or null." },

    { "{\"userName\":\"a\"}", VALUE, EMAIL },
    { "{\"userName\":\"@\"}", VALUE, EMAIL },
    { "{\"userName\":\"a@\"}", VALUE, EMAIL },
    { "{\"userName\":\"@b\"}", VALUE, EMAIL },
    { "{\"userName\":\"a@b@c\"}", VALUE, EMAIL },
    { "{\"userName\":\"a@@b\"}", VALUE, EMAIL },
    { "{\"userName\":\"@a@\"}", VALUE, EMAIL },

    { WITH("\"active\":1"), VALUE, "\"active\" must be true or false." },
    { WITH("\"active\":\"yes\""), VALUE,
      "\"active\" must be true or false." },
    { WITH("\"active\":\" true\""), VALUE,
      "\"active\" must be true or false." },
    { WITH("\"active\":[]"), VALUE, "\"active\" must be true or false." },
    { WITH("\"active\":{}"), VALUE, "\"active\" must be true or false." },

    { WITH("\"title\":5"), VALUE, "\"title\" " TEXT },
    { WITH("\"title\":true"), VALUE, "\"title\" " TEXT },
    { WITH("\"title\":{}"), VALUE, "\"title\" " TEXT },
    { WITH("\"title\":[\"\"]"), VALUE, "\"title\" " TEXT },
    { WITH("\"TITLE\":5"), VALUE, "\"title\" " TEXT },
    { WITH("\"locale\":5"), VALUE, "\"locale\" " TEXT },
    { WITH("\"displayName\":5"), VALUE, "\"displayName\" " TEXT },
    { WITH("\"externalId\":5"), VALUE, "\"externalId\" " TEXT },
    { WITH("\"name\":{\"givenName\":5}"), VALUE, "\"name.givenName\" " TEXT },
    { WITH("\"name.familyName\":5"), VALUE, "\"name.familyName\" " TEXT },
    { WITH("\"name\":{\"formatted\":{}}"), VALUE,
      "\"name.formatted\" " TEXT },
    { WITH("\"" E "\":{\"department\":5}"), VALUE,
      "\"" E ":department\" " TEXT },

    { WITH("\"name\":\"Ada\""), VALUE,
      "\"name\" must be an object or null." },
    { WITH("\"name\":5"), VALUE, "\"name\" must be an object or null." },
    { WITH("\"name\":[{}]"), VALUE, "\"name\" must be an object or null." },
    { WITH("\"" E "\":\"x\""), VALUE,
      "\"" E "\" must be an object or null." },
    { WITH("\"" E "\":true"), VALUE,
      "\"" E "\" must be an object or null." },

    /* the same attribute twice, in different spellings */

    { WITH("\"USERNAME\":\"a@b\""), SYNTAX,
      "\"userName\" is given more than once." },
    { WITH("\"" U ":userName\":\"a@b\""), SYNTAX,
      "\"userName\" is given more than once." },
    { WITH("\"active\":null,\"ACTIVE\":true"), SYNTAX,
      "\"active\" is given more than once." },
    { WITH("\"title\":\"a\",\"Title\":\"a\""), SYNTAX,
      "\"title\" is given more than once." },
    { WITH("\"name\":{\"givenName\":\"a\"},\"name.givenName\":\"b\""), SYNTAX,
      "\"name.givenName\" is given more than once." },
    { WITH("\"name\":{\"givenName\":\"a\",\"GIVENNAME\":\"b\"}"), SYNTAX,
      "\"name.givenName\" is given more than once." },
    { WITH("\"name.familyName\":\"a\",\"name\":null"), SYNTAX,
      "\"name.familyName\" is given more than once." },
    { WITH("\"" E "\":{\"department\":\"a\"},\"" E ":department\":\"b\""),
      SYNTAX, "\"" E ":department\" is given more than once." },
};


static const ngx_unit_scim_row_t  replaced[] = {

    { "{}", "externalId~ " NAMES "displayName~ " REST },
    { "{\"userName\":\"a@b\"}", "externalId~ " NAMES "displayName~ " REST },
    { "{\"active\":false}",
      "externalId~ active=0 " NAMES "displayName~ " REST },
    { "{\"active\":\"True\"}",
      "externalId~ active=1 " NAMES "displayName~ " REST },
    { "{\"active\":null}", "externalId~ " NAMES "displayName~ " REST },
    { "{\"externalId\":\"X\",\"title\":null,\"locale\":\"en\"}",
      "externalId=X " NAMES "displayName~ title~ locale=en department~" },
    { "{\"name\":{\"givenName\":\"G\"},\"" E "\":{\"department\":\"S\"}}",
      "externalId~ givenName=G familyName~ displayName~ title~ locale~"
      " department=S" },
    { "{\"name\":{\"formatted\":\"O\"}}",
      "externalId~ " NAMES "displayName=O " REST },
    { "{\"name\":{\"formatted\":\"O\"},\"displayName\":\"D\"}",
      "externalId~ " NAMES "displayName=D " REST },
    { "{\"name\":{\"formatted\":\"O\"},\"displayName\":null}",
      "externalId~ " NAMES "displayName~ " REST },
    { "{\"name\":null,\"" E "\":null}",
      "externalId~ " NAMES "displayName~ " REST },

    /* none of these stops the rest, or has any effect */

    { "{\"userName\":5,\"active\":false}",
      "externalId~ active=0 " NAMES "displayName~ " REST },
    { "{\"userName\":\"no e-mail\",\"USERNAME\":null,\"active\":false}",
      "externalId~ active=0 " NAMES "displayName~ " REST },
    { "{\"active\":false,\"id\":5,\"meta\":[],\"emails\":5,\"groups\":{},"
      "\"password\":{},\"roles\":1,\"nickName\":[[]]}",
      "externalId~ active=0 " NAMES "displayName~ " REST },
};


static const ngx_unit_scim_bad_t  not_replaced[] = {

    { "{\"active\":\"\"}", VALUE, "\"active\" must be true or false." },
    { "{\"active\":\"no\"}", VALUE, "\"active\" must be true or false." },
    { "{\"active\":[]}", VALUE, "\"active\" must be true or false." },
    { "{\"title\":5}", VALUE, "\"title\" " TEXT },
    { "{\"name\":true}", VALUE, "\"name\" must be an object or null." },
    { "{\"active\":true,\"Active\":false}", SYNTAX,
      "\"active\" is given more than once." },
};


/* Each is refused in an address; the spelling is JSON's. */

static const char  *blanks[] = {
    "\\u0001", "\\t", "\\n", "\\r", "\\u001f", " ", "\x7f", "\\u007f",
    "\\u0080", "\\u0085", "\\u009f", "\\u00a0", "\\u1680", "\\u2000",
    "\\u2005", "\\u200a", "\\u2028", "\\u2029", "\\u202f", "\\u205f",
    "\\u3000", "\xe3\x80\x80",
};


static const char  *limited[] = {
    "title", "locale", "displayName", "externalId", "name.givenName",
    "name.familyName", "name.formatted", E ":department"
};


/* What Entra ID and Okta send. */

static const ngx_unit_scim_row_t  clients[] = {

    { "{\"schemas\":[\"" U "\",\"" E "\"],\"externalId\":\"0a21f0f2\","
      "\"userName\":\"ada@acme.test\",\"active\":true,"
      "\"addresses\":[{\"primary\":false,\"type\":\"work\","
      "\"country\":null,\"formatted\":null,\"locality\":null}],"
      "\"displayName\":\"Ada Lovelace\","
      "\"emails\":[{\"primary\":true,\"type\":\"work\","
      "\"value\":\"ada@acme.test\"}],"
      "\"meta\":{\"resourceType\":\"User\"},"
      "\"name\":{\"formatted\":\"Ada L\",\"familyName\":\"Lovelace\","
      "\"givenName\":\"Ada\"},\"phoneNumbers\":[{\"value\":null}],"
      "\"roles\":[],\"title\":\"Engineer\",\"" E "\":"
      "{\"employeeNumber\":\"7\",\"department\":\"Engines\","
      "\"manager\":\"x\"}}",
      "userName=ada@acme.test externalId=0a21f0f2 active=1 givenName=Ada"
      " familyName=Lovelace displayName=Ada Lovelace title=Engineer"
      " department=Engines" },

    { "{\"schemas\":[\"" U "\"],\"userName\":\"a@acme.test\","
      "\"name\":{\"givenName\":\"A\",\"familyName\":\"B\"},"
      "\"emails\":[{\"primary\":true,\"value\":\"a@acme.test\","
      "\"type\":\"work\",\"display\":\"a@acme.test\"}],"
      "\"displayName\":\"A B\",\"locale\":\"en-US\",\"externalId\":\"00u1\","
      "\"groups\":[],\"password\":\"1mz050nq\",\"active\":true}",
      "userName=a@acme.test externalId=00u1 active=1 givenName=A"
      " familyName=B displayName=A B locale=en-US" },
};


static void
test_created(void **state)
{
    ngx_unit_scim_good(*state, ngx_svc_scim_user_create, created,
                       ngx_unit_len(created));
    ngx_unit_scim_good(*state, ngx_svc_scim_user_create, clients,
                       ngx_unit_len(clients));
}


static void
test_not_created(void **state)
{
    ngx_unit_scim_bad(*state, ngx_svc_scim_user_create, not_created,
                      ngx_unit_len(not_created));
}


static void
test_replaced(void **state)
{
    ngx_unit_scim_good(*state, ngx_svc_scim_user_replace, replaced,
                       ngx_unit_len(replaced));
}


static void
test_not_replaced(void **state)
{
    ngx_unit_scim_bad(*state, ngx_svc_scim_user_replace, not_replaced,
                      ngx_unit_len(not_replaced));
}


static void
test_blanks(void **state)
{
    char                  body[64];
    ngx_uint_t            i;
    ngx_unit_scim_bad_t   row;

    row.body = body;
    row.kind = VALUE;
    row.detail = EMAIL;

    for (i = 0; i < ngx_unit_len(blanks); i++) {

        sprintf(body, "{\"userName\":\"%sa@b\"}", blanks[i]);
        ngx_unit_scim_bad(*state, ngx_svc_scim_user_create, &row, 1);

        sprintf(body, "{\"userName\":\"a@%sb\"}", blanks[i]);
        ngx_unit_scim_bad(*state, ngx_svc_scim_user_create, &row, 1);

        sprintf(body, "{\"userName\":\"a@b%s\"}", blanks[i]);
        ngx_unit_scim_bad(*state, ngx_svc_scim_user_create, &row, 1);
    }
}


/* 254 bytes, one character of which has two bytes; and one byte more. */

static void
test_longest_address(void **state)
{
    char                  body[512], *p;
    ngx_svc_error_t       err;
    ngx_svc_scim_user_t   user;

    p = body + sprintf(body, "{\"userName\":\"");
    memset(p, 'b', 250);
    strcpy(p + 250, "\xc3\xa9@a\"}");

    assert_int_equal(ngx_unit_scim_read(*state, ngx_svc_scim_user_create,
                                        body, &user, &err), NGX_OK);
    assert_int_equal(user.user_name.str.len, 254);

    strcpy(p + 250, "b\xc3\xa9@a\"}");

    assert_int_equal(ngx_unit_scim_read(*state, ngx_svc_scim_user_create,
                                        body, &user, &err), NGX_DECLINED);
    ngx_unit_error(&err, VALUE, EMAIL, "255 bytes");
}


static void
test_longest_strings(void **state)
{
    char                  body[2048], detail[256], *p;
    ngx_uint_t            i;
    ngx_svc_error_t       err;
    ngx_svc_scim_user_t   user;

    for (i = 0; i < ngx_unit_len(limited); i++) {

        p = body + sprintf(body, "{\"%s\":\"", limited[i]);
        memset(p, 'b', 1024);
        strcpy(p + 1024, "\"}");

        assert_int_equal(ngx_unit_scim_read(*state,
                                            ngx_svc_scim_user_replace,
                                            body, &user, &err), NGX_OK);

        strcpy(p + 1024, "b\"}");
        sprintf(detail, "\"%s\" " TEXT, limited[i]);

        assert_int_equal(ngx_unit_scim_read(*state,
                                            ngx_svc_scim_user_replace,
                                            body, &user, &err),
                         NGX_DECLINED);
        ngx_unit_error(&err, VALUE, detail, limited[i]);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_created),
        ngx_unit_test(test_not_created),
        ngx_unit_test(test_replaced),
        ngx_unit_test(test_not_replaced),
        ngx_unit_test(test_blanks),
        ngx_unit_test(test_longest_address),
        ngx_unit_test(test_longest_strings),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("scim user", tests, NULL, NULL);
}
