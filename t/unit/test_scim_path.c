/*
 * Paths of PATCH operations, value filters, and projections.
 */

#include "ngx_unit.h"
#include "ngx_svc_scim_path.h"
#include "ngx_svc_scim_filter.h"


#define U   NGX_SVC_SCIM_CORE_URN
#define E   NGX_SVC_SCIM_ENTERPRISE_URN


typedef struct {
    const char  *text;
    ngx_uint_t   bits;
} ours_t;


typedef struct {
    ngx_uint_t   parent;
    const char  *name;
    ngx_uint_t   bits;
} member_t;


typedef struct {
    const char  *attributes;        /* NULL: absent */
    const char  *excluded;
    ngx_uint_t   mask;
} projection_t;


static const ours_t  ours[] = {

    { "schemas", NGX_SVC_SCIM_SCHEMAS },
    { "id", NGX_SVC_SCIM_ID },
    { "externalId", NGX_SVC_SCIM_EXTERNAL_ID },
    { "meta", NGX_SVC_SCIM_META },
    { "meta.created", NGX_SVC_SCIM_META },
    { "meta.resourceType", NGX_SVC_SCIM_META },
    { "userName", NGX_SVC_SCIM_USER_NAME },
    { "name", NGX_SVC_SCIM_NAME },
    { "name.givenName", NGX_SVC_SCIM_GIVEN_NAME },
    { "name.familyName", NGX_SVC_SCIM_FAMILY_NAME },
    { "name.formatted", NGX_SVC_SCIM_FORMATTED },
    { "displayName", NGX_SVC_SCIM_DISPLAY_NAME },
    { "title", NGX_SVC_SCIM_TITLE },
    { "locale", NGX_SVC_SCIM_LOCALE },
    { "active", NGX_SVC_SCIM_ACTIVE },
    { "emails", NGX_SVC_SCIM_EMAILS },
    { "emails.value", NGX_SVC_SCIM_EMAILS },
    { E ":department", NGX_SVC_SCIM_DEPARTMENT },
    { E, NGX_SVC_SCIM_ENTERPRISE },

    { "ACTIVE", NGX_SVC_SCIM_ACTIVE },
    { "NAME.givenname", NGX_SVC_SCIM_GIVEN_NAME },
    { "EMAILS.VALUE", NGX_SVC_SCIM_EMAILS },
    { "URN:ietf:PARAMS:scim:schemas:EXTENSION:enterprise:2.0:USER:DEPARTMENT",
      NGX_SVC_SCIM_DEPARTMENT },
    { "URN:ietf:PARAMS:scim:schemas:EXTENSION:enterprise:2.0:USER",
      NGX_SVC_SCIM_ENTERPRISE },

    { U, NGX_SVC_SCIM_CORE },
    { U ":active", NGX_SVC_SCIM_ACTIVE },
    { U ":name", NGX_SVC_SCIM_NAME },
    { U ":name.givenName", NGX_SVC_SCIM_GIVEN_NAME },
    { U ":NAME.FORMATTED", NGX_SVC_SCIM_FORMATTED },
    { U ":externalId", NGX_SVC_SCIM_EXTERNAL_ID },
    { U ":meta.location", NGX_SVC_SCIM_META },
    { "urn:IETF:params:scim:schemas:core:2.0:user:displayname",
      NGX_SVC_SCIM_DISPLAY_NAME },
};


