/*
 * Applications: the bodies of their routes.
 */

#include "ngx_svc_application.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_application_keys.h"
#include "ngx_svc_application_redirect.h"
#include "ngx_svc_application_resource.h"
#include "ngx_svc_application_scope.h"
#include "ngx_svc_url.h"


static ngx_int_t ngx_svc_application_word(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_application_uri(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_application_logout_uri(
    const ngx_svc_member_t *member, ngx_svc_value_t *value, const char *path,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_application_uris(ngx_svc_request_t *sr,
    const ngx_svc_value_t *value, const char *name);


#define NGX_SVC_APPLICATION_TYPE_NAME(name, ...)  name,

static const char *const  ngx_svc_application_type_names[] = {
    NGX_SVC_APPLICATION_TYPES(NGX_SVC_APPLICATION_TYPE_NAME) NULL
};

static const char *const  ngx_svc_application_methods[] = {
    "client_secret_basic", NGX_SVC_APPLICATION_BY_KEYS, "none", NULL
};

static const char *const  ngx_svc_application_assignments[] = {
    "everyone", "groups", NULL
};

static const char *const  ngx_svc_application_formats[] = {
    "jwt", "opaque", NULL
};

static const char *const  ngx_svc_application_algs[] = {
    "ES256", "RS256", NULL
};

static const char *const  ngx_svc_application_profiles[] = {
    "fapi2", NULL
};

static const char *const  ngx_svc_application_unknown[] = {
    "refuse", "ignore", NULL
};

static const char *const  ngx_svc_application_refresh[] = {
    "offline_access", "always", NULL
};

static const char *const  ngx_svc_application_claims[] = {
    "email", "profile", "groups", "roles", NULL
};

static const char *const  ngx_svc_application_groups[] = {
    "all", "assigned", NULL
};

/* Members whose values are words, and those words. */

static const struct {
    const char         *member;
    const char *const  *words;
} ngx_svc_application_words[] = {
    { "type", ngx_svc_application_type_names },
    { "grantTypes", ngx_svc_application_grant_names },
    { "tokenEndpointAuthMethod", ngx_svc_application_methods },
    { "assignment", ngx_svc_application_assignments },
    { "accessTokenFormat", ngx_svc_application_formats },
    { "signingAlg", ngx_svc_application_algs },
    { "securityProfile", ngx_svc_application_profiles },
    { "unknownScopes", ngx_svc_application_unknown },
    { "refreshTokens", ngx_svc_application_refresh },
    { "idTokenClaims", ngx_svc_application_claims },
    { "groupsClaim", ngx_svc_application_groups },
    { NULL, NULL }
};


static const ngx_svc_member_t  ngx_svc_application_redirect_element = {
    .name = ngx_string("redirectUris"),
    .type = NGX_SVC_T_STRING,
    .min = 1,
    .max = NGX_SVC_URL_MAX,
    .check = ngx_svc_application_uri
};

static const ngx_svc_member_t  ngx_svc_application_logout_element = {
    .name = ngx_string("postLogoutRedirectUris"),
    .type = NGX_SVC_T_STRING,
    .min = 1,
    .max = NGX_SVC_URL_MAX,
    .check = ngx_svc_application_uri
};

static const ngx_svc_member_t  ngx_svc_application_scope_element = {
    .name = ngx_string("scopes"),
    .type = NGX_SVC_T_STRING,
    .min = 1,
    .max = NGX_SVC_APPLICATION_SCOPE,
    .check = ngx_svc_application_check_scope
};

static const ngx_svc_member_t  ngx_svc_application_grant_element = {
    .name = ngx_string("grantTypes"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_application_word
};

static const ngx_svc_member_t  ngx_svc_application_claim_element = {
    .name = ngx_string("idTokenClaims"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_application_word
};

#define ngx_svc_application_read_only                                         \
    ngx_svc_read_only_member("clientId"),                                     \
    ngx_svc_read_only_member("clientSecret"),                                 \
    ngx_svc_read_only_member("jwksStatus"),                                   \
    ngx_svc_read_only_member("secretRotatedAt"),                              \
    ngx_svc_read_only_member("previousSecretValidUntil"),                     \
    ngx_svc_read_only_member("lastUsedAt"),                                   \
    ngx_svc_read_only_member("createdAt"),                                    \
    ngx_svc_read_only_member("updatedAt")

/* The statements read these from the JSON of the body. */

#define ngx_svc_application_openid_rows                                       \
                                                                              \
    { .name = ngx_string("signingAlg"),                                       \
      .type = NGX_SVC_T_STRING,                                               \
      .check = ngx_svc_application_word,                                      \
      .offset = offsetof(ngx_svc_application_t, signing_alg) },               \
                                                                              \
    { .name = ngx_string("requirePkce"),                                      \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_application_t, require_pkce) },              \
                                                                              \
    { .name = ngx_string("requireAcr"),                                       \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_application_t, require_acr) },               \
                                                                              \
    { .name = ngx_string("unknownScopes"),                                    \
      .type = NGX_SVC_T_STRING,                                               \
      .check = ngx_svc_application_word,                                      \
      .offset = offsetof(ngx_svc_application_t, unknown_scopes) },            \
                                                                              \
    { .name = ngx_string("refreshTokens"),                                    \
      .type = NGX_SVC_T_STRING,                                               \
      .check = ngx_svc_application_word,                                      \
      .offset = offsetof(ngx_svc_application_t, refresh_tokens) },            \
                                                                              \
    { .name = ngx_string("idTokenClaims"),                                    \
      .type = NGX_SVC_T_ARRAY,                                                \
      .element = &ngx_svc_application_claim_element,                          \
      .offset = offsetof(ngx_svc_application_t, id_token_claims) },           \
                                                                              \
    { .name = ngx_string("groupsClaim"),                                      \
      .type = NGX_SVC_T_STRING,                                               \
      .check = ngx_svc_application_word,                                      \
      .offset = offsetof(ngx_svc_application_t, groups_claim) },              \
                                                                              \
    { .name = ngx_string("idTokenTtlSeconds"),                                \
      .type = NGX_SVC_T_INTEGER,                                              \
      .min = 60,                                                              \
      .max = 86400,                                                           \
      .offset = offsetof(ngx_svc_application_t, id_token_ttl) },              \
                                                                              \
    { .name = ngx_string("refreshIdleDays"),                                  \
      .type = NGX_SVC_T_INTEGER,                                              \
      .min = 1,                                                               \
      .max = 365,                                                             \
      .offset = offsetof(ngx_svc_application_t, refresh_idle_days) },         \
                                                                              \
    { .name = ngx_string("grantDays"),                                        \
      .type = NGX_SVC_T_INTEGER,                                              \
      .min = 1,                                                               \
      .max = 3650,                                                            \
      .offset = offsetof(ngx_svc_application_t, grant_days) },                \
                                                                              \
    { .name = ngx_string("defaultResourceUri"),                               \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_APPLICATION_RESOURCE,                                    \
      .check = ngx_svc_application_check_resource,                            \
      .offset = offsetof(ngx_svc_application_t, default_resource_uri) },      \
                                                                              \
    { .name = ngx_string("postLogoutRedirectUris"),                           \
      .type = NGX_SVC_T_ARRAY,                                                \
      .element = &ngx_svc_application_logout_element,                         \
      .offset = offsetof(ngx_svc_application_t,                               \
                         post_logout_redirect_uris) },                        \
                                                                              \
    { .name = ngx_string("backchannelLogoutUri"),                             \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_URL_MAX,                                                 \
      .check = ngx_svc_application_logout_uri,                                \
      .offset = offsetof(ngx_svc_application_t, backchannel_logout_uri) },    \
                                                                              \
    { .name = ngx_string("backchannelLogoutSessionRequired"),                 \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_application_t, backchannel_session) },       \
                                                                              \
    { .name = ngx_string("jwks"),                                             \
      .type = NGX_SVC_T_OBJECT|NGX_SVC_T_NULL,                                \
      .check = ngx_svc_application_keys_check,                                \
      .offset = offsetof(ngx_svc_application_t, jwks) },                      \
                                                                              \
    { .name = ngx_string("jwksUri"),                                          \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_URL_MAX,                                                 \
      .check = ngx_svc_application_keys_uri,                                  \
      .offset = offsetof(ngx_svc_application_t, jwks_uri) },                  \
                                                                              \
    { .name = ngx_string("requirePar"),                                       \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_application_t, require_par) },               \
                                                                              \
    { .name = ngx_string("securityProfile"),                                  \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .check = ngx_svc_application_word,                                      \
      .offset = offsetof(ngx_svc_application_t, profile) }

#define ngx_svc_application_rows(needed)                                      \
                                                                              \
    { .name = ngx_string("name"),                                             \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = needed,                                                        \
      .min = 1,                                                               \
      .max = NGX_SVC_APPLICATION_NAME,                                        \
      .check = ngx_svc_check_name,                                            \
      .offset = offsetof(ngx_svc_application_t, name) },                      \
                                                                              \
    { .name = ngx_string("type"),                                             \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = needed,                                                        \
      .check = ngx_svc_application_word,                                      \
      .offset = offsetof(ngx_svc_application_t, type) },                      \
                                                                              \
    { .name = ngx_string("redirectUris"),                                     \
      .type = NGX_SVC_T_ARRAY,                                                \
      .element = &ngx_svc_application_redirect_element,                       \
      .offset = offsetof(ngx_svc_application_t, redirect_uris) },             \
                                                                              \
    { .name = ngx_string("scopes"),                                           \
      .type = NGX_SVC_T_ARRAY,                                                \
      .element = &ngx_svc_application_scope_element,                          \
      .offset = offsetof(ngx_svc_application_t, scopes) },                    \
                                                                              \
    { .name = ngx_string("grantTypes"),                                       \
      .type = NGX_SVC_T_ARRAY,                                                \
      .element = &ngx_svc_application_grant_element,                          \
      .offset = offsetof(ngx_svc_application_t, grant_types) },               \
                                                                              \
    { .name = ngx_string("enabled"),                                          \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_application_t, enabled) },                   \
                                                                              \
    { .name = ngx_string("tokenEndpointAuthMethod"),                          \
      .type = NGX_SVC_T_STRING,                                               \
      .check = ngx_svc_application_word,                                      \
      .offset = offsetof(ngx_svc_application_t, method) },                    \
                                                                              \
    { .name = ngx_string("assignment"),                                       \
      .type = NGX_SVC_T_STRING,                                               \
      .check = ngx_svc_application_word,                                      \
      .offset = offsetof(ngx_svc_application_t, assignment) },                \
                                                                              \
    { .name = ngx_string("resourceUri"),                                      \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_APPLICATION_RESOURCE,                                    \
      .check = ngx_svc_application_check_resource,                            \
      .offset = offsetof(ngx_svc_application_t, resource_uri) },              \
                                                                              \
    { .name = ngx_string("accessTokenFormat"),                                \
      .type = NGX_SVC_T_STRING,                                               \
      .check = ngx_svc_application_word,                                      \
      .offset = offsetof(ngx_svc_application_t, format) },                    \
                                                                              \
    { .name = ngx_string("accessTokenTtlSeconds"),                            \
      .type = NGX_SVC_T_INTEGER,                                              \
      .min = 60,                                                              \
      .max = 86400,                                                           \
      .offset = offsetof(ngx_svc_application_t, ttl) },                       \
                                                                              \
    { .name = ngx_string("requireConsent"),                                   \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_application_t, require_consent) },           \
                                                                              \
    { .name = ngx_string("requireDpop"),                                      \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_application_t, require_dpop) },              \
                                                                              \
    ngx_svc_application_openid_rows

