/*
 * The check that no page of another origin makes a browser send a request.
 */

#include "ngx_svc_origin.h"
#include "ngx_svc_cookie.h"
#include "ngx_svc_header.h"


static ngx_uint_t ngx_svc_origin_same(ngx_svc_request_t *sr,
    const ngx_str_t *origin);


ngx_int_t
ngx_svc_origin_check(ngx_svc_request_t *sr)
{
    ngx_table_elt_t     *site, *origin;
    ngx_http_request_t  *r;

    r = sr->request;

    site = ngx_svc_header_in(r, "Sec-Fetch-Site", sizeof("Sec-Fetch-Site") - 1,
                             NULL);
    if (site) {
        if ((site->value.len == sizeof("same-origin") - 1
             && ngx_strncmp(site->value.data, "same-origin", site->value.len)
                == 0)
            || (site->value.len == sizeof("none") - 1
                && ngx_strncmp(site->value.data, "none", site->value.len)
                   == 0))
        {
            return NGX_OK;
        }

        return ngx_svc_fail(&sr->error, NGX_SVC_E_CSRF,
                            "\"Sec-Fetch-Site\" says that a page of another "
                            "origin sends this.");
    }

    origin = ngx_svc_header_in(r, "Origin", sizeof("Origin") - 1, NULL);

    if (origin == NULL || ngx_svc_origin_same(sr, &origin->value)) {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_CSRF,
                        "\"Origin\" is not the one that this is served at.");
}


static ngx_uint_t
ngx_svc_origin_same(ngx_svc_request_t *sr, const ngx_str_t *origin)
{
    size_t      len;
    u_char     *scheme;
    ngx_str_t   host;

    if (sr->request->headers_in.host == NULL) {
        return 0;
    }

    host = sr->request->headers_in.host->value;

    scheme = (u_char *) (ngx_svc_cookie_secure(sr) ? "https://" : "http://");
    len = ngx_strlen(scheme);

    return origin->len == len + host.len
           && ngx_strncasecmp(origin->data, scheme, len) == 0
           && ngx_strncasecmp(origin->data + len, host.data, host.len) == 0;
}