static const char  *theirs[] = {

    "nickName",
    "password",
    "groups",
    "roles",
    "department",
    "x",
    "a-b_c$d1",
    "displayName.value",
    "active.x",
    "id.x",
    "schemas.x",
    "name.middleName",
    "manager.$ref",
    "manager.$a1",
    E ":manager",
    E ":manager.value",
    E ":displayName",
    E ":department.x",
    E ".department",
    U ":department",
    U ":nickName",
    "urn:ietf:params:scim:schemas:extension:acme:2.0:User:a",
    "urn:ietf:params:scim:schemas:extension:acme:2.0:User:active",
    "urn:x:active",
    "https://acme.test/scim?a=b&c=(d)#e~f:active",
    "a+b-c.d1:x:y",

    /* value paths */

    "emails[type eq \"work\"].value",
    "emails[type eq \"work\"]",
    "EMAILS[TYPE EQ \"work\"].VALUE",
    "emails[type eq \"work\" and primary eq true].value",
    "emails[type eq \"work\" or type eq \"home\" and primary eq False]",
    "addresses[type eq \"work\"].country",
    "members[value eq \"x\"].$ref",
    "name[givenName eq \"x\"].familyName",
    "active[value eq true]",
    "x509Certificates[value eq \"a\\\"]b\"].display",
    "x[a eq \"\\u00e9\\ud83d\\ude00[](). \"]",
    "x[a pr]",
    "x[ a pr ]",
    "x[a PR and b pr]",
    "x[not (a pr)]",
    "x[not(a pr)]",
    "x[NOT (a pr) and not ( b pr )]",
    "x[not pr]",
    "x[not eq 1]",
    "x[(a pr)]",
    "x[((a pr) or (b pr)) and c pr]",
    "x[a.b eq 1]",
    "x[urn:a:b:c.d eq 1]",
    "x[" U ":userName eq \"a\"]",
    "x.y[a pr]",
    "x[a eq null]",
    "x[a eq TRUE]",
    "x[a ne 1]",
    "x[a co \"\"]",
    "x[a sw \"x\"]",
    "x[a ew \"x\"]",
    "x[a gt 0]",
    "x[a lt -0]",
    "x[a ge 10.25]",
    "x[a le -1.5e10]",
    "x[a Le 1E+1]",
    "x[a  eq  0.5e-07]",
    U ":emails[type eq \"work\"].value",
};


static const char  *malformed[] = {

    "",
    " ",
    "active ",
    " active",
    "display name",
    "1a",
    "_a",
    "-a",
    "$ref",
    "a!",
    "title;",
    "title]",
    "(title)",
    "\"title\"",
    "title,locale",
    "\xc3\xa9",
    "nam\xc3\xa9",
    ".",
    ".name",
    "name.",
    "name..givenName",
    "name.givenName.x",
    "name.1",
    "name.$",
    "name.$1",
    "name.$ref.x",
    "name.a b",
    "/active",
    ":",
    ":active",
    "x:active",
    "1x:y:active",
    "x y:z:active",
    "x_y:z:active",
    "urn:",
    "urn:x:",
    "urn::active",
    "urn:x::active",
    "urn:x y:active",
    "urn:x\"y:active",
    "urn:\xc3\xa9:active",
    "urn:x:a.b.c",
    "urn:x:2.0",
    E ":",
    E ":department.",
    U ":",
    U ":name.",
    U ":name.givenName.x",

    "[",
    "]",
    "[a pr]",
    "[a pr].x",
    "x.[a pr]",
    "x [a pr]",
    "emails[",
    "emails[]",
    "emails[ ]",
    "emails[].value",
    "emails[type]",
    "emails[type ]",
    "emails[type eq]",
    "emails[type eq ]",
    "emails[type eq \"work\"",
    "emails[type eq \"work",
    "emails[type eq \"work]",
    "emails[type eq \"work\"]value",
    "emails[type eq \"work\"].",
    "emails[type eq \"work\"].$",
    "emails[type eq \"work\"].1",
    "emails[type eq \"work\"].a.b",
    "emails[type eq \"work\"].a b",
    "emails[type eq \"work\"] ",
    "emails[type eq \"work\"]]",
    "emails[type eq \"work\"][a pr]",
    "emails[type eq work]",
    "emails[type eq 'work']",
    "emails[type=\"work\"]",
    "emails[type eq\"work\"]",
    "emails[type is \"work\"]",
    "emails[type pr \"work\"]",
    "emails[type eq \"a\"b pr]",
    "emails[type eq \"a\"and b pr]",
    "emails[type eq \"a\" nor b pr]",
    "emails[type eq \"a\" and]",
    "emails[type eq \"a\" and ]",
    "emails[type eq \"a\" and(b pr)]",
    "emails[type eq \"a\" and and b pr]",
    "emails[and type eq \"a\"]",
    "emails[\"a\" eq type]",
    "emails[type(a) pr]",
    "emails[x[a pr] pr]",
    "emails[1a pr]",
    "emails[a. pr]",
    "emails[a.b.c pr]",
    "emails[\xc3\xa9 pr]",
    "emails[not]",
    "emails[not ]",
    "emails[not a pr]",
    "emails[not (a pr]",
    "emails[not ()]",
    "emails[nota (a pr)]",
    "emails[(]",
    "emails[(a pr]",
    "emails[(a pr",
    "emails[a pr)]",
    "emails[()]",
    "emails[a eq \"\\x\"]",
    "emails[a eq \"\\ud83d\"]",
    "emails[a eq \"\n\"]",
    "emails[a eq \"\xff\"]",
    "emails[a eq 01]",
    "emails[a eq -]",
    "emails[a eq +1]",
    "emails[a eq .5]",
    "emails[a eq 1.]",
    "emails[a eq 1.x]",
    "emails[a eq 1e]",
    "emails[a eq 1e+]",
    "emails[a eq 1ex]",
    "emails[a eq 1x]",
    "emails[a eq 0x1]",
    "emails[a eq nul]",
    "emails[a eq trues]",
};


