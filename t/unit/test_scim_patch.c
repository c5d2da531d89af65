/*
 * Bodies of PATCH.
 */

#include "ngx_unit_scim.h"


#define SYNTAX   NGX_SVC_E_INVALID_SYNTAX
#define VALUE    NGX_SVC_E_INVALID_VALUE
#define PATH     NGX_SVC_E_INVALID_PATH

#define TEXT     "must be a string of 0 to 1024 bytes or null."
#define BOOLEAN  "\"active\" must be true or false."
#define COUNT    "\"Operations\" must be an array of 1 to 1000 operations."
#define ELEMENT  "An element of \"Operations\" must be an object."
#define OPS      "\"op\" must be \"add\", \"replace\" or \"remove\"."
#define TARGET   "\"remove\" needs a path."
#define FIXED                                                                 \
    "\"active\" cannot be removed; replace it with false to deactivate the"   \
    " user."
#define OBJECT                                                                \
    "An operation without a path needs an object as its \"value\"."

#define BODY(operations)                                                      \
    "{\"schemas\":[\"" P "\"],\"Operations\":[" operations "]}"
#define SET(path, value)                                                      \
    "{\"op\":\"replace\",\"path\":\"" path "\",\"value\":" value "}"
#define ADD(path, value)                                                      \
    "{\"op\":\"add\",\"path\":\"" path "\",\"value\":" value "}"
#define REMOVE(path)  "{\"op\":\"remove\",\"path\":\"" path "\"}"
#define BARE(value)   "{\"op\":\"replace\",\"value\":" value "}"
#define LEAVE         SET("active", "\"False\"")


