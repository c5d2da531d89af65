/*
 * Identity providers that we know by name.
 */

#include "ngx_svc_provider.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_PROVIDER_OIDC       "oidc-"
#define NGX_SVC_PROVIDER_KEY        30  /* bytes after it, at most */
#define NGX_SVC_PROVIDER_DISCOVERY  "/.well-known/openid-configuration"


static ngx_uint_t ngx_svc_provider_named(const ngx_svc_provider_t *provider,
    const ngx_str_t *name);
static ngx_int_t ngx_svc_provider_tenant(ngx_pool_t *pool,
    const ngx_svc_provider_settings_t *settings, ngx_str_t *text);
static ngx_int_t ngx_svc_provider_join(ngx_pool_t *pool, ngx_str_t *text,
    const ngx_str_t *one, const char *two);


static const ngx_svc_provider_t  ngx_svc_providers[] = {

    { .name = ngx_string("google"),
      .issuer = ngx_string("https://accounts.google.com"),
      .scope = ngx_string("openid email profile"),
      .again = ngx_string("select_account"),
      .vouch = NGX_SVC_PROVIDER_GOOGLE },

    { .name = ngx_string("microsoft"),
      .issuer = ngx_string("https://login.microsoftonline.com/"
                           NGX_SVC_ID_TOKEN_TID "/v2.0"),
      .scope = ngx_string("openid email profile"),
      .again = ngx_string("login"),
      .dates = 1,
      .tenant = 1,
      .vouch = NGX_SVC_PROVIDER_MICROSOFT },

    { .name = ngx_string("apple"),
      .issuer = ngx_string("https://appleid.apple.com"),
      .scope = ngx_string("openid email name"),
      .post = 1,
      .form_post = 1,
      .apple = 1,
      .vouch = NGX_SVC_PROVIDER_CLAIMED },

    { .name = ngx_string("gitlab"),
      .issuer = ngx_string("https://gitlab.com"),
      .scope = ngx_string("openid email profile"),
      .again = ngx_string("login"),
      .dates = 1,
      .own_issuer = 1,
      .vouch = NGX_SVC_PROVIDER_CLAIMED },

    { .name = ngx_string("linkedin"),
      .issuer = ngx_string("https://www.linkedin.com/oauth"),
      .issuer_too = ngx_string("https://www.linkedin.com"),
      .scope = ngx_string("openid email profile"),
      .no_pkce = 1,
      .no_nonce = 1,
      .post = 1,
      .vouch = NGX_SVC_PROVIDER_CLAIMED },

    { .name = ngx_string("github"),
      .issuer = ngx_string("https://github.com/login/oauth"),
      .scope = ngx_string("read:user user:email"),
      .authorization_endpoint =
                     ngx_string("https://github.com/login/oauth/authorize"),
      .token_endpoint =
                  ngx_string("https://github.com/login/oauth/access_token"),
      .user_endpoint = ngx_string("https://api.github.com/user"),
      .emails_endpoint = ngx_string("https://api.github.com/user/emails"),
      .again = ngx_string("select_account"),
      .oauth = 1,
      .post = 1 },

    /* its metadata have no token_endpoint */

    { .name = ngx_string("facebook"),
      .issuer = ngx_string("https://www.facebook.com"),
      .scope = ngx_string("openid email public_profile"),
      .authorization_endpoint =
                         ngx_string("https://www.facebook.com/dialog/oauth"),
      .token_endpoint =
                  ngx_string("https://graph.facebook.com/oauth/access_token"),
      .jwks_uri =
         ngx_string("https://www.facebook.com/.well-known/oauth/openid/jwks/"),
      .post = 1 },

    { .name = ngx_string("oidc"),
      .scope = ngx_string("openid email profile"),
      .again = ngx_string("login"),
      .dates = 1,
      .many = 1,
      .own_issuer = 1,
      .vouch = NGX_SVC_PROVIDER_TRUSTED },

    { .name = ngx_null_string }
};


const ngx_svc_provider_t *
ngx_svc_provider(const ngx_str_t *name)
{
    const ngx_svc_provider_t  *provider;

    for (provider = ngx_svc_providers; provider->name.len; provider++) {
        if (ngx_svc_provider_named(provider, name)) {
            return provider;
        }
    }

    return NULL;
}


/* Returns 1 if it is the provider's name; "oidc" has many others. */