static const member_t  members[] = {

    { NGX_SVC_SCIM_NAME, "givenName", NGX_SVC_SCIM_GIVEN_NAME },
    { NGX_SVC_SCIM_NAME, "FAMILYNAME", NGX_SVC_SCIM_FAMILY_NAME },
    { NGX_SVC_SCIM_NAME, "formatted", NGX_SVC_SCIM_FORMATTED },
    { NGX_SVC_SCIM_NAME, "", 0 },
    { NGX_SVC_SCIM_NAME, "middleName", 0 },
    { NGX_SVC_SCIM_NAME, "name", 0 },
    { NGX_SVC_SCIM_NAME, "name.givenName", 0 },
    { NGX_SVC_SCIM_NAME, "active", 0 },
    { NGX_SVC_SCIM_NAME, "department", 0 },
    { NGX_SVC_SCIM_ENTERPRISE, "department", NGX_SVC_SCIM_DEPARTMENT },
    { NGX_SVC_SCIM_ENTERPRISE, "Department", NGX_SVC_SCIM_DEPARTMENT },
    { NGX_SVC_SCIM_ENTERPRISE, "", 0 },
    { NGX_SVC_SCIM_ENTERPRISE, "manager", 0 },
    { NGX_SVC_SCIM_ENTERPRISE, "active", 0 },
    { NGX_SVC_SCIM_ENTERPRISE, E ":department", 0 },
};


#define ALWAYS  NGX_SVC_SCIM_ALWAYS
#define ALL     NGX_SVC_SCIM_SHOWN


