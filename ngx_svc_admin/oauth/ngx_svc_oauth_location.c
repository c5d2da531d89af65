/*
 * Where a browser is sent by an authorization request.
 */

#include "ngx_svc_oauth_location.h"
#include "ngx_svc_oauth_login_url.h"


#define NGX_SVC_OAUTH_LOCATION_PARAMS  5


typedef struct {
    const char  *name;
    ngx_str_t    value;     /* no data: it is left out */
} ngx_svc_oauth_location_param_t;


static ngx_int_t ngx_svc_oauth_location_error(ngx_svc_oauth_request_t *ar,
    ngx_str_t *code, ngx_str_t *description);
static ngx_int_t ngx_svc_oauth_location_params(ngx_svc_oauth_request_t *ar,
    const ngx_svc_oauth_location_param_t *params, ngx_str_t *location);
static u_char *ngx_svc_oauth_location_separator(u_char *p,
    const ngx_str_t *uri);


ngx_int_t
ngx_svc_oauth_location_client(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_str_t *location)
{
    ngx_svc_oauth_location_param_t  params[NGX_SVC_OAUTH_LOCATION_PARAMS + 1];

    ngx_memzero(params, sizeof(params));

    params[0].name = "code";
    params[1].name = "error";
    params[2].name = "error_description";
    params[3].name = "state";
    params[3].value = ar->state;
    params[4].name = "iss";
    params[4].value = ngx_svc_oauth_issuer(ar->oauth.sr, slug);

    if (params[4].value.data == NULL) {
        return NGX_ERROR;
    }

    if (ar->oauth.sr->error.kind == NGX_SVC_E_NONE) {
        params[0].value = ar->code;

    } else if (ngx_svc_oauth_location_error(ar, &params[1].value,
                                            &params[2].value)
               != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_location_params(ar, params, location);
}


/* RFC 6749, 4.1.2.1. */

static ngx_int_t
ngx_svc_oauth_location_error(ngx_svc_oauth_request_t *ar, ngx_str_t *code,
    ngx_str_t *description)
{
    u_char            c;
    size_t            i;
    ngx_svc_error_t  *error;

    error = &ar->oauth.sr->error;

    *code = ngx_svc_error_row(error->kind)->oauth;

    if (code->len == 0) {
        ngx_str_set(code, "invalid_request");
    }

    if (ngx_svc_oauth_bytes(ar->oauth.sr, description, error->detail,
                            error->len)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < description->len; i++) {
        c = description->data[i];
        description->data[i] = ngx_svc_oauth_description(c);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_location_params(ngx_svc_oauth_request_t *ar,
    const ngx_svc_oauth_location_param_t *params, ngx_str_t *location)
{
    u_char      *p;
    size_t       size;
    ngx_uint_t   i;

    size = ar->redirect_uri.len;

    for (i = 0; params[i].name; i++) {
        size += 2 + ngx_strlen(params[i].name) + 3 * params[i].value.len;
    }

    p = ngx_pnalloc(ar->oauth.sr->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    location->data = p;
    p = ngx_cpymem(p, ar->redirect_uri.data, ar->redirect_uri.len);
    location->len = p - location->data;

    for (i = 0; params[i].name; i++) {

        if (params[i].value.data == NULL) {
            continue;
        }

        p = ngx_svc_oauth_location_separator(p, location);
        p = ngx_sprintf(p, "%s=", params[i].name);
        p = (u_char *) ngx_escape_uri(p, params[i].value.data,
                                      params[i].value.len,
                                      NGX_ESCAPE_URI_COMPONENT);
        location->len = p - location->data;
    }

    return NGX_OK;
}


/* uri: what has been written so far. */

static u_char *
ngx_svc_oauth_location_separator(u_char *p, const ngx_str_t *uri)
{
    if (ngx_strlchr(uri->data, uri->data + uri->len, '?') == NULL) {
        *p++ = '?';

    } else if (p[-1] != '?' && p[-1] != '&') {
        *p++ = '&';
    }

    return p;
}


/*
 * The path and its query are one parameter of the page's address, which knows
 * one path: that of all tenants, whichever the request has come by.
 */

ngx_int_t
ngx_svc_oauth_location_page(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *since, ngx_uint_t consent, ngx_str_t *location)
{
    u_char     *p;
    ngx_str_t   url, query;

    static const ngx_str_t  path = ngx_string(NGX_SVC_OAUTH_AUTHORIZE "?");

    url = ngx_svc_oauth_login_url(ar->oauth.sr->request);

    if (ngx_svc_oauth_request_query(ar, since, &query) != NGX_OK) {
        return NGX_ERROR;
    }

    p = ngx_pnalloc(ar->oauth.sr->request->pool,
                    url.len + sizeof("&return_to=&consent=1")
                    + 3 * (path.len + query.len));
    if (p == NULL) {
        return NGX_ERROR;
    }

    location->data = p;
    p = ngx_cpymem(p, url.data, url.len);
    p = ngx_svc_oauth_location_separator(p, &url);
    p = ngx_cpymem(p, "return_to=", sizeof("return_to=") - 1);
    p = (u_char *) ngx_escape_uri(p, path.data, path.len,
                                  NGX_ESCAPE_URI_COMPONENT);
    p = (u_char *) ngx_escape_uri(p, query.data, query.len,
                                  NGX_ESCAPE_URI_COMPONENT);

    if (consent) {
        p = ngx_cpymem(p, "&consent=1", sizeof("&consent=1") - 1);
    }

    location->len = p - location->data;

    return NGX_OK;
}


ngx_uint_t
ngx_svc_oauth_location_fits(ngx_svc_request_t *sr, const ngx_str_t *location)
{
    ngx_http_core_srv_conf_t  *cscf;

    cscf = ngx_http_get_module_srv_conf(sr->request, ngx_http_core_module);

    return sizeof("GET  HTTP/1.1\r\n") + location->len
           <= cscf->large_client_header_buffers.size;
}


ngx_int_t
ngx_svc_oauth_location_again(ngx_svc_oauth_request_t *ar, ngx_str_t *location)
{
    u_char     *p;
    ngx_str_t   slug, query;

    static const ngx_str_t  as_it_was = ngx_null_string;

    if (ngx_svc_oauth_request_query(ar, &as_it_was, &query) != NGX_OK) {
        return NGX_ERROR;
    }

    slug = ngx_svc_oauth_slug(ar->oauth.sr);

    p = ngx_pnalloc(ar->oauth.sr->request->pool,
                    sizeof("/oauth/t//authorize?") + 3 * slug.len + query.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    location->data = p;
    p = ngx_cpymem(p, "/oauth", sizeof("/oauth") - 1);

    if (slug.len) {
        p = ngx_cpymem(p, "/t/", sizeof("/t/") - 1);
        p = (u_char *) ngx_escape_uri(p, slug.data, slug.len,
                                      NGX_ESCAPE_URI_COMPONENT);
    }

    p = ngx_sprintf(p, "/authorize?%V", &query);
    location->len = p - location->data;

    return NGX_OK;
}


/* headers_out.location is not set: nginx would add its own scheme and port. */

ngx_int_t
ngx_svc_oauth_location_send(ngx_svc_request_t *sr, ngx_str_t *location)
{
    ngx_http_request_t  *r;

    static ngx_str_t     no_referrer = ngx_string("no-referrer");
    static ngx_str_t     no_store = ngx_string("no-store");

    r = sr->request;

    if (ngx_svc_add_header(r, "Location", location) != NGX_OK
        || ngx_svc_add_header(r, "Referrer-Policy", &no_referrer) != NGX_OK
        || ngx_svc_add_header(r, "Cache-Control", &no_store) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_SEE_OTHER);
}