static const ngx_unit_scim_row_t  folded[] = {

    /* one path */

    { BODY(SET("displayName", "\"D\"")), "displayName=D" },
    { BODY(ADD("displayName", "\"D\"")), "displayName=D" },
    { BODY(SET("DISPLAYNAME", "\"D\"")), "displayName=D" },
    { BODY(SET("title", "\"T\"")), "title=T" },
    { BODY(SET("locale", "\"fr\"")), "locale=fr" },
    { BODY(SET("externalId", "\"X\"")), "externalId=X" },
    { BODY(SET("name.givenName", "\"G\"")), "givenName=G" },
    { BODY(SET("name.familyName", "\"F\"")), "familyName=F" },
    { BODY(SET("name.formatted", "\"O\"")), "displayName=O" },
    { BODY(SET("name", "{\"givenName\":\"G\",\"formatted\":\"O\"}")),
      "givenName=G displayName=O" },
    { BODY(ADD("name", "{}")), "" },
    { BODY(SET(E ":department", "\"S\"")), "department=S" },
    { BODY(SET(E, "{\"Department\":\"S\"}")), "department=S" },
    { BODY(SET(U ":displayName", "\"D\"")), "displayName=D" },
    { BODY(SET(U ":name.givenName", "\"G\"")), "givenName=G" },
    { BODY(SET(U ":name", "{\"familyName\":\"F\"}")), "familyName=F" },

    /* active */

    { BODY(SET("active", "false")), "active=0" },
    { BODY(SET("active", "\"False\"")), "active=0" },
    { BODY(ADD("active", "\"TRUE\"")), "active=1" },
    { BODY(SET(U ":Active", "true")), "active=1" },
    { BODY(BARE("{\"active\":false}")), "active=0" },
    { BODY(BARE("{\"ACTIVE\":\"true\"}")), "active=1" },

    /* op and the frame, in any case */

    { BODY("{\"op\":\"Replace\",\"path\":\"title\",\"value\":\"T\"}"),
      "title=T" },
    { BODY("{\"op\":\"ADD\",\"path\":\"title\",\"value\":\"T\"}"),
      "title=T" },
    { BODY("{\"op\":\"reMove\",\"path\":\"title\",\"value\":5}"), "title~" },
    { "{\"OPERATIONS\":[{\"Op\":\"add\",\"PATH\":\"title\","
      "\"Value\":\"T\",\"x\":1}],\"schemas\":5}", "title=T" },
    { "{\"operations\":[" SET("title", "\"T\"") "]}", "title=T" },

    /* cleared */

    { BODY(SET("title", "null")), "title~" },
    { BODY(SET("title", "\"\"")), "title~" },
    { BODY(ADD("title", "[]")), "title~" },
    { BODY(BARE("{\"title\":null,\"locale\":\"\",\"externalId\":[]}")),
      "externalId~ title~ locale~" },
    { BODY(SET(E ":department", "null")), "department~" },
    { BODY(SET(E, "null")), "department~" },
    { BODY(SET("name", "null")), "givenName~ familyName~" },
    { BODY(BARE("{\"name\":null}")), "givenName~ familyName~" },
    { BODY(BARE("{\"" E "\":{\"department\":null}}")), "department~" },
    { BODY(REMOVE("title")), "title~" },
    { BODY(REMOVE("locale")), "locale~" },
    { BODY(REMOVE("externalId")), "externalId~" },
    { BODY(REMOVE("displayName")), "displayName~" },
    { BODY(REMOVE("name")), "givenName~ familyName~" },
    { BODY(REMOVE("name.givenName")), "givenName~" },
    { BODY(REMOVE("name.formatted")), "displayName~" },
    { BODY(REMOVE(E ":department")), "department~" },
    { BODY(REMOVE(E)), "department~" },
    { BODY(REMOVE(U ":title")), "title~" },

    /* without a path */

    { BODY(BARE("{\"displayName\":\"D\",\"name.givenName\":\"G\","
                "\"" E ":department\":\"S\"}")),
      "givenName=G displayName=D department=S" },
    { BODY(BARE("{\"name\":{\"givenName\":\"G\"},"
                "\"name.familyName\":\"F\"}")),
      "givenName=G familyName=F" },
    { BODY(BARE("{\"" U ":displayName\":\"D\","
                "\"" E "\":{\"department\":\"S\"}}")),
      "displayName=D department=S" },
    { BODY("{\"op\":\"Add\",\"value\":{\"title\":\"T\"}}"), "title=T" },
    { BODY(SET(U, "{\"title\":\"T\"}")), "title=T" },
    { BODY("{\"op\":\"add\",\"path\":null,\"value\":{\"title\":\"T\"}}"),
      "title=T" },
    { BODY(BARE("{}")), "" },

    /* in their order */

    { BODY(SET("title", "\"A\"") "," SET("title", "\"B\"")), "title=B" },
    { BODY(SET("title", "\"A\"") "," REMOVE("title")), "title~" },
    { BODY(REMOVE("title") "," ADD("title", "\"A\"")), "title=A" },
    { BODY(SET("active", "false") "," SET("active", "\"true\"")),
      "active=1" },
    { BODY(SET("active", "true") "," BARE("{\"active\":false}")),
      "active=0" },
    { BODY(BARE("{\"title\":\"A\"}") "," BARE("{\"Title\":\"B\"}")),
      "title=B" },
    { BODY(SET("title", "\"A\"") "," SET("title", "null") ","
           SET("locale", "\"en\"")), "title~ locale=en" },
    { BODY(REMOVE("name") "," SET("name.givenName", "\"G\"")),
      "givenName=G familyName~" },
    { BODY(SET("name.givenName", "\"G\"") "," REMOVE("name")),
      "givenName~ familyName~" },

    /* name.formatted, with and without a displayName */

    { BODY(SET("name.formatted", "\"O\"") "," SET("displayName", "\"D\"")),
      "displayName=D" },
    { BODY(SET("displayName", "\"D\"") "," SET("name.formatted", "\"O\"")),
      "displayName=D" },
    { BODY(BARE("{\"name\":{\"formatted\":\"O\"},\"displayName\":\"D\"}")),
      "displayName=D" },
    { BODY(REMOVE("displayName") "," SET("name.formatted", "\"O\"")),
      "displayName~" },
    { BODY(SET("name.formatted", "\"O\"") "," SET("name.formatted", "\"Q\"")),
      "displayName=Q" },
    { BODY(SET("name.formatted", "\"O\"") "," REMOVE("name")),
      "givenName~ familyName~" },
    { BODY(REMOVE("name") "," SET("name.formatted", "\"O\"")),
      "givenName~ familyName~ displayName=O" },
};


