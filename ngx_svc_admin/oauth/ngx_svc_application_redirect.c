/*
 * Redirect URIs of applications.
 */

#include "ngx_svc_application_redirect.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_url.h"


static ngx_uint_t ngx_svc_application_redirect_host(const ngx_svc_url_t *url);
static ngx_uint_t ngx_svc_application_redirect_loops(const ngx_str_t *host);
static ngx_uint_t ngx_svc_application_redirect_address(const ngx_str_t *host);
static ngx_uint_t ngx_svc_application_redirect_rest(const ngx_str_t *rest);
static ngx_uint_t ngx_svc_application_redirect_query(const ngx_str_t *rest);
static ngx_uint_t ngx_svc_application_redirect_added(const u_char *p,
    const u_char *end);


ngx_uint_t
ngx_svc_application_redirect(const ngx_str_t *uri)
{
    ngx_svc_url_t  url;

    return uri->len <= NGX_SVC_URL_MAX
           && ngx_svc_url_split(uri, &url) == NGX_OK
           && ngx_svc_application_redirect_host(&url)
           && ngx_svc_application_redirect_rest(&url.rest)
           && ngx_svc_application_redirect_query(&url.rest);
}


ngx_int_t
ngx_svc_application_redirect_loopback(const ngx_str_t *uri, ngx_str_t *before,
    ngx_str_t *behind)
{
    u_char         *end;
    ngx_svc_url_t   url;

    if (ngx_svc_url_split(uri, &url) != NGX_OK
        || !ngx_svc_application_redirect_loops(&url.host))
    {
        return NGX_DECLINED;
    }

    end = url.host.data + url.host.len;

    if (end < url.rest.data && *end == ']') {
        end++;
    }

    before->data = uri->data;
    before->len = end - uri->data;

    ngx_str_null(behind);

    if (ngx_svc_url_local(&url)) {
        *behind = url.rest;
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_application_redirect_host(const ngx_svc_url_t *url)
{
    return ngx_svc_url_scheme(url, "https")
           || (ngx_svc_url_scheme(url, "http")
               && ngx_svc_url_local(url));
}


/* Returns 1 if a browser takes the host for its own machine. */

static ngx_uint_t
ngx_svc_application_redirect_loops(const ngx_str_t *host)
{
    u_char  *p;

    static const ngx_str_t  name = ngx_string("localhost");

    if (host->len >= name.len) {
        p = host->data + host->len - name.len;

        if (ngx_strncasecmp(p, name.data, name.len) == 0
            && (p == host->data || p[-1] == '.'))
        {
            return 1;
        }
    }

    return ngx_svc_application_redirect_address(host);
}


/*
 * Returns 1 for a loopback address, or 0.0.0.0 or ::. Browsers read "127.1",
 * "0x7f.1" and "2130706433" as addresses, as inet_aton() does.
 */

static ngx_uint_t
ngx_svc_application_redirect_address(const ngx_str_t *host)
{
    u_char           text[NGX_SVC_ADDR_TEXT_LEN + 1];
    struct in_addr   in;
    ngx_svc_addr_t   addr;

    static const u_char  none[16];
    static const u_char  one[16] = { [15] = 1 };

    if (host->len > NGX_SVC_ADDR_TEXT_LEN) {
        return 0;
    }

    if (ngx_svc_addr_parse(host->data, host->len, &addr) == NGX_OK) {

        if (addr.family == AF_INET6) {
            return ngx_memcmp(addr.bytes, one, 16) == 0
                   || ngx_memcmp(addr.bytes, none, 16) == 0;
        }

        return addr.bytes[0] == 127 || ngx_memcmp(addr.bytes, none, 4) == 0;
    }

    (void) ngx_cpystrn(text, host->data, host->len + 1);

    if (inet_aton((char *) text, &in) == 0) {
        return 0;
    }

    return ntohl(in.s_addr) >> 24 == 127 || in.s_addr == 0;
}


/*
 * Returns 0 if there is a "*", a control character or a segment "..".  What
 * browsers and servers take for "/" and "." counts as that.
 */

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


/*
 * Returns 0 if the query has a parameter that an answer adds: that would be
 * there twice.
 */

static ngx_uint_t
ngx_svc_application_redirect_query(const ngx_str_t *rest)
{
    u_char  *p, *end, *last;

    last = rest->data + rest->len;
    p = ngx_strlchr(rest->data, last, '?');

    while (p) {
        p++;
        end = ngx_strlchr(p, last, '&');

        if (ngx_svc_application_redirect_added(p, end ? end : last)) {
            return 0;
        }

        p = end;
    }

    return 1;
}


static ngx_uint_t
ngx_svc_application_redirect_added(const u_char *p, const u_char *end)
{
    size_t       len;
    u_char       c, name[sizeof("error_description")];
    ngx_uint_t   i;

    static const ngx_str_t  added[] = {
        ngx_string("code"),
        ngx_string("state"),
        ngx_string("iss"),
        ngx_string("error"),
        ngx_string("error_description")
    };

    for (len = 0; p < end && *p != '=' && len < sizeof(name); len++) {
        c = *p++;

        if (c == '%' && end - p >= 2 && ngx_svc_hex(p, 1, &c) == NGX_OK) {
            p += 2;
        }

        name[len] = c;
    }

    for (i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
        if (added[i].len == len && ngx_memcmp(added[i].data, name, len) == 0) {
            return 1;
        }
    }

    return 0;
}
