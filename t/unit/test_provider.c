/*
 * Identity providers that we know by name, and who a person is there.
 */

#include "ngx_unit_jose.h"
#include "ngx_svc_provider_person.h"


#define TID      "11111111-2222-3333-4444-555555555555"
#define OID      "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
#define MS       "\"tid\":\"" TID "\",\"oid\":\"" OID "\",\"sub\":\"s\""
#define MAIL(m)  "\"email\":\"" m "\""


static const ngx_str_t  domains[] = {
    ngx_string("example.org"), ngx_string("xn--fa-hia.example")
};


static ngx_svc_provider_settings_t
settings_of(const char *name, const char *tenant_id, ngx_uint_t trust)
{
    ngx_str_t                    str;
    ngx_svc_provider_settings_t  settings;

    str.data = (u_char *) name;
    str.len = strlen(name);

    memset(&settings, 0, sizeof(settings));

    settings.provider = ngx_svc_provider(&str);
    settings.tenant_id.data = (u_char *) tenant_id;
    settings.tenant_id.len = strlen(tenant_id);
    settings.domains = domains;
    settings.ndomains = ngx_unit_len(domains);
    settings.trust_email = trust;

    assert_non_null(settings.provider);

    return settings;
}


static void
same(const ngx_str_t *str, const char *text)
{
    if (str->len != strlen(text)
        || memcmp(str->data, text, str->len) != 0)
    {
        fail_msg("%.*s, not %s", (int) str->len, str->data, text);
    }
}


static void
test_names(void **state)
{
    ngx_str_t    name;
    ngx_uint_t   i;

    const ngx_svc_provider_t  *provider;

    static const struct {
        const char  *name;
        const char  *is;
    } rows[] = {
        { "google", "google" }, { "microsoft", "microsoft" },
        { "apple", "apple" }, { "gitlab", "gitlab" },
        { "linkedin", "linkedin" }, { "github", "github" },
        { "facebook", "facebook" }, { "oidc", "oidc" },
        { "oidc-acme", "oidc" }, { "oidc-0", "oidc" },
        { "oidc-abcdefghijklmnopqrstuvwxyz0123", "oidc" },

        { "oidc-abcdefghijklmnopqrstuvwxyz01234", NULL },
        { "oidc-", NULL }, { "oidc-A", NULL }, { "oidc-a-b", NULL },
        { "oidc_a", NULL }, { "oidcx", NULL }, { "google-a", NULL },
        { "Google", NULL }, { "", NULL }, { "saml", NULL },
        { "oidc-\xc3\xa9", NULL }
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        name.data = (u_char *) rows[i].name;
        name.len = strlen(rows[i].name);

        provider = ngx_svc_provider(&name);

        if ((provider == NULL) != (rows[i].is == NULL)) {
            fail_msg("%s", rows[i].name);
        }

        if (provider) {
            same(&provider->name, rows[i].is);
            assert_true(provider->scope.len > 0);
            assert_int_equal(provider->oauth, provider->user_endpoint.len > 0);
        }
    }
}


static void
test_discovery(void **state)
{
    ngx_str_t    url, issuer;
    ngx_uint_t   i;

    ngx_svc_provider_settings_t  settings;

#define WELL_KNOWN  "/.well-known/openid-configuration"
#define MICROSOFT   "https://login.microsoftonline.com/"

    static const struct {
        const char  *name;
        const char  *tenant_id;
        const char  *own;
        const char  *url;           /* NULL: there is none */
        const char  *issuer;
    } rows[] = {
        { "google", "", "", "https://accounts.google.com" WELL_KNOWN,
          "https://accounts.google.com" },
        { "google", "", "https://evil.example",
          "https://accounts.google.com" WELL_KNOWN,
          "https://accounts.google.com" },
        { "microsoft", "common", "", MICROSOFT "common/v2.0" WELL_KNOWN,
          MICROSOFT "{tenantid}/v2.0" },
        { "microsoft", "organizations", "",
          MICROSOFT "organizations/v2.0" WELL_KNOWN,
          MICROSOFT "{tenantid}/v2.0" },
        { "microsoft", "", "", MICROSOFT "organizations/v2.0" WELL_KNOWN,
          MICROSOFT "{tenantid}/v2.0" },
        { "microsoft", TID, "", MICROSOFT TID "/v2.0" WELL_KNOWN,
          MICROSOFT TID "/v2.0" },
        { "apple", "", "", "https://appleid.apple.com" WELL_KNOWN,
          "https://appleid.apple.com" },
        { "gitlab", "", "", "https://gitlab.com" WELL_KNOWN,
          "https://gitlab.com" },
        { "gitlab", "", "https://git.example.org/x/",
          "https://git.example.org/x" WELL_KNOWN,
          "https://git.example.org/x/" },
        { "linkedin", "", "", "https://www.linkedin.com/oauth" WELL_KNOWN,
          "https://www.linkedin.com/oauth" },
        { "oidc-acme", "", "https://idp.example",
          "https://idp.example" WELL_KNOWN, "https://idp.example" },
        { "github", "", "", NULL, NULL },
        { "facebook", "", "", NULL, NULL },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        settings = settings_of(rows[i].name, rows[i].tenant_id, 0);
        settings.issuer.data = (u_char *) rows[i].own;
        settings.issuer.len = strlen(rows[i].own);

        assert_int_equal(ngx_svc_provider_discovery(*state, &settings, &url,
                                                    &issuer),
                         rows[i].url ? NGX_OK : NGX_DECLINED);

        if (rows[i].url) {
            same(&url, rows[i].url);
            same(&issuer, rows[i].issuer);
        }
    }
}


