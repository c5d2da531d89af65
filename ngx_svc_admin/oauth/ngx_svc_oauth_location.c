/*
 * Where an authorization request sends the browser.
 */

#include "ngx_svc_oauth_location.h"
#include "ngx_svc_login_url.h"


static ngx_int_t ngx_svc_oauth_location_error(ngx_svc_oauth_request_t *ar,
    ngx_str_t *code, ngx_str_t *description);
static ngx_int_t ngx_svc_oauth_location_fields(ngx_svc_oauth_request_t *ar,
    const ngx_svc_oauth_field_t *fields, ngx_str_t *location);


ngx_int_t
ngx_svc_oauth_location_answer(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_svc_oauth_field_t *fields)
{
    ngx_memzero(fields, (NGX_SVC_OAUTH_LOCATION_FIELDS + 1)
                        * sizeof(ngx_svc_oauth_field_t));

    fields[0].name = "code";
    fields[1].name = "error";
    fields[2].name = "error_description";
    fields[3].name = "state";
    fields[3].value = ar->state;
    fields[4].name = "iss";
    fields[4].value = ngx_svc_oauth_issuer(ar->oauth.sr, slug);

    if (fields[4].value.data == NULL) {
        return NGX_ERROR;
    }

    if (ar->oauth.sr->error.kind == NGX_SVC_E_NONE) {
        fields[0].value = ar->code;
        return NGX_OK;
    }

    return ngx_svc_oauth_location_error(ar, &fields[1].value,
                                        &fields[2].value);
}


ngx_int_t
ngx_svc_oauth_location_client(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_str_t *location)
{
    ngx_svc_oauth_field_t  fields[NGX_SVC_OAUTH_LOCATION_FIELDS + 1];

    return ngx_svc_oauth_location_answer(ar, slug, fields) == NGX_OK
           ? ngx_svc_oauth_location_fields(ar, fields, location) : NGX_ERROR;
}


/* Sets the error's code and description (RFC 6749, 4.1.2.1). */

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
ngx_svc_oauth_location_fields(ngx_svc_oauth_request_t *ar,
    const ngx_svc_oauth_field_t *fields, ngx_str_t *location)
{
    u_char      *p, first;
    size_t       size;
    ngx_uint_t   i;

    size = ar->redirect_uri.len;
    first = (ar->mode == NGX_SVC_OAUTH_MODE_FRAGMENT) ? '#' : '?';

    for (i = 0; fields[i].name; i++) {
        size += 2 + ngx_strlen(fields[i].name) + 3 * fields[i].value.len;
    }

    p = ngx_pnalloc(ar->oauth.sr->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    location->data = p;
    p = ngx_cpymem(p, ar->redirect_uri.data, ar->redirect_uri.len);
    location->len = p - location->data;

    for (i = 0; fields[i].name; i++) {

        if (fields[i].value.data == NULL) {
            continue;
        }

        p = ngx_svc_oauth_location_separator(p, location, first);
        p = ngx_sprintf(p, "%s=", fields[i].name);
        p = (u_char *) ngx_escape_uri(p, fields[i].value.data,
                                      fields[i].value.len,
                                      NGX_ESCAPE_URI_COMPONENT);
        location->len = p - location->data;
    }

    return NGX_OK;
}


u_char *
ngx_svc_oauth_location_separator(u_char *p, const ngx_str_t *uri,
    u_char first)
{
    if (ngx_strlchr(uri->data, uri->data + uri->len, first) == NULL) {
        *p++ = first;

    } else if (p[-1] != first && p[-1] != '&') {
        *p++ = '&';
    }

    return p;
}


/*
 * The path and its query are one parameter of the page's address.  The page
 * knows one path, that of all tenants, whichever one the request has used.
 */

ngx_int_t
ngx_svc_oauth_location_page(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *since, ngx_uint_t consent, ngx_str_t *location)
{
    u_char     *p;
    ngx_str_t   url, query;

    static const ngx_str_t  path = ngx_string(NGX_SVC_OAUTH_AUTHORIZE "?");

    url = ngx_svc_login_url(ar->oauth.sr->request);

    if (ngx_svc_oauth_request_query(ar, since, &query) != NGX_OK) {
        return NGX_ERROR;
    }

    p = ngx_pnalloc(ar->oauth.sr->request->pool,
                    url.len + sizeof("&return_to=&consent=1#signup")
                    + 3 * (path.len + query.len));
    if (p == NULL) {
        return NGX_ERROR;
    }

    location->data = p;
    p = ngx_cpymem(p, url.data, url.len);
    p = ngx_svc_oauth_location_separator(p, &url, '?');
    p = ngx_cpymem(p, "return_to=", sizeof("return_to=") - 1);
    p = (u_char *) ngx_escape_uri(p, path.data, path.len,
                                  NGX_ESCAPE_URI_COMPONENT);
    p = (u_char *) ngx_escape_uri(p, query.data, query.len,
                                  NGX_ESCAPE_URI_COMPONENT);

    if (consent) {
        p = ngx_cpymem(p, "&consent=1", sizeof("&consent=1") - 1);

    } else if (ar->prompt & NGX_SVC_OAUTH_PROMPT_CREATE) {
        p = ngx_cpymem(p, "#signup", sizeof("#signup") - 1);
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
