/*
 * /v1/admin/social/connections: a tenant's connections to social providers.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_sealed.h"


#define NGX_SVC_ADMIN_SOCIAL_CLIENT  255    /* characters */
#define NGX_SVC_ADMIN_SOCIAL_SECRET  4096   /* bytes: Apple's is a PEM key */
#define NGX_SVC_ADMIN_SOCIAL_APPLE   10     /* characters of Apple's ids */

#define NGX_SVC_ADMIN_NO_SOCIAL                                               \
    "There is no connection with this provider."


typedef struct {
    ngx_svc_value_t  provider;
    ngx_svc_value_t  client_id;
    ngx_svc_value_t  client_secret;
    ngx_svc_value_t  team_id;
    ngx_svc_value_t  key_id;
    ngx_svc_value_t  enabled;
} ngx_svc_admin_social_t;


static ngx_int_t ngx_svc_admin_social_provider(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_social_apple(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_uint_t ngx_svc_admin_social_is(const ngx_str_t *name);
static ngx_int_t ngx_svc_admin_social_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_social_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static void ngx_svc_admin_social_known(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


#define NGX_SVC_ADMIN_SOCIAL_PROVIDERS(_)                                     \
    _("google") _("github") _("microsoft") _("apple") _("gitlab")             \
    _("linkedin") _("facebook")

#define NGX_SVC_ADMIN_SOCIAL_NAME(name)  ngx_string(name),

static const ngx_str_t  ngx_svc_admin_social_providers[] = {
    NGX_SVC_ADMIN_SOCIAL_PROVIDERS(NGX_SVC_ADMIN_SOCIAL_NAME)
    ngx_null_string
};


static const ngx_svc_member_t  ngx_svc_admin_social_members[] = {

    { .name = ngx_string("provider"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .check = ngx_svc_admin_social_provider,
      .offset = offsetof(ngx_svc_admin_social_t, provider) },

    { .name = ngx_string("clientId"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_SOCIAL_CLIENT,
      .offset = offsetof(ngx_svc_admin_social_t, client_id) },

    { .name = ngx_string("clientSecret"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_SOCIAL_SECRET,
      .offset = offsetof(ngx_svc_admin_social_t, client_secret) },

    { .name = ngx_string("teamId"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_admin_social_apple,
      .offset = offsetof(ngx_svc_admin_social_t, team_id) },

    { .name = ngx_string("keyId"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_admin_social_apple,
      .offset = offsetof(ngx_svc_admin_social_t, key_id) },

    { .name = ngx_string("enabled"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_admin_social_t, enabled) },

    ngx_svc_null_member
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
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_social_members,
      .body_size = sizeof(ngx_svc_admin_social_t),
      .check = ngx_svc_admin_social_check,
      .statements = { &ngx_svc_sql_admin_social_create },
      .status = NGX_HTTP_CREATED },

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
    if (ngx_svc_admin_social_is(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be one of \"google\", \"github\", "
                        "\"microsoft\", \"apple\", \"gitlab\", \"linkedin\" "
                        "and \"facebook\".", path);
}


static ngx_uint_t
ngx_svc_admin_social_is(const ngx_str_t *name)
{
    const ngx_str_t  *known;

    for (known = ngx_svc_admin_social_providers; known->len; known++) {
        if (known->len == name->len
            && ngx_memcmp(known->data, name->data, known->len) == 0)
        {
            return 1;
        }
    }

    return 0;
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


/* Apple's two other ids are required for Apple, and refused for others. */

static ngx_int_t
ngx_svc_admin_social_check(ngx_svc_request_t *sr, void *body)
{
    ngx_uint_t               apple, team, key;
    ngx_svc_admin_social_t  *social = body;

    apple = ngx_strcmp(social->provider.str.data, "apple") == 0;
    team = social->team_id.set && !social->team_id.null;
    key = social->key_id.set && !social->key_id.null;

    if (team == apple && key == apple) {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        apple ? "\"%s\" is required with \"apple\"."
                              : "\"%s\" is for \"apple\" alone.",
                        team != apple ? "teamId" : "keyId");
}


/* Binds the provider of the path; other texts may not even be UTF-8. */

static ngx_int_t
ngx_svc_admin_social_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    if (!ngx_svc_admin_social_is(&sr->params[0])) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                            NGX_SVC_ADMIN_NO_SOCIAL);
    }

    ngx_svc_pg_bind_str(call, &sr->params[0]);

    return NGX_OK;
}


static void
ngx_svc_admin_social_known(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    const ngx_str_t  *known;

    ngx_svc_json_open(w, "knownProviders", '[');

    for (known = ngx_svc_admin_social_providers; known->len; known++) {
        ngx_svc_json_plain(w, NULL, known->data, known->len);
    }

    ngx_svc_json_close(w, ']');
}