static void
test_expect(void **state)
{
    ngx_svc_provider_settings_t  settings;
    ngx_svc_id_token_expected_t  e;

    static const ngx_str_t  tids[] = { ngx_string("a"), ngx_string("b") };

    memset(&e, 0, sizeof(e));

    settings = settings_of("microsoft", TID, 0);
    settings.tids = tids;
    settings.ntids = 2;
    ngx_svc_provider_expect(&settings, &e);
    same(&e.issuer, MICROSOFT "{tenantid}/v2.0");
    assert_int_equal(e.tenant, 1);
    assert_int_equal(e.no_nonce, 0);
    assert_int_equal(e.ntids, 1);
    same(&e.tids[0], TID);

    settings.tenant_id = (ngx_str_t) ngx_string("common");
    ngx_svc_provider_expect(&settings, &e);
    assert_ptr_equal(e.tids, tids);
    assert_int_equal(e.ntids, 2);

    settings = settings_of("linkedin", "", 0);
    ngx_svc_provider_expect(&settings, &e);
    same(&e.issuer, "https://www.linkedin.com/oauth");
    same(&e.issuer_too, "https://www.linkedin.com");
    assert_int_equal(e.tenant, 0);
    assert_int_equal(e.no_nonce, 1);
    assert_int_equal(e.ntids, 0);

    settings = settings_of("google", "", 0);
    settings.issuer = (ngx_str_t) ngx_string("https://evil.example");
    ngx_svc_provider_expect(&settings, &e);
    same(&e.issuer, "https://accounts.google.com");

    settings = settings_of("oidc", "", 0);
    settings.issuer = (ngx_str_t) ngx_string("https://idp.example");
    ngx_svc_provider_expect(&settings, &e);
    same(&e.issuer, "https://idp.example");
    assert_int_equal(e.issuer_too.len, 0);
    assert_int_equal(e.no_nonce, 0);
}


