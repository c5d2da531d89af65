/*
 * Resource URIs of applications.
 */

#include "ngx_svc_application_resource.h"
#include "ngx_svc_uri.h"
#include "ngx_svc_url.h"


static u_char *ngx_svc_application_resource_scheme(const ngx_str_t *uri);
static ngx_int_t ngx_svc_application_resource_url(const ngx_str_t *uri,
    ngx_str_t *key, ngx_str_t *rest);


ngx_int_t
ngx_svc_application_resource(const ngx_str_t *uri, ngx_str_t *key)
{
    u_char         *p;
    ngx_str_t       rest;
    ngx_svc_url_t   url;

    p = ngx_svc_application_resource_scheme(uri);

    if (p == NULL || uri->len > NGX_SVC_APPLICATION_RESOURCE) {
        return NGX_DECLINED;
    }

    url.scheme.data = uri->data;
    url.scheme.len = p - 1 - uri->data;

    rest.data = p;
    rest.len = uri->data + uri->len - p;

    if (rest.len >= 2 && p[0] == '/' && p[1] == '/') {
        if (ngx_svc_application_resource_url(uri, key, &rest) != NGX_OK) {
            return NGX_DECLINED;
        }

    } else if (rest.len == 0 || ngx_svc_url_scheme(&url, "http")
               || ngx_svc_url_scheme(&url, "https"))
    {
        return NGX_DECLINED;

    } else {
        key->len = p - uri->data;
        ngx_strlow(key->data, uri->data, key->len);
    }

    if (ngx_svc_uri_bytes(rest.data, rest.len) < rest.len) {
        return NGX_DECLINED;
    }

    p = ngx_svc_uri_path(key->data + key->len, rest.data,
                         rest.data + rest.len);
    if (p == NULL) {
        return NGX_DECLINED;
    }

    key->len = p - key->data;

    return NGX_OK;
}


/* Returns what follows the scheme's ":"; NULL: there is no scheme. */

static u_char *
ngx_svc_application_resource_scheme(const ngx_str_t *uri)
{
    u_char  *p, *last;

    last = uri->data + uri->len;

    for (p = uri->data; p < last; p++) {

        if (*p == ':' && p > uri->data) {
            return p + 1;
        }

        if (!isalpha(*p)
            && (p == uri->data
                || !(isdigit(*p) || *p == '+' || *p == '-' || *p == '.')))
        {
            return NULL;
        }
    }

    return NULL;
}


/*
 * Writes the key up to the end of the host and port, and sets rest to what
 * follows them.
 */

static ngx_int_t
ngx_svc_application_resource_url(const ngx_str_t *uri, ngx_str_t *key,
    ngx_str_t *rest)
{
    u_char         *p;
    ngx_svc_url_t   url;

    if (ngx_svc_url_split(uri, &url) != NGX_OK) {
        return NGX_DECLINED;
    }

    p = ngx_svc_uri_origin(key->data, uri->data, url.rest.data);

    if (url.rest.len == 0 || url.rest.data[0] == '?') {
        *p++ = '/';
    }

    key->len = p - key->data;
    *rest = url.rest;

    return NGX_OK;
}