static const projection_t  projections[] = {

    { NULL, NULL, ALL },
    { "", NULL, ALL },
    { NULL, "", ALL },
    { "userName", NULL, ALWAYS|NGX_SVC_SCIM_USER_NAME },
    { "userName,active", NULL,
      ALWAYS|NGX_SVC_SCIM_USER_NAME|NGX_SVC_SCIM_ACTIVE },
    { " username , ACTIVE ", NULL,
      ALWAYS|NGX_SVC_SCIM_USER_NAME|NGX_SVC_SCIM_ACTIVE },
    { ",,userName,", NULL, ALWAYS|NGX_SVC_SCIM_USER_NAME },
    { "id", NULL, ALWAYS },
    { "nickName", NULL, ALWAYS },
    { "user name,[,\xff", NULL, ALWAYS },
    { ",", NULL, ALWAYS },
    { "  ", NULL, ALWAYS },
    { "name", NULL, ALWAYS|NGX_SVC_SCIM_NAME },
    { "name.givenName", NULL, ALWAYS|NGX_SVC_SCIM_GIVEN_NAME },
    { U ":userName", NULL, ALWAYS|NGX_SVC_SCIM_USER_NAME },
    { E, NULL, ALWAYS|NGX_SVC_SCIM_DEPARTMENT },
    { E ":department", NULL, ALWAYS|NGX_SVC_SCIM_DEPARTMENT },
    { "emails.value,meta.created", NULL,
      ALWAYS|NGX_SVC_SCIM_EMAIL_VALUE|NGX_SVC_SCIM_META_CREATED },
    { "EMAILS.Type,emails.primary,emails.display", NULL,
      ALWAYS|NGX_SVC_SCIM_EMAIL_TYPE|NGX_SVC_SCIM_EMAIL_PRIMARY },
    { U ":emails," U ":meta.version", NULL,
      ALWAYS|NGX_SVC_SCIM_EMAIL_PARTS|NGX_SVC_SCIM_META_VERSION },
    { "emails", "emails.value", ALWAYS|NGX_SVC_SCIM_EMAIL_TYPE
                                |NGX_SVC_SCIM_EMAIL_PRIMARY },
    { "meta.x", NULL, ALWAYS },
    { "emails[type eq \"work\"]", NULL, ALWAYS },

    { U, NULL, ALL },
    { NULL, "meta.created,emails.value," U ":meta.location",
      ALL & ~(NGX_SVC_SCIM_META_CREATED|NGX_SVC_SCIM_EMAIL_VALUE
              |NGX_SVC_SCIM_META_LOCATION) },
    { NULL, "meta", ALL & ~NGX_SVC_SCIM_META_PARTS },
    { NULL, "userName", ALL & ~NGX_SVC_SCIM_USER_NAME },
    { NULL, "name.familyName", ALL & ~NGX_SVC_SCIM_FAMILY_NAME },
    { NULL, "id,schemas", ALL },
    { NULL, "name,emails", ALL & ~(NGX_SVC_SCIM_NAME
                                 |NGX_SVC_SCIM_EMAIL_PARTS) },
    { NULL, E, ALL & ~NGX_SVC_SCIM_DEPARTMENT },
    { NULL, E ":department", ALL & ~NGX_SVC_SCIM_DEPARTMENT },
    { NULL, "nickName", ALL },

    { "userName,active", "active,title", ALWAYS|NGX_SVC_SCIM_USER_NAME },
};


/* In a block of exactly its size, so that a read beyond it is found. */

static ngx_int_t
parse(ngx_pool_t *pool, const char *text, size_t len, ngx_uint_t *bits)
{
    u_char  *copy;

    copy = ngx_pnalloc(pool, len ? len : 1);
    assert_non_null(copy);

    ngx_memcpy(copy, text, len);
    *bits = 0xdead;

    return ngx_svc_scim_path_parse(copy, len, bits);
}


static void
test_ours(void **state)
{
    ngx_int_t   rc;
    ngx_uint_t  i, bits;

    for (i = 0; i < ngx_unit_len(ours); i++) {

        rc = parse(*state, ours[i].text, strlen(ours[i].text), &bits);

        if (rc != NGX_OK || bits != ours[i].bits) {
            fail_msg("%s: %d %x", ours[i].text, (int) rc, (unsigned) bits);
        }
    }
}


static void
test_theirs(void **state)
{
    ngx_int_t   rc;
    ngx_uint_t  i, bits;

    for (i = 0; i < ngx_unit_len(theirs); i++) {

        rc = parse(*state, theirs[i], strlen(theirs[i]), &bits);

        if (rc != NGX_DECLINED || bits != 0) {
            fail_msg("%s: %d %x", theirs[i], (int) rc, (unsigned) bits);
        }
    }
}


