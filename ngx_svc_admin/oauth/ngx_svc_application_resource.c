/*
 * Resource URIs of applications.
 */

#include "ngx_svc_application_resource.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_url.h"


static u_char *ngx_svc_application_resource_scheme(const ngx_str_t *uri);
static ngx_int_t ngx_svc_application_resource_url(const ngx_str_t *uri,
    ngx_str_t *key, ngx_str_t *rest);
static ngx_int_t ngx_svc_application_resource_rest(ngx_str_t *rest,
    ngx_str_t *key);
static u_char *ngx_svc_application_resource_percent(u_char *dst, u_char *text,
    u_char c);
static void ngx_svc_application_resource_lower(ngx_str_t *key,
    const u_char *data, size_t len);


ngx_int_t
ngx_svc_application_resource(const ngx_str_t *uri, ngx_str_t *key)
{
    u_char         *p;
    ngx_str_t       rest;
    ngx_svc_url_t   url;

    key->len = 0;

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
        ngx_svc_application_resource_lower(key, uri->data, p - uri->data);
    }

    return ngx_svc_application_resource_rest(&rest, key);
}


/* Returns what follows its ":"; NULL: there is none. */

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


/* The key up to what is behind the host; rest: never empty. */

static ngx_int_t
ngx_svc_application_resource_url(const ngx_str_t *uri, ngx_str_t *key,
    ngx_str_t *rest)
{
    ngx_svc_url_t  url;

    static u_char  slash[] = "/";

    if (ngx_svc_url_split(uri, &url) != NGX_OK) {
        return NGX_DECLINED;
    }

    if ((url.port.len == 3 && ngx_memcmp(url.port.data, "443", 3) == 0
         && ngx_svc_url_scheme(&url, "https"))
        || (url.port.len == 2 && ngx_memcmp(url.port.data, "80", 2) == 0
            && ngx_svc_url_scheme(&url, "http")))
    {
        ngx_svc_application_resource_lower(key, uri->data,
                                           url.port.data - 1 - uri->data);

    } else {
        ngx_svc_application_resource_lower(key, uri->data,
                                           url.rest.data - uri->data);
    }

    *rest = url.rest;

    if (rest->len == 0 || rest->data[0] == '?') {
        ngx_svc_application_resource_lower(key, slash, 1);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_application_resource_rest(ngx_str_t *rest, ngx_str_t *key)
{
    u_char  *p, *dst, *last, c;

    last = rest->data + rest->len;
    dst = key->data + key->len;

    for (p = rest->data; p < last; p++) {

        if (*p <= ' ' || *p >= 0x7f || ngx_strchr("\"#<>\\^`{|}", *p)) {
            return NGX_DECLINED;
        }

        if (*p != '%') {
            *dst++ = *p;
            continue;
        }

        if (last - p < 3 || ngx_svc_hex(p + 1, 1, &c) != NGX_OK
            || c < 0x20 || c == 0x7f)
        {
            return NGX_DECLINED;
        }

        dst = ngx_svc_application_resource_percent(dst, p, c);
        p += 2;
    }

    key->len = dst - key->data;

    return NGX_OK;
}


/* A character that need not be written so is itself. */

static u_char *
ngx_svc_application_resource_percent(u_char *dst, u_char *text, u_char c)
{
    if (isalnum(c) || ngx_strchr("-._~", c)) {
        *dst++ = c;
        return dst;
    }

    *dst++ = '%';
    *dst++ = ngx_toupper(text[1]);
    *dst++ = ngx_toupper(text[2]);

    return dst;
}


static void
ngx_svc_application_resource_lower(ngx_str_t *key, const u_char *data,
    size_t len)
{
    size_t  i;

    for (i = 0; i < len; i++) {
        key->data[key->len++] = ngx_tolower(data[i]);
    }
}
