/*
 * The base of the URLs in an answer, and in the mails that a request causes.
 */

#include "ngx_svc_base_url.h"
#include "ngx_svc_row.h"

#include <ctype.h>


#define NGX_SVC_BASE_URL_DOMAIN_MAX  253


static ngx_uint_t ngx_svc_base_url_name(const ngx_str_t *name);


const ngx_str_t *
ngx_svc_base_url(ngx_svc_request_t *sr)
{
    ngx_svc_loc_conf_t  *slcf;

    if (sr->by_domain) {
        return &sr->domain_url;
    }

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);

    return &slcf->base_url;
}


/* nginx keeps the name in the Host in lower case, without port and last dot. */

ngx_uint_t
ngx_svc_base_url_domain(ngx_svc_request_t *sr)
{
    u_char              *p;
    ngx_str_t           *own, *name, *url;
    ngx_svc_loc_conf_t  *slcf;

    if (sr->domain_looked) {
        return sr->domain.len != 0;
    }

    sr->domain_looked = 1;

    name = &sr->request->headers_in.server;
    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);
    own = &slcf->base_host;
    url = &slcf->base_url;

    if (url->len == 0 || !ngx_svc_base_url_name(name)) {
        return 0;
    }

    if (own->len == name->len
        && ngx_strncasecmp(own->data, name->data, own->len) == 0)
    {
        return 0;
    }

    p = ngx_pnalloc(sr->request->pool, url->len - own->len + name->len);
    if (p == NULL) {
        return 0;
    }

    sr->domain = *name;
    sr->domain_url.data = p;
    sr->domain_url.len = url->len - own->len + name->len;

    p = ngx_cpymem(p, url->data, own->data - url->data);
    p = ngx_cpymem(p, name->data, name->len);
    ngx_memcpy(p, own->data + own->len,
               url->data + url->len - own->data - own->len);

    return 1;
}


/*
 * Returns 1 for a name that the type of svc.domain would take, and that is no
 * address.
 */

static ngx_uint_t
ngx_svc_base_url_name(const ngx_str_t *name)
{
    size_t      i;
    ngx_uint_t  dot, letters;

    dot = 0;
    letters = 0;

    for (i = 0; i < name->len; i++) {

        if (name->data[i] == '.') {
            dot = 1;
            letters = 0;

        } else if (name->data[i] >= 'a' && name->data[i] <= 'z') {
            letters = 1;

        } else if (!isdigit(name->data[i]) && name->data[i] != '-') {
            return 0;
        }
    }

    return dot && letters && name->len <= NGX_SVC_BASE_URL_DOMAIN_MAX;
}


void
ngx_svc_base_url_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    ngx_svc_pg_bind_str(call, &sr->domain);
    ngx_svc_pg_bind_str(call, &sr->domain_url);
}


void
ngx_svc_base_url_found(ngx_svc_request_t *sr)
{
    sr->by_domain = ngx_svc_base_url_domain(sr) & 1;
}


void
ngx_svc_base_url_read(ngx_svc_request_t *sr, PGresult *res)
{
    if (sr->domain.len && ngx_svc_row_value(res, 0, "_base_url").data) {
        sr->by_domain = 1;
    }
}


ngx_int_t
ngx_svc_base_url_page(ngx_svc_request_t *sr, const char *path,
    const ngx_str_t *tenant, const char *fragment, const ngx_str_t *token,
    ngx_str_t *url)
{
    u_char           *p;
    size_t            len;
    ngx_pool_t       *pool;
    const ngx_str_t  *base;

    pool = sr->request->pool;
    base = ngx_svc_base_url(sr);

    len = base->len + ngx_strlen(path) + sizeof("?tenant=")
          + (tenant ? tenant->len : 0) + ngx_strlen(fragment) + token->len;

    p = ngx_pnalloc(pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    url->data = p;

    p = ngx_sprintf(p, "%V%s", base, path);

    if (tenant) {
        p = ngx_sprintf(p, "?tenant=%V", tenant);
    }

    p = ngx_sprintf(p, "%s%V", fragment, token);

    url->len = p - url->data;

    return ngx_svc_wipe_later(pool, url->data, url->len);
}