/* Operations that change nothing, and must not stop the others. */

static const char  *ignored[] = {

    SET("userName", "\"x@y\""),
    SET("userName", "5"),
    SET("userName", "null"),
    REMOVE("userName"),
    "{\"op\":\"replace\",\"path\":\"userName\"}",
    SET("id", "\"x\""),
    REMOVE("id"),
    SET("meta.created", "{}"),
    REMOVE("meta"),
    SET("schemas", "[]"),
    SET("password", "\"p\""),
    SET("groups", "[]"),
    REMOVE("groups"),
    SET("roles", "null"),
    REMOVE("roles"),
    SET("emails", "[{\"value\":\"x@y\"}]"),
    SET("emails.value", "1"),
    REMOVE("emails"),
    SET("emails[type eq \\\"work\\\"].value", "\"x@y\""),
    REMOVE("emails[type eq \\\"work\\\"]"),
    SET("addresses[type eq \\\"work\\\"].country", "null"),
    SET("name[givenName eq \\\"x\\\"].familyName", "5"),
    SET("active[value eq true]", "5"),
    ADD("nickName", "{\"a\":[[]]}"),
    "{\"op\":\"add\",\"path\":\"nickName\"}",
    REMOVE("nickName"),
    SET("name.middleName", "5"),
    SET("displayName.x", "5"),
    SET("department", "5"),
    SET(E ":manager", "{\"value\":5}"),
    SET(U, "5"),
    REMOVE(U),
    SET("urn:x:y", "5"),
    BARE("{\"userName\":5,\"id\":5,\"meta\":5,\"emails\":5,\"groups\":5,"
         "\"password\":5,\"roles\":5,\"schemas\":5,\"x\":5,\"X\":5,"
         "\"emails[type eq \\\"work\\\"].value\":5,\"name.x\":5,"
         "\" [\":5,\"\":5}"),
    BARE("{\"name\":{\"middleName\":5},\"" E "\":{\"manager\":5}}"),
};


