/*
 * "svc_base_url": where browsers find a server.
 */

#include "ngx_svc_conf_base_url.h"
#include "ngx_svc_addr.h"
#include "ngx_svc_uri.h"


static ngx_int_t ngx_svc_conf_base_key(ngx_conf_t *cf,
    ngx_svc_loc_conf_t *slcf, size_t scheme);


char *
ngx_svc_conf_base_url(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_loc_conf_t *slcf = conf;

    size_t      scheme;
    ngx_str_t  *value, url;

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

    if (scheme == 0 || url.len == scheme || url.data[scheme] == '/'
        || ngx_svc_uri_bytes(url.data, url.len) < url.len
        || ngx_strlchr(url.data, url.data + url.len, '?'))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_base_url\" takes a URL such as "
                           "https://login.example.com, not \"%V\"",
                           &value[1]);
        return NGX_CONF_ERROR;
    }

    slcf->base_url = url;

    switch (ngx_svc_conf_base_key(cf, slcf, scheme)) {

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
 * Makes the normal form of RFC 3986, 6.2.2 and 6.2.3.  scheme: the length of
 * what is before the host.  Returns NGX_OK; NGX_DECLINED when a "%" is in the
 * host, or is no escape in the path; or NGX_ERROR.
 */

static ngx_int_t
ngx_svc_conf_base_key(ngx_conf_t *cf, ngx_svc_loc_conf_t *slcf, size_t scheme)
{
    u_char     *p, *path, *end;
    ngx_str_t  *key, *host;

    key = &slcf->base_key;
    host = &slcf->base_host;

    key->data = ngx_pnalloc(cf->pool, slcf->base_url.len);
    if (key->data == NULL) {
        return NGX_ERROR;
    }

    host->data = slcf->base_url.data + scheme;
    end = slcf->base_url.data + slcf->base_url.len;
    path = ngx_strlchr(host->data, end, '/');

    if (path == NULL) {
        path = end;
    }

    /* an IPv6 address has colons that begin no port */

    p = ngx_strlchr(host->data, path, ']');
    p = ngx_strlchr(p ? p : host->data, path, ':');
    host->len = (p ? p : path) - host->data;

    p = ngx_svc_uri_origin(key->data, slcf->base_url.data, path);

    if (ngx_strlchr(key->data, p, '%')) {
        return NGX_DECLINED;
    }

    slcf->base_origin.data = key->data;
    slcf->base_origin.len = p - key->data;

    p = ngx_svc_uri_path(p, path, end);

    if (p == NULL) {
        return NGX_DECLINED;
    }

    key->len = p - key->data;

    return NGX_OK;
}


ngx_uint_t
ngx_svc_conf_base_loopback(const ngx_svc_loc_conf_t *slcf)
{
    ngx_str_t       host;
    ngx_svc_addr_t  addr;

    host = slcf->base_host;

    if (host.len > 2 && host.data[0] == '[') {
        host.data++;
        host.len -= 2;
    }

    if (ngx_svc_addr_parse(host.data, host.len, &addr) == NGX_OK) {
        return ngx_svc_addr_loopback(&addr);
    }

    return host.len == sizeof("localhost") - 1
           && ngx_strncasecmp(host.data, (u_char *) "localhost", host.len)
              == 0;
}
