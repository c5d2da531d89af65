/*
 * An error as a page.
 */

#include "ngx_svc_error_page.h"
#include "ngx_svc_header.h"


static const u_char *ngx_svc_error_page_type_in(const ngx_str_t *accept,
    const char *type);


const ngx_str_t  ngx_svc_error_page_type =
    ngx_string("text/html; charset=utf-8");

static const char  ngx_svc_error_page_head[] =
    "<!doctype html>\n"
    "<html lang=\"en\">\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>This link does not work</title>\n"
    "<h1>This link does not work</h1>\n"
    "<p>Go back to the application that has sent you here, and try again."
    " Whoever runs it will want to know this:</p>\n"
    "<p>";


ngx_uint_t
ngx_svc_error_page_wanted(ngx_svc_request_t *sr)
{
    const u_char     *html, *json;
    ngx_table_elt_t  *accept;

    if (sr->route == NULL || !(sr->route->flags & NGX_SVC_ROUTE_PAGE)) {
        return 0;
    }

    accept = ngx_svc_header_in(sr->request, "Accept", sizeof("Accept") - 1,
                               NULL);
    if (accept == NULL) {
        return 0;
    }

    html = ngx_svc_error_page_type_in(&accept->value, "text/html");
    json = ngx_svc_error_page_type_in(&accept->value, "application/json");

    return html && (json == NULL || html < json);
}


static const u_char *
ngx_svc_error_page_type_in(const ngx_str_t *accept, const char *type)
{
    return ngx_strlcasestrn(accept->data, accept->data + accept->len,
                            (u_char *) type, ngx_strlen(type) - 1);
}


ngx_int_t
ngx_svc_error_page(ngx_svc_request_t *sr, const ngx_svc_error_row_t *row,
    const ngx_str_t *detail, ngx_str_t *body)
{
    u_char              *p;
    size_t               escaped;
    const ngx_str_t     *code;
    ngx_http_request_t  *r;

    static ngx_str_t     policy = ngx_string("default-src 'none'; base-uri "
                                             "'none'; form-action 'none'; "
                                             "frame-ancestors 'none'");
    static ngx_str_t     nosniff = ngx_string("nosniff");
    static ngx_str_t     no_referrer = ngx_string("no-referrer");

    r = sr->request;
    code = row->oauth.len ? &row->oauth : &row->code;
    escaped = detail->len + ngx_escape_html(NULL, detail->data, detail->len);

    p = ngx_pnalloc(r->pool, sizeof(ngx_svc_error_page_head) + code->len
                             + sizeof(": </p>\n") + escaped);

    if (p == NULL
        || ngx_svc_add_header(r, "Content-Security-Policy", &policy) != NGX_OK
        || ngx_svc_add_header(r, "X-Content-Type-Options", &nosniff) != NGX_OK
        || ngx_svc_add_header(r, "Referrer-Policy", &no_referrer) != NGX_OK)
    {
        return NGX_ERROR;
    }

    body->data = p;

    p = ngx_sprintf(p, "%s%V: ", ngx_svc_error_page_head, code);
    p = (u_char *) ngx_escape_html(p, detail->data, detail->len);
    p = ngx_cpymem(p, "</p>\n", sizeof("</p>\n") - 1);

    body->len = p - body->data;

    return NGX_OK;
}
