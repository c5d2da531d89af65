/*
 * The answer to an authorization request: a redirect, or a page that posts it.
 */

#include "ngx_svc_oauth_response.h"


static ngx_int_t ngx_svc_oauth_response_page(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug);


ngx_int_t
ngx_svc_oauth_response(ngx_svc_oauth_request_t *ar, const ngx_str_t *slug)
{
    ngx_str_t  location;

    if (ar->mode == NGX_SVC_OAUTH_MODE_FORM_POST) {
        return ngx_svc_oauth_response_page(ar, slug);
    }

    return ngx_svc_oauth_location_client(ar, slug, &location) == NGX_OK
           ? ngx_svc_send_see_other(ar->oauth.sr, &location)
           : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


/*
 * With the policy "no-referrer" the browser would send the form with the origin
 * "null", which a client that looks at the origin cannot accept.
 */

static ngx_int_t
ngx_svc_oauth_response_page(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug)
{
    ngx_str_t               page;
    ngx_http_request_t     *r;
    ngx_svc_oauth_field_t   fields[NGX_SVC_OAUTH_LOCATION_FIELDS + 1];

    static const ngx_str_t  html = ngx_string("text/html; charset=utf-8");
    static ngx_str_t        no_store = ngx_string("no-store");
    static ngx_str_t        nosniff = ngx_string("nosniff");
    static ngx_str_t        origin = ngx_string("strict-origin");

    r = ar->oauth.sr->request;

    if (ngx_svc_oauth_location_answer(ar, slug, fields) != NGX_OK
        || ngx_svc_oauth_form_post(r->pool, &ar->redirect_uri, fields, &page)
           != NGX_OK
        || ngx_svc_add_header(r, "Content-Security-Policy",
                              &ngx_svc_oauth_form_post_policy)
           != NGX_OK
        || ngx_svc_add_header(r, "X-Content-Type-Options", &nosniff) != NGX_OK
        || ngx_svc_add_header(r, "Referrer-Policy", &origin) != NGX_OK
        || ngx_svc_add_header(r, "Cache-Control", &no_store) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_bytes(ar->oauth.sr, &html, &page);
}