static const ngx_unit_scim_bad_t  refused[] = {

    { "{}", SYNTAX, COUNT },
    { "{\"Operations\":null}", SYNTAX, COUNT },
    { "{\"Operations\":{}}", SYNTAX, COUNT },
    { "{\"Operations\":\"x\"}", SYNTAX, COUNT },
    { "{\"Operations\":[]}", SYNTAX, COUNT },
    { "{\"Operations\":[],\"operations\":[]}", SYNTAX,
      "\"Operations\" is given more than once." },

    { BODY("5"), SYNTAX, ELEMENT },
    { BODY("null"), SYNTAX, ELEMENT },
    { BODY("[]"), SYNTAX, ELEMENT },
    { BODY("\"replace\""), SYNTAX, ELEMENT },

    { BODY("{}"), SYNTAX, OPS },
    { BODY("{\"path\":\"title\",\"value\":\"x\"}"), SYNTAX, OPS },
    { BODY("{\"op\":\"\",\"path\":\"title\",\"value\":\"x\"}"), SYNTAX, OPS },
    { BODY("{\"op\":5,\"path\":\"title\",\"value\":\"x\"}"), SYNTAX, OPS },
    { BODY("{\"op\":null,\"path\":\"title\",\"value\":\"x\"}"), SYNTAX, OPS },
    { BODY("{\"op\":\"move\",\"path\":\"title\",\"value\":\"x\"}"), SYNTAX,
      OPS },
    { BODY("{\"op\":\"replac\",\"path\":\"nickName\"}"), SYNTAX, OPS },
    { BODY("{\"op\":\"add \",\"path\":\"nickName\"}"), SYNTAX, OPS },
    { BODY("{\"op\":\"add\",\"OP\":\"add\"}"), SYNTAX,
      "\"op\" is given more than once." },
    { BODY("{\"op\":\"add\",\"path\":\"x\",\"Path\":\"x\"}"), SYNTAX,
      "\"path\" is given more than once." },
    { BODY("{\"op\":\"add\",\"value\":1,\"VALUE\":1}"), SYNTAX,
      "\"value\" is given more than once." },

    { BODY("{\"op\":\"remove\"}"), NGX_SVC_E_NO_TARGET, TARGET },
    { BODY("{\"op\":\"remove\",\"path\":null}"), NGX_SVC_E_NO_TARGET,
      TARGET },
    { BODY("{\"op\":\"Remove\",\"value\":{\"title\":1}}"),
      NGX_SVC_E_NO_TARGET, TARGET },

    { BODY("{\"op\":\"add\",\"path\":5,\"value\":\"x\"}"), PATH,
      "\"path\" must be a string." },
    { BODY("{\"op\":\"remove\",\"path\":{}}"), PATH,
      "\"path\" must be a string." },
    { BODY("{\"op\":\"remove\",\"path\":[\"title\"]}"), PATH,
      "\"path\" must be a string." },
    { BODY(SET("", "{}")), PATH, "The path \"\" is not valid." },
    { BODY(SET("display name", "\"x\"")), PATH,
      "The path \"display name\" is not valid." },
    { BODY(SET("emails[type eq \\\"work\\\"", "5")), PATH,
      "The path \"emails[type eq \"work\"\" is not valid." },
    { BODY(REMOVE("name.")), PATH, "The path \"name.\" is not valid." },

    { BODY(REMOVE("active")), NGX_SVC_E_MUTABILITY, FIXED },
    { BODY(REMOVE(U ":ACTIVE")), NGX_SVC_E_MUTABILITY, FIXED },

    { BODY("{\"op\":\"replace\"}"), VALUE, OBJECT },
    { BODY("{\"op\":\"add\",\"value\":null}"), VALUE, OBJECT },
    { BODY("{\"op\":\"add\",\"value\":[]}"), VALUE, OBJECT },
    { BODY("{\"op\":\"add\",\"value\":[{\"title\":\"x\"}]}"), VALUE, OBJECT },
    { BODY("{\"op\":\"add\",\"value\":\"x\"}"), VALUE, OBJECT },
    { BODY("{\"op\":\"replace\",\"path\":\"title\"}"), VALUE,
      "The operation on \"title\" needs a \"value\"." },
    { BODY("{\"op\":\"add\",\"path\":\"name\"}"), VALUE,
      "The operation on \"name\" needs a \"value\"." },

    { BODY(SET("active", "null")), VALUE, BOOLEAN },
    { BODY(SET("active", "\"\"")), VALUE, BOOLEAN },
    { BODY(SET("active", "[]")), VALUE, BOOLEAN },
    { BODY(SET("active", "0")), VALUE, BOOLEAN },
    { BODY(SET("active", "\"yes\"")), VALUE, BOOLEAN },
    { BODY(BARE("{\"active\":null}")), VALUE, BOOLEAN },
    { BODY(SET("title", "5")), VALUE, "\"title\" " TEXT },
    { BODY(SET("title", "{}")), VALUE, "\"title\" " TEXT },
    { BODY(SET("name.givenName", "[\"x\"]")), VALUE,
      "\"name.givenName\" " TEXT },
    { BODY(SET("name", "\"x\"")), VALUE,
      "\"name\" must be an object or null." },
    { BODY(SET("name", "{\"familyName\":true}")), VALUE,
      "\"name.familyName\" " TEXT },
    { BODY(SET(E, "\"x\"")), VALUE, "\"" E "\" must be an object or null." },
    { BODY(SET(E ":department", "{\"department\":\"x\"}")), VALUE,
      "\"" E ":department\" " TEXT },
    { BODY(BARE("{\"name\":{\"givenName\":1}}")), VALUE,
      "\"name.givenName\" " TEXT },

    { BODY(BARE("{\"title\":\"a\",\"TITLE\":\"b\"}")), SYNTAX,
      "\"title\" is given more than once." },
    { BODY(BARE("{\"name\":{\"givenName\":\"a\"},\"name.givenName\":\"b\"}")),
      SYNTAX, "\"name.givenName\" is given more than once." },
    { BODY(BARE("{\"name.givenName\":\"b\",\"name\":null}")), SYNTAX,
      "\"name.givenName\" is given more than once." },

    /* the first error is the one that is reported */

    { BODY(LEAVE "," SET("title", "5") "," REMOVE("active")), VALUE,
      "\"title\" " TEXT },
};


