/*
 * /v1/admin/social/connections: a tenant's connections with social providers,
 * and with any others that speak OpenID Connect.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_attribute_map.h"
#include "ngx_svc_base_url.h"
#include "ngx_svc_connection.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_sealed.h"
#include "ngx_svc_social_provider.h"
#include "ngx_svc_url.h"


#define NGX_SVC_ADMIN_SOCIAL_CLIENT   255   /* characters */
#define NGX_SVC_ADMIN_SOCIAL_SECRET   4096  /* bytes: Apple's is a PEM key */
#define NGX_SVC_ADMIN_SOCIAL_APPLE    10    /* characters of Apple's ids */
#define NGX_SVC_ADMIN_SOCIAL_OIDC     20    /* of a tenant */
#define NGX_SVC_ADMIN_SOCIAL_TENANTS  100   /* "allowedTenants" */

#define NGX_SVC_ADMIN_NO_SOCIAL                                               \
    "There is no connection with this provider."


typedef struct {
    ngx_svc_connection_t  connection;
    ngx_svc_value_t       provider;
    ngx_svc_value_t       client_id;
    ngx_svc_value_t       client_secret;
    ngx_svc_value_t       team_id;
    ngx_svc_value_t       key_id;
    ngx_svc_value_t       enabled;
    ngx_svc_value_t       issuer;
    ngx_svc_value_t       directory;
    ngx_svc_value_t       allowed_tenants;
    ngx_svc_value_t       trust_email;
    ngx_svc_value_t       attribute_mapping;
} ngx_svc_admin_social_t;


/* A member that is for one provider alone, or for two. */

typedef struct {
    const char           *member;       /* NULL ends the table */
    const char           *provider;
    size_t                offset;
    ngx_uint_t            required;     /* with the provider */
    ngx_uint_t          (*needs)(const ngx_str_t *provider);
    ngx_uint_t          (*other)(const ngx_str_t *provider);    /* or NULL */
} ngx_svc_admin_social_own_t;


