/*
 * "svc_base_url": where browsers find a server.
 */

#include "ngx_svc_conf_base_url.h"
#include "ngx_svc_conf.h"
#include "ngx_svc_hex.h"

#include <ctype.h>


static u_char *ngx_svc_conf_base_path(u_char *dst, u_char *p, u_char *end);
static ngx_int_t ngx_svc_conf_base_key(ngx_conf_t *cf, const ngx_str_t *url,
    size_t scheme, ngx_str_t *key);


char *
ngx_svc_conf_base_url(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_loc_conf_t *slcf = conf;

    size_t      scheme;
    ngx_str_t  *value, url;
    ngx_uint_t  i;

    if (slcf->base_url.data) {
        return "is duplicate";
    }

    value = cf->args->elts;
    url = value[1];
    scheme = 0;

    if (ngx_strncmp(url.data, "https://", 8) == 0) {
        scheme = 8;

    } else if (ngx_strncmp(url.data, "http://", 7) == 0) {
        scheme = 7;
    }

    while (url.len > scheme && url.data[url.len - 1] == '/') {
        url.len--;
    }

    for (i = 0; i < url.len; i++) {
        if (url.data[i] <= ' ' || url.data[i] >= 0x7f
            || ngx_strchr("\"\\<>?#^`{|}", url.data[i]))
        {
            break;
        }
    }

    if (scheme == 0 || url.len == scheme || url.data[scheme] == '/'
        || i < url.len)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_base_url\" takes a URL such as "
                           "https://login.example.com, not \"%V\"",
                           &value[1]);
        return NGX_CONF_ERROR;
    }

    slcf->base_url = url;

    switch (ngx_svc_conf_base_key(cf, &url, scheme, &slcf->base_key)) {

    case NGX_OK:
        return NGX_CONF_OK;

    case NGX_DECLINED:
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_base_url\" has a \"%%\" in its host, or "
                           "without two hexadecimal digits, in \"%V\"",
                           &value[1]);
        return NGX_CONF_ERROR;

    default:
        return NGX_CONF_ERROR;
    }
}


/*
 * RFC 3986, 6.2.2 and 6.2.3: a host in lower case, without the port that its
 * scheme has, and a path in which "%7E" is "~", and "%2f" is "%2F".  scheme: the
 * length of what is before the host.  NGX_DECLINED: a "%" is none of those.
 */

static ngx_int_t
ngx_svc_conf_base_key(ngx_conf_t *cf, const ngx_str_t *url, size_t scheme,
    ngx_str_t *key)
{
    u_char     *p;
    size_t      host;
    ngx_str_t   port;

    key->data = ngx_pnalloc(cf->pool, url->len);
    if (key->data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_strlchr(url->data + scheme, url->data + url->len, '/');
    host = p ? (size_t) (p - url->data) : url->len;

    if (scheme == sizeof("https://") - 1) {
        ngx_str_set(&port, ":443");

    } else {
        ngx_str_set(&port, ":80");
    }

    ngx_strlow(key->data, url->data, host);
    p = key->data + host;

    if (ngx_strlchr(key->data, p, '%')) {
        return NGX_DECLINED;
    }

    if (host > scheme + port.len
        && ngx_memcmp(p - port.len, port.data, port.len) == 0)
    {
        p -= port.len;
    }

    p = ngx_svc_conf_base_path(p, url->data + host, url->data + url->len);

    if (p == NULL) {
        return NGX_DECLINED;
    }

    key->len = p - key->data;

    return NGX_OK;
}


/* NULL: a "%" without a byte that may be there. */

static u_char *
ngx_svc_conf_base_path(u_char *dst, u_char *p, u_char *end)
{
    u_char  c;

    while (p < end) {

        if (*p != '%') {
            *dst++ = *p++;
            continue;
        }

        if (end - p < 3 || ngx_svc_hex(p + 1, 1, &c) != NGX_OK || c < 0x20
            || c == 0x7f)
        {
            return NULL;
        }

        if (isalnum(c) || ngx_strchr("-._~", c)) {
            *dst++ = c;

        } else {
            *dst++ = '%';
            *dst++ = ngx_toupper(p[1]);
            *dst++ = ngx_toupper(p[2]);
        }

        p += 3;
    }

    return dst;
}