static void
test_malformed(void **state)
{
    ngx_int_t   rc;
    ngx_uint_t  i, bits;

    for (i = 0; i < ngx_unit_len(malformed); i++) {

        rc = parse(*state, malformed[i], strlen(malformed[i]), &bits);

        if (rc != NGX_ERROR || bits != 0) {
            fail_msg("%s: %d %x", malformed[i], (int) rc, (unsigned) bits);
        }
    }

    assert_int_equal(parse(*state, "a\0b", 3, &bits), NGX_ERROR);
    assert_int_equal(parse(*state, "urn:x\0:y", 8, &bits), NGX_ERROR);
    assert_int_equal(parse(*state, "x[a eq \"\0\"]", 11, &bits), NGX_ERROR);
}


/* A value filter that is cut anywhere is malformed. */

static void
test_cut(void **state)
{
    size_t      len;
    ngx_uint_t  bits;

    static const char  text[] =
                     "emails[not (a.b eq \"x\\\"]\" and c pr) or d ge -1.5e+3]";

    for (len = sizeof("emails[") - 1; len < sizeof(text) - 1; len++) {
        assert_int_equal(parse(*state, text, len, &bits), NGX_ERROR);
    }

    assert_int_equal(parse(*state, text, len, &bits), NGX_DECLINED);
}


static void
nest(u_char *text, size_t depth, ngx_uint_t negated)
{
    size_t       i;
    const char  *open;

    open = negated ? "not(" : "(";

    text = ngx_cpymem(text, "x[", 2);

    for (i = 0; i < depth; i++) {
        text = ngx_cpymem(text, open, strlen(open));
    }

    text = ngx_cpymem(text, "a pr", 4);

    for (i = 0; i < depth; i++) {
        *text++ = ')';
    }

    ngx_memcpy(text, "]", 2);
}


static void
test_depth(void **state)
{
    char        *text;
    ngx_uint_t   negated, bits;

    text = ngx_palloc(*state, 1000000);
    assert_non_null(text);

    for (negated = 0; negated < 2; negated++) {

        nest((u_char *) text, 32, negated);
        assert_int_equal(parse(*state, text, strlen(text), &bits),
                         NGX_DECLINED);

        nest((u_char *) text, 33, negated);
        assert_int_equal(parse(*state, text, strlen(text), &bits), NGX_ERROR);

        nest((u_char *) text, 190000, negated);
        assert_int_equal(parse(*state, text, strlen(text), &bits), NGX_ERROR);
    }

    /* one after the other they are no deeper */

    text[0] = '\0';
    strcat(text, "x[");

    for (bits = 0; bits < 100; bits++) {
        strcat(text, "((a pr)) and ");
    }

    strcat(text, "b pr]");

    assert_int_equal(parse(*state, text, strlen(text), &bits), NGX_DECLINED);
}


static void
test_members(void **state)
{
    ngx_uint_t       i, bits;
    const member_t  *row;

    for (i = 0; i < ngx_unit_len(members); i++) {

        row = &members[i];
        bits = ngx_svc_scim_path_member(row->parent, (u_char *) row->name,
                                        strlen(row->name));

        if (bits != row->bits) {
            fail_msg("%x %s: %x", (unsigned) row->parent, row->name,
                     (unsigned) bits);
        }
    }
}


static ngx_str_t *
value(ngx_str_t *str, const char *text)
{
    if (text == NULL) {
        return NULL;
    }

    str->data = (u_char *) text;
    str->len = strlen(text);

    return str;
}


static void
test_projections(void **state)
{
    ngx_str_t            attributes, excluded;
    ngx_uint_t           i, mask;
    const projection_t  *row;

    for (i = 0; i < ngx_unit_len(projections); i++) {

        row = &projections[i];
        mask = ngx_svc_scim_projection(value(&attributes, row->attributes),
                                       value(&excluded, row->excluded));

        if (mask != row->mask) {
            fail_msg("%s - %s: %x", row->attributes ? row->attributes : "",
                     row->excluded ? row->excluded : "", (unsigned) mask);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_ours),
        ngx_unit_test(test_theirs),
        ngx_unit_test(test_malformed),
        ngx_unit_test(test_cut),
        ngx_unit_test(test_depth),
        ngx_unit_test(test_members),
        ngx_unit_test(test_projections),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("scim path", tests, NULL, NULL);
}