static ngx_int_t ngx_svc_admin_social_provider(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_social_apple(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_social_directory(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_social_tenant(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_uint_t ngx_svc_admin_social_uuid(ngx_str_t *text);
static ngx_int_t ngx_svc_admin_social_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_social_own(ngx_svc_request_t *sr,
    ngx_svc_admin_social_t *social);
static ngx_int_t ngx_svc_admin_social_owned(ngx_svc_request_t *sr,
    const ngx_svc_admin_social_own_t *own, const ngx_str_t *provider,
    ngx_svc_value_t *value);
static ngx_int_t ngx_svc_admin_social_secret(ngx_svc_request_t *sr,
    ngx_svc_value_t *secret, ngx_uint_t oidc);
static ngx_int_t ngx_svc_admin_social_issuer(ngx_svc_request_t *sr,
    ngx_svc_value_t *issuer);
static ngx_int_t ngx_svc_admin_social_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_social_bind_creates(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static void ngx_svc_admin_social_known(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_social_id = {
    .name = ngx_string("tenant"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_admin_social_tenant
};


/* What POST and PATCH both take, but for what only POST asks for. */

#define NGX_SVC_ADMIN_SOCIAL_MEMBERS(required)                                \
                                                                              \
    { .name = ngx_string("clientId"),                                         \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_SOCIAL_CLIENT,                                     \
      .offset = offsetof(ngx_svc_admin_social_t, client_id) },                \
                                                                              \
    { .name = ngx_string("clientSecret"),                                     \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_SOCIAL_SECRET,                                     \
      .offset = offsetof(ngx_svc_admin_social_t, client_secret) },            \
                                                                              \
    { .name = ngx_string("teamId"),                                           \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .check = ngx_svc_admin_social_apple,                                    \
      .offset = offsetof(ngx_svc_admin_social_t, team_id) },                  \
                                                                              \
    { .name = ngx_string("keyId"),                                            \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .check = ngx_svc_admin_social_apple,                                    \
      .offset = offsetof(ngx_svc_admin_social_t, key_id) },                   \
                                                                              \
    { .name = ngx_string("enabled"),                                          \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_admin_social_t, enabled) },                  \
                                                                              \
    { .name = ngx_string("issuer"),                                           \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_URL_MAX,                                                 \
      .offset = offsetof(ngx_svc_admin_social_t, issuer) },                   \
                                                                              \
    { .name = ngx_string("tenantId"),                                         \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .check = ngx_svc_admin_social_directory,                                \
      .offset = offsetof(ngx_svc_admin_social_t, directory) },                \
                                                                              \
    { .name = ngx_string("allowedTenants"),                                   \
      .type = NGX_SVC_T_ARRAY|NGX_SVC_T_NULL,                                 \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_SOCIAL_TENANTS,                                    \
      .element = &ngx_svc_admin_social_id,                                    \
      .offset = offsetof(ngx_svc_admin_social_t, allowed_tenants) },          \
                                                                              \
    { .name = ngx_string("trustEmail"),                                       \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_admin_social_t, trust_email) },              \
                                                                              \
    { .name = ngx_string("attributeMapping"),                                 \
      .type = NGX_SVC_T_OBJECT|NGX_SVC_T_NULL,                                \
      .check = ngx_svc_attribute_map_check,                                   \
      .offset = offsetof(ngx_svc_admin_social_t, attribute_mapping) },        \
                                                                              \
    ngx_svc_null_member


static const ngx_svc_member_t  ngx_svc_admin_social_members[] = {

    { .name = ngx_string("provider"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .check = ngx_svc_admin_social_provider,
      .offset = offsetof(ngx_svc_admin_social_t, provider) },

    NGX_SVC_ADMIN_SOCIAL_MEMBERS(NGX_SVC_M_REQUIRED)
};

static const ngx_svc_member_t  ngx_svc_admin_social_patch[] = {
    NGX_SVC_ADMIN_SOCIAL_MEMBERS(0)
};


#define ngx_svc_admin_social_column(field, member, absent)                    \
    ngx_svc_connection_column(ngx_svc_admin_social_t, field, member, absent)

static const ngx_svc_connection_column_t  ngx_svc_admin_social_columns[] = {
    ngx_svc_admin_social_column(client_id, "clientId", "null"),
    ngx_svc_admin_social_column(client_secret, "clientSecret", NULL),
    ngx_svc_admin_social_column(team_id, "teamId", "null"),
    ngx_svc_admin_social_column(key_id, "keyId", "null"),
    ngx_svc_admin_social_column(enabled, "enabled", "true"),
    ngx_svc_admin_social_column(issuer, "issuer", "null"),
    ngx_svc_admin_social_column(directory, "tenantId", "null"),
    ngx_svc_admin_social_column(allowed_tenants, "allowedTenants", "null"),
    ngx_svc_admin_social_column(trust_email, "trustEmail", "false"),
    ngx_svc_admin_social_column(attribute_mapping, "attributeMapping", "{}"),
    ngx_svc_connection_shared(jit_provisioning, "jitProvisioning", "false"),
    ngx_svc_connection_shared(show_on_page, "showOnPage", "true"),
    ngx_svc_connection_column_end
};


#define ngx_svc_admin_social_of(field, member, provider, ...)                 \
    { member, provider, offsetof(ngx_svc_admin_social_t, field), __VA_ARGS__ }

static const ngx_svc_admin_social_own_t  ngx_svc_admin_social_owns[] = {
    ngx_svc_admin_social_of(team_id, "teamId", "apple", 1,
                            ngx_svc_social_provider_apple, NULL),
    ngx_svc_admin_social_of(key_id, "keyId", "apple", 1,
                            ngx_svc_social_provider_apple, NULL),
    ngx_svc_admin_social_of(issuer, "issuer", "oidc", 1,
                            ngx_svc_social_provider_oidc,
                            ngx_svc_social_provider_gitlab),
    ngx_svc_admin_social_of(directory, "tenantId", "microsoft", 0,
                            ngx_svc_social_provider_microsoft, NULL),
    ngx_svc_admin_social_of(allowed_tenants, "allowedTenants", "microsoft", 0,
                            ngx_svc_social_provider_microsoft, NULL),
    ngx_svc_admin_social_of(trust_email, "trustEmail", "oidc", 0,
                            ngx_svc_social_provider_oidc, NULL),
    { NULL, NULL, 0, 0, NULL, NULL }
};


#include "ngx_svc_admin_social.sql.h"


const ngx_svc_route_t  ngx_svc_admin_social[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/social/connections"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_social_total,
                      &ngx_svc_sql_admin_social_list },
      .list = "connections",
      .total = &ngx_svc_sql_admin_social_total,
      .more = ngx_svc_admin_social_known },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/social/connections"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_CALLER,
      .members = ngx_svc_admin_social_members,
      .body_size = sizeof(ngx_svc_admin_social_t),
      .check = ngx_svc_admin_social_check,
      .statements = { &ngx_svc_sql_admin_connections_lock,
                      &ngx_svc_sql_admin_social_judge,
                      &ngx_svc_sql_admin_connection_judge,
                      &ngx_svc_sql_admin_social_put,
                      &ngx_svc_sql_admin_social_get },
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/social/connections/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_social_get } },

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/admin/social/connections/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_CALLER,
      .members = ngx_svc_admin_social_patch,
      .body_size = sizeof(ngx_svc_admin_social_t),
      .check = ngx_svc_admin_social_check,
      .statements = { &ngx_svc_sql_admin_connections_lock,
                      &ngx_svc_sql_admin_social_judge,
                      &ngx_svc_sql_admin_connection_judge,
                      &ngx_svc_sql_admin_social_put,
                      &ngx_svc_sql_admin_social_get } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/social/connections/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_social_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_social_provider(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_social_provider_is(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be one of \"google\", \"github\", "
                        "\"microsoft\", \"apple\", \"gitlab\", \"linkedin\", "
                        "\"facebook\" and \"oidc\", or \"oidc-\" with 1 to %d "
                        "of a-z and 0-9 behind it.", path,
                        NGX_SVC_SOCIAL_PROVIDER_KEY);
}


static ngx_int_t
ngx_svc_admin_social_apple(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    size_t  i;
    u_char  c;

    for (i = 0; i < value->str.len; i++) {
        c = value->str.data[i];

        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) {
            break;
        }
    }

    if (i == value->str.len && i == NGX_SVC_ADMIN_SOCIAL_APPLE) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be %d of A-Z and 0-9.", path,
                        NGX_SVC_ADMIN_SOCIAL_APPLE);
}


/* "common" is what people of any directory, and their own, sign in to. */

static ngx_int_t
ngx_svc_admin_social_directory(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_strcmp(value->str.data, "organizations") == 0
        || ngx_strcmp(value->str.data, "common") == 0
        || ngx_svc_admin_social_uuid(&value->str))
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be the UUID of a directory, or "
                        "\"organizations\" or \"common\".", path);
}