/* What Entra ID and Okta send. */

static const ngx_unit_scim_row_t  clients[] = {

    { BODY("{\"op\":\"Replace\",\"path\":\"displayName\",\"value\":\"D\"},"
           "{\"op\":\"Replace\",\"path\":\"emails[type eq \\\"work\\\"]"
           ".value\",\"value\":\"x@y\"},"
           "{\"op\":\"Replace\",\"path\":\"name.givenName\","
           "\"value\":\"G\"},"
           "{\"op\":\"Replace\",\"path\":\"" E ":department\","
           "\"value\":\"S\"},"
           "{\"op\":\"Add\",\"path\":\"nickName\",\"value\":\"N\"}"),
      "givenName=G displayName=D department=S" },

    { BODY("{\"op\":\"Replace\",\"path\":\"active\",\"value\":\"False\"}"),
      "active=0" },

    { "{\"schemas\":[\"" P "\"],\"Operations\":[{\"op\":\"replace\","
      "\"value\":{\"active\":false}}]}", "active=0" },
};


static void
test_folded(void **state)
{
    ngx_unit_scim_good(*state, ngx_svc_scim_user_patch, folded,
                       ngx_unit_len(folded));
    ngx_unit_scim_good(*state, ngx_svc_scim_user_patch, clients,
                       ngx_unit_len(clients));
}


static void
test_ignored(void **state)
{
    char                  body[2048];
    ngx_uint_t            i;
    ngx_unit_scim_row_t   row;

    row.body = body;

    for (i = 0; i < ngx_unit_len(ignored); i++) {

        sprintf(body, BODY("%s"), ignored[i]);
        row.user = "";
        ngx_unit_scim_good(*state, ngx_svc_scim_user_patch, &row, 1);

        sprintf(body, BODY("%s," LEAVE), ignored[i]);
        row.user = "active=0";
        ngx_unit_scim_good(*state, ngx_svc_scim_user_patch, &row, 1);

        sprintf(body, BODY(LEAVE ",%s"), ignored[i]);
        ngx_unit_scim_good(*state, ngx_svc_scim_user_patch, &row, 1);
    }
}


static void
test_refused(void **state)
{
    ngx_unit_scim_bad(*state, ngx_svc_scim_user_patch, refused,
                      ngx_unit_len(refused));
}


static char *
many(ngx_pool_t *pool, ngx_uint_t n)
{
    char  *body, *p;

    static const char  one[] = SET("title", "\"T\"") ",";

    body = ngx_palloc(pool, 100 + n * sizeof(one));
    assert_non_null(body);

    p = body + sprintf(body, "{\"Operations\":[");

    while (n--) {
        p += sprintf(p, "%s", one);
    }

    strcpy(p - 1, "]}");

    return body;
}


static void
test_most_operations(void **state)
{
    ngx_unit_scim_row_t  good = { many(*state, 1000), "title=T" };
    ngx_unit_scim_bad_t  bad = { many(*state, 1001), SYNTAX, COUNT };

    ngx_unit_scim_good(*state, ngx_svc_scim_user_patch, &good, 1);
    ngx_unit_scim_bad(*state, ngx_svc_scim_user_patch, &bad, 1);
}


/* A path that is too long for the message is cut there. */

static void
test_long_path(void **state)
{
    char                  body[4096], *p;
    ngx_svc_error_t       err;
    ngx_svc_scim_user_t   user;

    p = body + sprintf(body, "{\"Operations\":[{\"op\":\"add\",\"path\":\"");

    memset(p, '!', 3000);
    strcpy(p + 3000, "\",\"value\":1}]}");

    assert_int_equal(ngx_unit_scim_read(*state, ngx_svc_scim_user_patch, body,
                                        &user, &err), NGX_DECLINED);
    assert_int_equal(err.kind, PATH);
    assert_int_equal(err.len, NGX_SVC_ERROR_DETAIL);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_folded),
        ngx_unit_test(test_ignored),
        ngx_unit_test(test_refused),
        ngx_unit_test(test_most_operations),
        ngx_unit_test(test_long_path),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("scim patch", tests, NULL, NULL);
}
