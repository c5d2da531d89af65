/*
 * Redirect URIs of applications.
 */

#include "ngx_svc_application_redirect.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_url.h"


static ngx_uint_t ngx_svc_application_redirect_host(const ngx_svc_url_t *url);
static ngx_uint_t ngx_svc_application_redirect_local(const ngx_str_t *host);
static ngx_uint_t ngx_svc_application_redirect_rest(const ngx_str_t *rest);


ngx_uint_t
ngx_svc_application_redirect(const ngx_str_t *uri)
{
    ngx_svc_url_t  url;

    return uri->len <= NGX_SVC_URL_MAX
           && ngx_svc_url_split(uri, &url) == NGX_OK
           && ngx_svc_application_redirect_host(&url)
           && ngx_svc_application_redirect_rest(&url.rest);
}


ngx_int_t
ngx_svc_application_redirect_loopback(const ngx_str_t *uri, ngx_str_t *before,
    ngx_str_t *behind)
{
    u_char         *end;
    ngx_svc_url_t   url;

    if (!ngx_svc_application_redirect(uri)
        || ngx_svc_url_split(uri, &url) != NGX_OK
        || !ngx_svc_application_redirect_local(&url.host))
    {
        return NGX_DECLINED;
    }

    end = url.host.data + url.host.len;

    if (end < url.rest.data && *end == ']') {
        end++;
    }

    before->data = uri->data;
    before->len = end - uri->data;

    *behind = url.rest;

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_application_redirect_host(const ngx_svc_url_t *url)
{
    return ngx_svc_url_scheme(url, "https")
           || (ngx_svc_url_scheme(url, "http")
               && ngx_svc_application_redirect_local(&url->host));
}


static ngx_uint_t
ngx_svc_application_redirect_local(const ngx_str_t *host)
{
    ngx_uint_t  i;

    static const ngx_str_t  loopback[] = {
        ngx_string("127.0.0.1"),
        ngx_string("::1"),
        ngx_string("localhost")
    };

    for (i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++) {
        if (host->len == loopback[i].len
            && ngx_memcmp(host->data, loopback[i].data, host->len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


/* What browsers and servers take for "/" and "." ends and makes segments. */

static ngx_uint_t
ngx_svc_application_redirect_rest(const ngx_str_t *rest)
{
    size_t       n;
    u_char       c, *p, *end;
    ngx_uint_t   dots, query;

    end = rest->data + rest->len;
    dots = 0;
    query = 0;

    for (p = rest->data; p < end; p += n) {
        c = *p;
        n = 1;

        if (c == '*') {
            return 0;
        }

        if (c == '%') {
            n = 3;

            if (end - p < 3 || ngx_svc_hex(p + 1, 1, &c) != NGX_OK
                || c < 0x20 || c == 0x7f)
            {
                return 0;
            }
        }

        if (c == '/' || c == '\\' || *p == '?') {
            if (dots == 2 && !query) {
                return 0;
            }

            query |= *p == '?';
            dots = 0;

        } else if (c == '.' && dots < 3) {
            dots++;

        } else {
            dots = 3;
        }
    }

    return dots != 2 || query;
}