static ngx_int_t
ngx_svc_admin_social_tenant(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    return ngx_svc_admin_social_uuid(&value->str)
           ? NGX_OK : ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                   "\"%s\" must be a UUID.", path);
}


/* Returns whether the text is a UUID, and puts it into lower case. */

static ngx_uint_t
ngx_svc_admin_social_uuid(ngx_str_t *text)
{
    u_char  id[NGX_SVC_UUID_LEN];

    if (ngx_svc_uuid_parse(text->data, text->len, id) != NGX_OK) {
        return 0;
    }

    (void) ngx_svc_uuid_text(text->data, id);

    return 1;
}


static ngx_int_t
ngx_svc_admin_social_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t                rc;
    ngx_svc_admin_social_t  *social = body;

    rc = ngx_svc_admin_social_own(sr, social);

    if (rc == NGX_OK && social->issuer.set && !social->issuer.null) {
        rc = ngx_svc_admin_social_issuer(sr, &social->issuer);
    }

    return rc == NGX_OK ? ngx_svc_connection_take(sr, body,
                                                  ngx_svc_admin_social_columns)
                        : rc;
}


/*
 * Members that one provider needs are refused for others.  A PATCH leaves out
 * what is to stay.
 */

static ngx_int_t
ngx_svc_admin_social_own(ngx_svc_request_t *sr,
    ngx_svc_admin_social_t *social)
{
    ngx_int_t                          rc;
    ngx_str_t                         *provider;
    ngx_svc_value_t                   *value;
    const ngx_svc_admin_social_own_t  *own;

    provider = sr->request->method == NGX_HTTP_PATCH ? &sr->params[0]
                                                     : &social->provider.str;

    rc = ngx_svc_admin_social_secret(sr, &social->client_secret,
                                     ngx_svc_social_provider_oidc(provider));

    for (own = ngx_svc_admin_social_owns; rc == NGX_OK && own->member; own++) {
        value = (ngx_svc_value_t *) ((u_char *) social + own->offset);

        rc = ngx_svc_admin_social_owned(sr, own, provider, value);
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_social_owned(ngx_svc_request_t *sr,
    const ngx_svc_admin_social_own_t *own, const ngx_str_t *provider,
    ngx_svc_value_t *value)
{
    ngx_uint_t  given;

    given = value->set && !value->null && !cJSON_IsFalse(value->json);

    if (own->needs(provider)) {

        if (given || !own->required
            || (!value->set && sr->request->method == NGX_HTTP_PATCH))
        {
            return NGX_OK;
        }

        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" is required with \"%s\".", own->member,
                            own->provider);
    }

    if (!given || (own->other && own->other(provider))) {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" is for \"%s\"%s alone.", own->member,
                        own->provider, own->other ? " and \"gitlab\"" : "");
}


/* A public client is one of OpenID Connect, and has no secret. */

static ngx_int_t
ngx_svc_admin_social_secret(ngx_svc_request_t *sr, ngx_svc_value_t *secret,
    ngx_uint_t oidc)
{
    if (oidc || (secret->set && !secret->null)) {
        return NGX_OK;
    }

    if (secret->set) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"clientSecret\" must be a string of 1 to %d "
                            "bytes.", NGX_SVC_ADMIN_SOCIAL_SECRET);
    }

    return sr->request->method == NGX_HTTP_PATCH
           ? NGX_OK : ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                                   "\"clientSecret\" is required.");
}