static ngx_uint_t
ngx_svc_provider_named(const ngx_svc_provider_t *provider,
    const ngx_str_t *name)
{
    size_t  i, len;
    u_char  c;

    len = sizeof(NGX_SVC_PROVIDER_OIDC) - 1;

    if (!provider->many || name->len <= len
        || name->len > len + NGX_SVC_PROVIDER_KEY
        || ngx_memcmp(name->data, NGX_SVC_PROVIDER_OIDC, len) != 0)
    {
        return ngx_svc_same(name, &provider->name);
    }

    for (i = len; i < name->len; i++) {
        c = name->data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
            return 0;
        }
    }

    return 1;
}


ngx_uint_t
ngx_svc_provider_one_tenant(const ngx_svc_provider_settings_t *settings)
{
    u_char  uuid[NGX_SVC_UUID_LEN];

    return ngx_svc_uuid_parse(settings->tenant_id.data,
                              settings->tenant_id.len, uuid) == NGX_OK;
}


ngx_int_t
ngx_svc_provider_discovery(ngx_pool_t *pool,
    const ngx_svc_provider_settings_t *settings, ngx_str_t *url,
    ngx_str_t *issuer)
{
    ngx_str_t                  base;
    const ngx_svc_provider_t  *provider;

    provider = settings->provider;

    *issuer = settings->issuer.len && provider->own_issuer ? settings->issuer
                                                           : provider->issuer;
    base = *issuer;

    if (provider->token_endpoint.len) {
        return NGX_DECLINED;
    }

    if (provider->tenant) {

        if (ngx_svc_provider_tenant(pool, settings, &base) != NGX_OK) {
            return NGX_ERROR;
        }

        if (ngx_svc_provider_one_tenant(settings)) {
            *issuer = base;
        }
    }

    /* OpenID Connect Discovery 1.0, 4.1 */

    if (base.len && base.data[base.len - 1] == '/') {
        base.len--;
    }

    return ngx_svc_provider_join(pool, url, &base, NGX_SVC_PROVIDER_DISCOVERY);
}


/* Puts tenant_id, or all organizations, into Microsoft's issuer. */

static ngx_int_t
ngx_svc_provider_tenant(ngx_pool_t *pool,
    const ngx_svc_provider_settings_t *settings, ngx_str_t *text)
{
    u_char     *p, *mark;
    size_t      before;
    ngx_str_t   is, tenant;

    is = *text;
    tenant = settings->tenant_id;

    if (tenant.len == 0) {
        ngx_str_set(&tenant, "organizations");
    }

    mark = ngx_strnstr(is.data, NGX_SVC_ID_TOKEN_TID, is.len);
    before = mark - is.data;

    text->data = ngx_pnalloc(pool, is.len + tenant.len);
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(text->data, is.data, before);
    p = ngx_cpymem(p, tenant.data, tenant.len);

    before += sizeof(NGX_SVC_ID_TOKEN_TID) - 1;
    p = ngx_cpymem(p, is.data + before, is.len - before);

    text->len = p - text->data;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_provider_join(ngx_pool_t *pool, ngx_str_t *text, const ngx_str_t *one,
    const char *two)
{
    text->len = one->len + ngx_strlen(two);
    text->data = ngx_pnalloc(pool, text->len);

    if (text->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(ngx_cpymem(text->data, one->data, one->len), two,
               ngx_strlen(two));

    return NGX_OK;
}


ngx_int_t
ngx_svc_provider_metadata(const ngx_svc_provider_t *provider,
    ngx_svc_oidc_metadata_t *m)
{
    ngx_memzero(m, sizeof(ngx_svc_oidc_metadata_t));

    m->issuer = provider->issuer;
    m->authorization_endpoint = provider->authorization_endpoint;
    m->token_endpoint = provider->token_endpoint;
    m->jwks_uri = provider->jwks_uri;
    m->post = 1;

    return provider->token_endpoint.len ? NGX_OK : NGX_DECLINED;
}


void
ngx_svc_provider_expect(const ngx_svc_provider_settings_t *settings,
    ngx_svc_id_token_expected_t *expected)
{
    const ngx_svc_provider_t  *provider;

    provider = settings->provider;

    expected->issuer = settings->issuer.len && provider->own_issuer
                       ? settings->issuer : provider->issuer;
    expected->issuer_too = provider->issuer_too;
    expected->tenant = provider->tenant;
    expected->no_nonce = provider->no_nonce;
    expected->tids = settings->tids;
    expected->ntids = settings->ntids;

    if (provider->tenant && ngx_svc_provider_one_tenant(settings)) {
        expected->tids = &settings->tenant_id;
        expected->ntids = 1;
    }
}