const ngx_svc_member_t  ngx_svc_application_create_members[] = {

    ngx_svc_application_rows(NGX_SVC_M_REQUIRED),

    { .name = ngx_string("ownerId"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_application_check_owner,
      .offset = offsetof(ngx_svc_application_t, owner_id) },

    ngx_svc_application_read_only,

    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_application_patch_members[] = {
    ngx_svc_application_rows(0),
    ngx_svc_application_read_only,
    ngx_svc_null_member
};


static ngx_int_t
ngx_svc_application_word(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    u_char             *p, text[NGX_MAX_ERROR_STR / 8];
    ngx_uint_t          i;
    const char *const  *word;

    for (i = 0; ngx_svc_application_words[i].member; i++) {
        if (ngx_strcmp(ngx_svc_application_words[i].member, member->name.data)
            == 0)
        {
            break;
        }
    }

    p = text;

    for (word = ngx_svc_application_words[i].words; word && *word; word++) {

        if (ngx_strcmp(*word, value->str.data) == 0) {
            return NGX_OK;
        }

        p = ngx_slprintf(p, text + sizeof(text), "%s\"%s\"",
                         p == text ? "" : ", ", *word);
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be one of %*s.", path,
                        (size_t) (p - text), text);
}


static ngx_int_t
ngx_svc_application_uri(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_application_redirect(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a URL such as "
                        "\"https://app.example.com/callback\", or one of "
                        "\"http\" with the host 127.0.0.1, [::1] or localhost,"
                        " without a user, a fragment, \"*\" and \"..\", and "
                        "without \"code\", \"state\", \"iss\" and "
                        "\"error\" in the query.",
                        path);
}


/* Refuses a URI to which no logout token could be delivered. */

static ngx_int_t
ngx_svc_application_logout_uri(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    ngx_int_t             rc;
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    rc = ngx_svc_url_https(member, value, path, err);

    return rc == NGX_OK && smcf->deliverable
           ? smcf->deliverable(&value->str, path, err) : rc;
}


ngx_int_t
ngx_svc_application_check_scope(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (value->str.len == sizeof("offline_access") - 1
        && ngx_memcmp(value->str.data, "offline_access", value->str.len) == 0)
    {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\": \"offline_access\" comes with the grant "
                            "type \"refresh_token\".", path);
    }

    if (ngx_svc_application_scope(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a scope such as \"invoices:read\": "
                        "printable ASCII without spaces, quotes and "
                        "backslashes.", path);
}


ngx_int_t
ngx_svc_application_check_resource(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    u_char     buf[NGX_SVC_APPLICATION_RESOURCE + 1];
    ngx_str_t  key;

    key.data = buf;

    if (ngx_svc_application_resource(&value->str, &key) == NGX_OK) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be an absolute URI such as "
                        "\"https://api.example.com/\", without a user and a "
                        "fragment.", path);
}


ngx_int_t
ngx_svc_application_check_owner(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_admin_id_exact(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" is no user's id.", path);
}


/*
 * Checks what no member's own check can see, and what does not depend on the
 * type.
 */

ngx_int_t
ngx_svc_application_check(ngx_svc_request_t *sr, void *body)
{
    ngx_uint_t              grants;
    ngx_svc_application_t  *app = body;

    if (ngx_svc_application_count(sr, &app->scopes,
                                  NGX_SVC_APPLICATION_SCOPES, "scopes")
        != NGX_OK
        || ngx_svc_application_uris(sr, &app->redirect_uris, "redirectUris")
           != NGX_OK
        || ngx_svc_application_uris(sr, &app->post_logout_redirect_uris,
                                    "postLogoutRedirectUris")
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    grants = ngx_svc_application_grants(&app->grant_types);

    if ((grants & NGX_SVC_GRANT_USER) == NGX_SVC_GRANT_REFRESH) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"grantTypes\" may have \"refresh_token\" with "
                            "\"authorization_code\" only.");
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_application_count(ngx_svc_request_t *sr, const ngx_svc_value_t *value,
    int max, const char *name)
{
    if (!value->set || value->null
        || cJSON_GetArraySize(value->json) <= max)
    {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_LIMIT_EXCEEDED,
                        "\"%s\" may have %d elements at most.", name, max);
}


static ngx_int_t
ngx_svc_application_uris(ngx_svc_request_t *sr, const ngx_svc_value_t *value,
    const char *name)
{
    cJSON  *uri, *other;

    if (!value->set) {
        return NGX_OK;
    }

    if (ngx_svc_application_count(sr, value, NGX_SVC_APPLICATION_REDIRECTS,
                                  name)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    for (uri = value->json->child; uri; uri = uri->next) {
        for (other = uri->next; other; other = other->next) {

            if (ngx_strcmp(uri->valuestring, other->valuestring) == 0) {
                return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                                    "\"%s\" has a URI twice.", name);
            }
        }
    }

    return NGX_OK;
}