/*
 * An issuer is compared byte for byte, so it stays as it is.  One without TLS
 * is on this machine, where this service is without TLS on it, too.  At which
 * address it is found is looked at when it is asked.
 */

static ngx_int_t
ngx_svc_admin_social_issuer(ngx_svc_request_t *sr, ngx_svc_value_t *issuer)
{
    ngx_svc_url_t  url, own;

    if (ngx_svc_url_split(&issuer->str, &url) == NGX_OK
        && ngx_strlchr(url.rest.data, url.rest.data + url.rest.len, '?')
           == NULL)
    {
        if (ngx_svc_url_scheme(&url, "https")) {
            return NGX_OK;
        }

        if (ngx_svc_url_scheme(&url, "http")
            && ngx_svc_url_local(&url)
            && ngx_svc_url_split(ngx_svc_base_url(sr), &own) == NGX_OK
            && ngx_svc_url_local(&own))
        {
            return NGX_OK;
        }
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        "\"issuer\" must be a URL such as "
                        "\"https://idp.example.com\", without a user, a query "
                        "and a fragment.");
}


/*
 * Binds the provider of the body, or of the path; NULL when all are meant.
 * Other texts may not even be UTF-8.
 */

static ngx_int_t
ngx_svc_admin_social_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_social_t  *social = body;

    if (sr->request->method == NGX_HTTP_POST) {
        ngx_svc_pg_bind_str(call, &social->provider.str);
        return NGX_OK;
    }

    if (!ngx_svc_social_provider_is(&sr->params[0])) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                            NGX_SVC_ADMIN_NO_SOCIAL);
    }

    ngx_svc_pg_bind_str(call, &sr->params[0]);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_social_bind_creates(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_bool(call, sr->request->method == NGX_HTTP_POST);

    return NGX_OK;
}


static void
ngx_svc_admin_social_known(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    const ngx_str_t  *known;

    ngx_svc_json_open(w, "knownProviders", '[');

    for (known = ngx_svc_social_providers; known->len; known++) {
        ngx_svc_json_plain(w, NULL, known->data, known->len);
    }

    ngx_svc_json_close(w, ']');
}
