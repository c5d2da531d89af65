/*
 * The providers of social connections.
 */

#include "ngx_svc_social_provider.h"


static ngx_uint_t ngx_svc_social_provider_named(const ngx_str_t *name,
    const char *what);


const ngx_str_t  ngx_svc_social_providers[] = {
    ngx_string("google"),
    ngx_string("github"),
    ngx_string("microsoft"),
    ngx_string("apple"),
    ngx_string("gitlab"),
    ngx_string("linkedin"),
    ngx_string("facebook"),
    ngx_string("oidc"),
    ngx_null_string
};


ngx_uint_t
ngx_svc_social_provider_is(const ngx_str_t *name)
{
    const ngx_str_t  *known;

    for (known = ngx_svc_social_providers; known->len; known++) {
        if (ngx_svc_social_provider_named(name, (char *) known->data)) {
            return 1;
        }
    }

    return ngx_svc_social_provider_oidc(name);
}


ngx_uint_t
ngx_svc_social_provider_oidc(const ngx_str_t *name)
{
    u_char  c;
    size_t  i;

    static const ngx_str_t  oidc = ngx_string("oidc");

    if (name->len < oidc.len
        || ngx_memcmp(name->data, oidc.data, oidc.len) != 0)
    {
        return 0;
    }

    if (name->len == oidc.len) {
        return 1;
    }

    for (i = oidc.len + 1; i < name->len; i++) {
        c = name->data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
            return 0;
        }
    }

    return name->data[oidc.len] == '-'
           && name->len > oidc.len + 1
           && name->len <= oidc.len + 1 + NGX_SVC_SOCIAL_PROVIDER_KEY;
}


ngx_uint_t
ngx_svc_social_provider_apple(const ngx_str_t *name)
{
    return ngx_svc_social_provider_named(name, "apple");
}


ngx_uint_t
ngx_svc_social_provider_gitlab(const ngx_str_t *name)
{
    return ngx_svc_social_provider_named(name, "gitlab");
}


ngx_uint_t
ngx_svc_social_provider_microsoft(const ngx_str_t *name)
{
    return ngx_svc_social_provider_named(name, "microsoft");
}


static ngx_uint_t
ngx_svc_social_provider_named(const ngx_str_t *name, const char *what)
{
    return name->len == ngx_strlen(what)
           && ngx_memcmp(name->data, what, name->len) == 0;
}
