/*
 * The attributes of a user in RFC 7643.
 */

#include "ngx_unit.h"
#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_known.h"
#include "ngx_svc_scim_path.h"


#define U     NGX_SVC_SCIM_CORE_URN
#define E     NGX_SVC_SCIM_ENTERPRISE_URN

#define READ  NGX_SVC_SCIM_K_READ_ONLY
#define MAIL  (NGX_SVC_SCIM_K_MULTI|READ|NGX_SVC_SCIM_K_IGNORED)
#define NONE  (MAIL|NGX_SVC_SCIM_K_NO_TARGET)


typedef struct {
    const char  *text;
    ngx_uint_t   flags;
} known_t;


static const known_t  known[] = {

    { "userName", NGX_SVC_SCIM_K_REQUIRED },
    { "userName[type eq \"x\"]", 0 },
    { "name[type eq \"x\"].givenName", 0 },
    { E ":manager[value eq \"x\"]", 0 },
    { "ACTIVE", NGX_SVC_SCIM_K_REQUIRED },
    { U ":active", NGX_SVC_SCIM_K_REQUIRED },
    { "id", READ },
    { "meta", READ },
    { "meta.Version", READ },
    { "groups", NGX_SVC_SCIM_K_MULTI|READ },
    { "groups.$ref", NGX_SVC_SCIM_K_MULTI|READ },
    { "nickName", 0 },
    { "name.MIDDLENAME", 0 },
    { E ":manager.displayName", 0 },
    { E ":department", 0 },
    { "phoneNumbers[type eq \"mobile\"].value", NGX_SVC_SCIM_K_MULTI },
    { "addresses[type eq \"work\"].streetAddress", NGX_SVC_SCIM_K_MULTI },

    { "emails", MAIL },
    { "emails.value", MAIL },
    { "emails[type eq \"work\"]", MAIL },
    { "emails[TYPE EQ \"WORK\"].value", MAIL },
    { "emails[primary eq true].value", MAIL },
    { "emails[primary eq \"True\"].value", MAIL },
    { "emails[value eq \"a]b\"].value", MAIL },
    { "emails[value eq \"home\"]", MAIL },
    { "emails[not (type eq \"work\")]", MAIL },
    { "emails[type eq \"home\" or primary eq true]", MAIL },
    { "emails[type eq \"home\"]", NONE },
    { "emails[ type  eq \"home\" ].value", NONE },
    { "emails[primary eq false]", NONE },
    { U ":emails[type eq \"\"].value", NONE },
};


static const char  *unknown[] = {
    "x", "department", "name.nickName", "name.given", "name.givenNames",
    "userName.x",
    "emails.x", "emails[type eq \"work\"].x", "emails.value[type eq \"x\"]",
    E ":title", U ":department", "urn:x:y:title"
};


static void
test_known(void **state)
{
    size_t          i, len;
    char           *text;
    ngx_int_t       rc;
    ngx_uint_t      flags, bits;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {

        /* in memory of exactly its length, so that nothing beyond it is read */

        len = strlen(known[i].text);
        text = malloc(len);
        assert_non_null(text);
        memcpy(text, known[i].text, len);

        assert_int_not_equal(ngx_svc_scim_path_parse((u_char *) text, len,
                                                     &bits), NGX_ERROR);

        flags = 0xff;
        rc = ngx_svc_scim_known((u_char *) text, len, &flags);

        if (rc != NGX_OK || flags != known[i].flags) {
            fail_msg("%s: %d, %x", known[i].text, (int) rc, (int) flags);
        }

        free(text);
    }
}


static void
test_unknown(void **state)
{
    size_t      i;
    ngx_uint_t  flags;

    for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {

        if (ngx_svc_scim_known((u_char *) unknown[i], strlen(unknown[i]),
                               &flags)
            != NGX_DECLINED)
        {
            fail_msg("%s", unknown[i]);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_known),
        ngx_unit_test(test_unknown),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("scim known", tests, NULL, NULL);
}
