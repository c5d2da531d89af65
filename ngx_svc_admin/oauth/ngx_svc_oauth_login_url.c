/*
 * The directive svc_login_url: the page that signs users in.
 */

#include "ngx_svc_oauth_login_url.h"
#include "ngx_svc_application_resource.h"
#include "ngx_svc_uri.h"
#include "ngx_svc_url.h"


static ngx_uint_t ngx_svc_oauth_login_url_path(const ngx_str_t *url);
static ngx_uint_t ngx_svc_oauth_login_url_below(const ngx_str_t *url,
    const ngx_str_t *base);


char *
ngx_svc_oauth_conf_login_url(ngx_conf_t *cf, void *post, void *data)
{
    ngx_str_t *text = data;

    ngx_svc_url_t  url;

    if (ngx_svc_uri_bytes(text->data, text->len) < text->len) {
        return "is no URL without a fragment";
    }

    if (!ngx_svc_oauth_login_url_path(text)
        && (ngx_svc_url_split(text, &url) != NGX_OK
            || !(ngx_svc_url_scheme(&url, "https")
                 || ngx_svc_url_scheme(&url, "http"))))
    {
        return "is neither a path nor an URL";
    }

    return NGX_CONF_OK;
}


/* Returns 1 for a path.  "//" would be followed by another host. */

static ngx_uint_t
ngx_svc_oauth_login_url_path(const ngx_str_t *url)
{
    return url->len && url->data[0] == '/'
           && (url->len == 1 || url->data[1] != '/');
}


ngx_int_t
ngx_svc_oauth_login_url_keep(ngx_conf_t *cf, const ngx_svc_surface_t *surface,
    const ngx_str_t *url)
{
    ngx_svc_loc_conf_t         *slcf;
    ngx_svc_login_location_t   *location;
    ngx_svc_admin_main_conf_t  *amcf;

    slcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_svc_common_module);

    if (slcf->surface != surface || url->len == 0
        || ngx_svc_oauth_login_url_path(url))
    {
        return NGX_OK;
    }

    amcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_svc_admin_module);

    location = ngx_array_push(&amcf->login_locations);
    if (location == NULL) {
        return NGX_ERROR;
    }

    location->url = *url;
    location->conf = slcf;

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_login_url_check(ngx_conf_t *cf, ngx_svc_admin_main_conf_t *amcf)
{
    ngx_str_t                  key, *base, *url;
    ngx_uint_t                 i;
    ngx_svc_login_location_t  *location;

    location = amcf->login_locations.elts;

    for (i = 0; i < amcf->login_locations.nelts; i++) {
        url = &location[i].url;
        base = &location[i].conf->base_key;

        key.data = ngx_pnalloc(cf->pool, url->len + 1);
        if (key.data == NULL) {
            return NGX_ERROR;
        }

        if (ngx_svc_application_resource(url, &key) == NGX_OK
            && ngx_svc_oauth_login_url_below(&key, base))
        {
            continue;
        }

        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_login_url %V\" is no URL of at most %d bytes "
                      "below \"svc_base_url %V\": the session would be of "
                      "another origin", url, NGX_SVC_APPLICATION_RESOURCE,
                      &location[i].conf->base_url);
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* Both are normalized, so that bytes can be compared. */

static ngx_uint_t
ngx_svc_oauth_login_url_below(const ngx_str_t *url, const ngx_str_t *base)
{
    return base->len && url->len >= base->len
           && ngx_memcmp(url->data, base->data, base->len) == 0
           && (url->len == base->len || url->data[base->len] == '/'
               || url->data[base->len] == '?');
}