static void
test_person(void **state)
{
    char        *text;
    ngx_int_t    rc;
    ngx_uint_t   i;

    ngx_svc_provider_person_t    person;
    ngx_svc_provider_settings_t  settings;

    static const struct {
        const char  *name;
        const char  *tenant_id;
        ngx_uint_t   trust;
        const char  *claims;
        const char  *subject;       /* NULL: it is refused */
        const char  *email;         /* NULL: there is none */
        ngx_uint_t   verified;
    } rows[] = {
        { "google", "", 0, "\"sub\":\"s\"", "s", NULL, 0 },
        { "google", "", 0, MAIL("a@gmail.com"), NULL, NULL, 0 },
        { "google", "", 0, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("A@Gmail.com"), "s", "A@Gmail.com", 1 },
        { "google", "", 0, "\"sub\":\"s\",\"email_verified\":false,"
          MAIL("a@gmail.com"), "s", "a@gmail.com", 0 },
        { "google", "", 0, "\"sub\":\"s\"," MAIL("a@gmail.com"), "s",
          "a@gmail.com", 0 },
        { "google", "", 0, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@example.org"), "s", "a@example.org", 0 },
        { "google", "", 1, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@example.org") ",\"hd\":\"Example.org\"", "s",
          "a@example.org", 1 },
        { "google", "", 0, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@example.org") ",\"hd\":\"example.com\"", "s",
          "a@example.org", 0 },
        { "google", "", 0, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@x.example.org") ",\"hd\":\"example.org\"", "s",
          "a@x.example.org", 0 },
        { "google", "", 0, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@example.org") ",\"hd\":true", "s", "a@example.org", 0 },
        { "google", "", 0, "\"sub\":\"s\",\"hd\":\"example.org\","
          MAIL("a@example.org"), "s", "a@example.org", 0 },
        { "google", "", 0, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@notgmail.com"), "s", "a@notgmail.com", 0 },

        { "microsoft", "common", 1, MS "," MAIL("ceo@example.org")
          ",\"email_verified\":true", TID ":" OID, "ceo@example.org", 0 },
        { "microsoft", "common", 1, MS "," MAIL("ceo@example.org")
          ",\"xms_edov\":true", TID ":" OID, "ceo@example.org", 1 },
        { "microsoft", "common", 1, MS "," MAIL("ceo@example.org")
          ",\"xms_edov\":\"1\"", TID ":" OID, "ceo@example.org", 1 },
        { "microsoft", "common", 1, MS "," MAIL("ceo@example.org")
          ",\"xms_edov\":1", TID ":" OID, "ceo@example.org", 1 },
        { "microsoft", "organizations", 1, MS "," MAIL("ceo@example.org")
          ",\"xms_edov\":false", TID ":" OID, "ceo@example.org", 0 },
        { "microsoft", "organizations", 1, MS "," MAIL("ceo@example.org")
          ",\"xms_edov\":\"0\"", TID ":" OID, "ceo@example.org", 0 },
        { "microsoft", "organizations", 1, MS "," MAIL("ceo@example.org")
          ",\"xms_edov\":0", TID ":" OID, "ceo@example.org", 0 },
        { "microsoft", TID, 0, MS "," MAIL("ceo@Example.ORG"), TID ":" OID,
          "ceo@Example.ORG", 1 },
        { "microsoft", TID, 1, MS "," MAIL("ceo@example.com"), TID ":" OID,
          "ceo@example.com", 0 },
        { "microsoft", TID, 0, "\"sub\":\"s\",\"tid\":\"" TID "\"", NULL,
          NULL, 0 },
        { "microsoft", TID, 0, "\"sub\":\"s\",\"oid\":\"" OID "\"", NULL,
          NULL, 0 },

        { "apple", "", 0, "\"sub\":\"s\",\"email_verified\":\"true\","
          MAIL("x@privaterelay.appleid.com"), "s",
          "x@privaterelay.appleid.com", 1 },
        { "apple", "", 1, "\"sub\":\"s\",\"email_verified\":\"false\","
          MAIL("a@example.org"), "s", "a@example.org", 0 },

        { "gitlab", "", 0, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@example.org"), "s", "a@example.org", 1 },
        { "gitlab", "", 1, "\"sub\":\"s\"," MAIL("a@example.org"), "s",
          "a@example.org", 0 },
        { "linkedin", "", 0, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@example.org"), "s", "a@example.org", 1 },

        { "facebook", "", 1, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@example.org"), "s", "a@example.org", 0 },

        { "oidc", "", 0, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@other.example"), "s", "a@other.example", 1 },
        { "oidc", "", 0, "\"sub\":\"s\",\"email_verified\":\"false\","
          MAIL("a@example.org"), "s", "a@example.org", 0 },
        { "oidc", "", 0, "\"sub\":\"s\"," MAIL("a@example.org"), "s",
          "a@example.org", 0 },
        { "oidc-a", "", 1, "\"sub\":\"s\"," MAIL("a@EXAMPLE.org"), "s",
          "a@EXAMPLE.org", 1 },
        { "oidc-a", "", 1, "\"sub\":\"s\"," MAIL("a@fa\xc3\x9f.example"),
          "s", "a@fa\xc3\x9f.example", 1 },
        { "oidc-a", "", 1, "\"sub\":\"s\"," MAIL("a@sub.example.org"), "s",
          "a@sub.example.org", 0 },
        { "oidc-a", "", 1, "\"sub\":\"s\"," MAIL("a@other.example"), "s",
          "a@other.example", 0 },

        /* what is no address is none */

        { "oidc", "", 1, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL(""), "s", NULL, 0 },
        { "oidc", "", 1, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("example.org"), "s", NULL, 0 },
        { "oidc", "", 1, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@b@example.org"), "s", NULL, 0 },
        { "oidc", "", 1, "\"sub\":\"s\",\"email_verified\":true,"
          MAIL("a@example.org\\r\\nBcc: x"), "s", NULL, 0 },
        { "oidc", "", 1, "\"sub\":\"s\",\"email_verified\":true,"
          "\"email\":[\"a@example.org\"]", "s", NULL, 0 },
        { "oidc", "", 1, "\"sub\":1", NULL, NULL, 0 },
        { "oidc", "", 1, "\"sub\":\"\"", NULL, NULL, 0 },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        settings = settings_of(rows[i].name, rows[i].tenant_id, rows[i].trust);

        text = ngx_palloc(*state, 1024);
        sprintf(text, "{%s}", rows[i].claims);

        rc = ngx_svc_provider_person(*state, &settings, unit_json(*state, text),
                                     &person);

        if (rc != (rows[i].subject ? NGX_OK : NGX_DECLINED)
            || person.verified != rows[i].verified
            || (person.email.data == NULL) != (rows[i].email == NULL)
            || (person.why == NULL) != (rc == NGX_OK))
        {
            fail_msg("%s %s", rows[i].name, text);
        }

        if (rows[i].subject) {
            same(&person.subject, rows[i].subject);
        }

        if (rows[i].email) {
            same(&person.email, rows[i].email);
        }
    }
}


static void
test_github(void **state)
{
    ngx_int_t    rc;
    ngx_str_t    user, emails;
    ngx_uint_t   i;

    ngx_svc_provider_person_t  person;

    static const struct {
        const char  *user;
        const char  *emails;
        const char  *subject;
        const char  *email;
        ngx_uint_t   verified;
    } rows[] = {
        { "{\"id\":583231,\"login\":\"octocat\"}",
          "[{\"email\":\"a@b.example\",\"primary\":false,\"verified\":true},"
          "{\"email\":\"octocat@github.com\",\"primary\":true,"
          "\"verified\":true,\"visibility\":\"private\"}]",
          "583231", "octocat@github.com", 1 },
        { "{\"id\":9007199254740991}", " [ ] ", "9007199254740991", NULL, 0 },
        { "{\"id\":1}", "[{\"email\":\"a@b.example\",\"primary\":true,"
          "\"verified\":false}]", "1", "a@b.example", 0 },
        { "{\"id\":1}", "[{\"email\":\"a@b.example\",\"primary\":true}]", "1",
          "a@b.example", 0 },
        { "{\"id\":1}", "[{\"email\":\"a@b.example\",\"primary\":true,"
          "\"verified\":\"true\"}]", "1", "a@b.example", 0 },
        { "{\"id\":1}", "[{\"email\":\"a@b.example\",\"verified\":true}]", "1",
          NULL, 0 },
        { "{\"id\":1}", "[1,null,\"x\",[]]", "1", NULL, 0 },
        { "{\"id\":1,\"email\":\"a@b.example\"}", "[]", "1", NULL, 0 },

        { "{\"id\":0}", "[]", NULL, NULL, 0 },
        { "{\"id\":-1}", "[]", NULL, NULL, 0 },
        { "{\"id\":1.5}", "[]", NULL, NULL, 0 },
        { "{\"id\":9007199254740993}", "[]", NULL, NULL, 0 },
        { "{\"id\":1e300}", "[]", NULL, NULL, 0 },
        { "{\"id\":\"1\"}", "[]", NULL, NULL, 0 },
        { "{}", "[]", NULL, NULL, 0 }, { "[]", "[]", NULL, NULL, 0 },
        { "", "[]", NULL, NULL, 0 }, { "{\"id\":1}", "{}", NULL, NULL, 0 },
        { "{\"id\":1}", "", NULL, NULL, 0 },
        { "{\"id\":1}", "[],\"x\":[]", NULL, NULL, 0 },
        { "{\"id\":1}", "[]}", NULL, NULL, 0 },
    };

    for (i = 0; i < ngx_unit_len(rows); i++) {
        user.data = (u_char *) rows[i].user;
        user.len = strlen(rows[i].user);
        emails.data = (u_char *) rows[i].emails;
        emails.len = strlen(rows[i].emails);

        rc = ngx_svc_provider_github(*state, &user, &emails, &person);

        if (rc != (rows[i].subject ? NGX_OK : NGX_DECLINED)
            || person.verified != rows[i].verified
            || (person.email.data == NULL) != (rows[i].email == NULL)
            || (person.why == NULL) != (rc == NGX_OK))
        {
            fail_msg("%s %s", rows[i].user, rows[i].emails);
        }

        if (rows[i].subject) {
            same(&person.subject, rows[i].subject);
        }

        if (rows[i].email) {
            same(&person.email, rows[i].email);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_names),
        ngx_unit_test(test_discovery),
        ngx_unit_test(test_expect),
        ngx_unit_test(test_person),
        ngx_unit_test(test_github),
    };

    ngx_env_init();
    ngx_svc_json_init();

    return cmocka_run_group_tests_name("provider", tests, NULL, NULL);
}
