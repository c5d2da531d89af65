/*
 * URLs of other servers, as they are configured.
 */

#include "ngx_svc_url.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_uri.h"


#define NGX_SVC_URL_HOST   253      /* RFC 1035, 2.3.4, as text */
#define NGX_SVC_URL_LABEL  63


static u_char *ngx_svc_url_host(ngx_svc_url_t *url, u_char *p, u_char *end);
static ngx_uint_t ngx_svc_url_port(const ngx_str_t *port);
static ngx_uint_t ngx_svc_url_name(const ngx_str_t *host);


ngx_int_t
ngx_svc_url_split(const ngx_str_t *text, ngx_svc_url_t *url)
{
    u_char  *p, *end, *last;

    ngx_memzero(url, sizeof(ngx_svc_url_t));

    p = ngx_strnstr(text->data, "://", text->len);

    if (p == NULL || p == text->data
        || ngx_svc_uri_bytes(text->data, text->len) < text->len)
    {
        return NGX_DECLINED;
    }

    url->scheme.data = text->data;
    url->scheme.len = p - text->data;

    p += sizeof("://") - 1;
    last = text->data + text->len;

    for (end = p; end < last && *end != '/' && *end != '?'; end++) {
        if (*end == '@') {
            return NGX_DECLINED;
        }
    }

    url->rest.data = end;
    url->rest.len = last - end;

    p = ngx_svc_url_host(url, p, end);

    if (p && p < end) {
        url->port.data = p + 1;
        url->port.len = end - p - 1;

        return *p == ':' && ngx_svc_url_port(&url->port) ? NGX_OK
                                                         : NGX_DECLINED;
    }

    return p ? NGX_OK : NGX_DECLINED;
}


ngx_uint_t
ngx_svc_url_scheme(const ngx_svc_url_t *url, const char *what)
{
    return url->scheme.len == ngx_strlen(what)
           && ngx_strncasecmp(url->scheme.data, (u_char *) what,
                              url->scheme.len) == 0;
}


ngx_uint_t
ngx_svc_url_local(const ngx_svc_url_t *url)
{
    ngx_uint_t        i;
    const ngx_str_t  *host;

    static const ngx_str_t  local[] = {
        ngx_string("127.0.0.1"),
        ngx_string("::1"),
        ngx_string("localhost")
    };

    host = &url->host;

    for (i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
        if (host->len == local[i].len
            && ngx_memcmp(host->data, local[i].data, host->len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


/* Reads the host.  Returns what follows it; NULL: there is no host. */

static u_char *
ngx_svc_url_host(ngx_svc_url_t *url, u_char *p, u_char *end)
{
    u_char          *q;
    ngx_svc_addr_t   addr;

    if (p < end && *p == '[') {
        q = ngx_strlchr(p, end, ']');

        if (q == NULL) {
            return NULL;
        }

        url->host.data = p + 1;
        url->host.len = q - p - 1;

        return ngx_strlchr(p, q, ':')
               && ngx_svc_addr_parse(url->host.data, url->host.len, &addr)
                  == NGX_OK
               ? q + 1 : NULL;
    }

    for (q = p; q < end && *q != ':'; q++) { /* void */ }

    url->host.data = p;
    url->host.len = q - p;

    return ngx_svc_url_name(&url->host) ? q : NULL;
}


static ngx_uint_t
ngx_svc_url_port(const ngx_str_t *port)
{
    ngx_int_t  n;

    n = ngx_atoi(port->data, port->len);

    return n > 0 && n <= 65535 && port->data[0] != '0';
}


/*
 * Labels of letters, digits and hyphens; an IPv4 address is made of these, too.
 */

static ngx_uint_t
ngx_svc_url_name(const ngx_str_t *host)
{
    size_t  i, label;
    u_char  c;

    label = 0;

    for (i = 0; i < host->len; i++) {
        c = host->data[i];

        if (c == '.') {
            if (label == 0 || host->data[i - 1] == '-') {
                return 0;
            }

            label = 0;
            continue;
        }

        if (!(isalnum(c) || (c == '-' && label))
            || ++label > NGX_SVC_URL_LABEL)
        {
            return 0;
        }
    }

    return label && host->data[i - 1] != '-' && host->len <= NGX_SVC_URL_HOST;
}


ngx_int_t
ngx_svc_url_https(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    ngx_svc_url_t  url;

    if (ngx_svc_url_split(&value->str, &url) == NGX_OK
        && ngx_svc_url_scheme(&url, "https"))
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a URL such as "
                        "\"https://www.example.com/saml\", without a user "
                        "and a fragment.", path);
}
