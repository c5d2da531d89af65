/*
 * Errors in the surface's envelope, also those that nginx itself answers: a
 * filter replaces the page of any error on the paths of a surface.  It also
 * adds the headers that all answers of a surface have.
 */

#include "ngx_svc_envelope.h"
#include "ngx_svc_error_page.h"
#include "ngx_svc_header.h"
#include "ngx_svc_router.h"


static ngx_int_t ngx_svc_envelope_retry(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_envelope_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_svc_envelope_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);
static ngx_int_t ngx_svc_envelope_request_id(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_envelope_no_store(ngx_svc_request_t *sr);
static const ngx_svc_route_t *ngx_svc_envelope_route(ngx_svc_request_t *sr);
static ngx_table_elt_t *ngx_svc_envelope_cache(ngx_http_request_t *r);
static ngx_int_t ngx_svc_envelope_replace(ngx_http_request_t *r,
    const ngx_svc_surface_t *surface);
static ngx_int_t ngx_svc_envelope_told(ngx_svc_request_t *sr,
    ngx_svc_error_row_t *row, ngx_str_t *detail);
static ngx_svc_request_t *ngx_svc_envelope_request(ngx_http_request_t *r,
    const ngx_svc_surface_t *surface);
static ngx_int_t ngx_svc_envelope_chain(ngx_svc_request_t *sr,
    const ngx_str_t *body);
static void ngx_svc_envelope_entity(ngx_http_request_t *r,
    const ngx_str_t *type, size_t len);
static void ngx_svc_envelope_uncache(ngx_http_request_t *r);
static const ngx_svc_surface_t *ngx_svc_envelope_surface(
    ngx_http_request_t *r);
static ngx_uint_t ngx_svc_envelope_prefix(const ngx_str_t *prefix,
    u_char *p, u_char *end);
static void ngx_svc_envelope_path(ngx_http_request_t *r, u_char **start,
    u_char **end);


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;
static ngx_http_output_body_filter_pt    ngx_http_next_body_filter;


ngx_int_t
ngx_svc_envelope_init(ngx_conf_t *cf)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_svc_envelope_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_svc_envelope_body_filter;

    return NGX_OK;
}


ngx_int_t
ngx_svc_envelope_body(ngx_svc_request_t *sr, const ngx_svc_error_row_t *row,
    ngx_str_t *detail, ngx_str_t *body, const ngx_str_t **type)
{
    ngx_str_t              member;
    ngx_svc_json_writer_t  w;

    if (ngx_svc_error_page_wanted(sr)) {
        *type = &ngx_svc_error_page_type;
        return ngx_svc_error_page(sr, row, detail, body);
    }

    *type = &sr->surface->content_type;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 256) != NGX_OK) {
        return NGX_ERROR;
    }

    /* a text of nginx's error names none, whatever was found before */

    ngx_str_null(&member);

    if (row->status == NGX_HTTP_BAD_REQUEST
        && detail->data == sr->error.detail)
    {
        member.data = sr->error.detail + 1;
        member.len = sr->error.member;
    }

    sr->surface->error(&w, row, detail, &member);

    if (w.failed) {
        return NGX_ERROR;
    }

    body->data = w.start;
    body->len = w.last - w.start;

    return NGX_OK;
}


ngx_int_t
ngx_svc_envelope_headers(ngx_svc_request_t *sr, const ngx_svc_error_row_t *row)
{
    ngx_http_request_t  *r;

    static ngx_str_t     bearer = ngx_string("Bearer");

    r = sr->request;

    switch (row->status) {

    case NGX_HTTP_UNAUTHORIZED:
        return ngx_svc_add_header(r, "WWW-Authenticate",
                                  sr->challenge.len ? &sr->challenge : &bearer);

    case NGX_HTTP_NOT_ALLOWED:
        return sr->allow.len ? ngx_svc_add_header(r, "Allow", &sr->allow)
                             : NGX_OK;

    case NGX_HTTP_TOO_MANY_REQUESTS:
    case NGX_HTTP_SERVICE_UNAVAILABLE:
        return ngx_svc_envelope_retry(sr);

    default:
        return NGX_OK;
    }
}


static ngx_int_t
ngx_svc_envelope_retry(ngx_svc_request_t *sr)
{
    ngx_str_t  seconds;

    seconds.data = ngx_pnalloc(sr->request->pool, NGX_INT_T_LEN);
    if (seconds.data == NULL) {
        return NGX_ERROR;
    }

    seconds.len = ngx_sprintf(seconds.data, "%ui",
                              ngx_max(sr->retry_after, 1))
                  - seconds.data;

    return ngx_svc_add_header(sr->request, "Retry-After", &seconds);
}


static ngx_int_t
ngx_svc_envelope_header_filter(ngx_http_request_t *r)
{
    ngx_svc_request_t        *sr;
    const ngx_svc_surface_t  *surface;

    if (r != r->main) {
        return ngx_http_next_header_filter(r);
    }

    sr = ngx_http_get_module_ctx(r, ngx_http_svc_common_module);

    if (r->headers_out.status >= NGX_HTTP_BAD_REQUEST
        && (!r->header_only || r->method == NGX_HTTP_HEAD)
        && (sr == NULL || !sr->answered))
    {
        surface = ngx_svc_envelope_surface(r);

        if (surface && ngx_svc_envelope_replace(r, surface) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    sr = ngx_http_get_module_ctx(r, ngx_http_svc_common_module);

    if (sr && (ngx_svc_envelope_request_id(sr) != NGX_OK
               || ngx_svc_envelope_no_store(sr) != NGX_OK))
    {
        return NGX_ERROR;
    }

    return ngx_http_next_header_filter(r);
}


/* An answer that nginx turns into another one, as 416, comes here twice. */

static ngx_int_t
ngx_svc_envelope_request_id(ngx_svc_request_t *sr)
{
    ngx_str_t  id;

    id = ngx_svc_request_id(sr->request);

    if (id.len == 0 || sr->identified) {
        return NGX_OK;
    }

    sr->identified = 1;

    return ngx_svc_add_header(sr->request, "X-Request-Id", &id);
}


/*
 * Adds Cache-Control: no-store to answers that no cache may keep, also to those
 * that nginx itself gives.
 */

static ngx_int_t
ngx_svc_envelope_no_store(ngx_svc_request_t *sr)
{
    const ngx_svc_route_t  *route;

    static ngx_str_t        no_store = ngx_string("no-store");

    route = ngx_svc_envelope_route(sr);

    if (route == NULL
        || (!(route->flags & NGX_SVC_ROUTE_NO_STORE)
            && (sr->surface->session == NULL
                || (route->flags & NGX_SVC_ROUTE_PUBLIC))))
    {
        return NGX_OK;
    }

    return ngx_svc_envelope_cache(sr->request)
           ? NGX_OK
           : ngx_svc_add_header(sr->request, "Cache-Control", &no_store);
}


/*
 * Finds the route also of a request that nginx has refused before; sr->route
 * stays NULL then, and the request is counted as one without a route.
 */

static const ngx_svc_route_t *
ngx_svc_envelope_route(ngx_svc_request_t *sr)
{
    const ngx_svc_route_t  *route;

    if (sr->route) {
        return sr->route;
    }

    (void) ngx_svc_router_find(sr);

    route = sr->route;
    sr->route = NULL;

    return route;
}


/* Returns the answer's Cache-Control header; NULL: there is none. */

static ngx_table_elt_t *
ngx_svc_envelope_cache(ngx_http_request_t *r)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    for (part = &r->headers_out.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (h[i].hash && h[i].key.len == sizeof("Cache-Control") - 1
                && ngx_strncasecmp(h[i].key.data, (u_char *) "Cache-Control",
                                   h[i].key.len)
                   == 0)
            {
                return &h[i];
            }
        }
    }

    return NULL;
}


static ngx_int_t
ngx_svc_envelope_replace(ngx_http_request_t *r,
    const ngx_svc_surface_t *surface)
{
    ngx_str_t             body, detail;
    ngx_svc_error_e       kind;
    const ngx_str_t      *type;
    ngx_svc_request_t    *sr;
    ngx_svc_error_row_t   row;

    /* a status that has no error of its own keeps its number */

    kind = ngx_svc_error_kind(r->headers_out.status);

    if (kind == NGX_SVC_E_NONE) {
        kind = (r->headers_out.status < NGX_HTTP_INTERNAL_SERVER_ERROR)
               ? NGX_SVC_E_INVALID_REQUEST : NGX_SVC_E_INTERNAL;
    }

    row = *ngx_svc_error_row(kind);
    row.status = r->headers_out.status;
    detail = row.detail;

    sr = ngx_svc_envelope_request(r, surface);
    if (sr == NULL) {
        return NGX_ERROR;
    }

    if (kind == NGX_SVC_E_METHOD_NOT_ALLOWED && sr->allow.len == 0) {

        /* nginx has refused TRACE before it looked for a location */

        (void) ngx_svc_router_find(sr);
    }

    ngx_svc_envelope_uncache(r);

    if (ngx_svc_envelope_told(sr, &row, &detail) != NGX_OK
        || ngx_svc_envelope_body(sr, &row, &detail, &body, &type)
           != NGX_OK
        || ngx_svc_envelope_headers(sr, &row) != NGX_OK
        || ngx_svc_envelope_chain(sr, &body) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_envelope_entity(r, type, body.len);

    return NGX_OK;
}


ngx_int_t
ngx_svc_envelope_rejected(ngx_svc_request_t *sr)
{
    return (sr->op == NULL && sr->surface->rejected)
           ? sr->surface->rejected(sr) : NGX_OK;
}


/*
 * Sets the error to what nginx answers, whatever error was found before; or to
 * what the surface tells the client instead.
 */

static ngx_int_t
ngx_svc_envelope_told(ngx_svc_request_t *sr, ngx_svc_error_row_t *row,
    ngx_str_t *detail)
{
    sr->error.kind = NGX_SVC_E_NONE;

    if (ngx_svc_envelope_rejected(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    if (sr->error.kind == NGX_SVC_E_NONE) {
        return NGX_OK;
    }

    *row = *ngx_svc_error_row(sr->error.kind);

    detail->data = sr->error.detail;
    detail->len = sr->error.len;

    sr->request->headers_out.status = row->status;
    sr->request->headers_out.status_line.len = 0;
    sr->request->err_status = row->status;

    return NGX_OK;
}


static ngx_svc_request_t *
ngx_svc_envelope_request(ngx_http_request_t *r,
    const ngx_svc_surface_t *surface)
{
    ngx_svc_request_t  *sr;

    sr = ngx_http_get_module_ctx(r, ngx_http_svc_common_module);

    if (sr) {
        return sr;
    }

    sr = ngx_pcalloc(r->pool, sizeof(ngx_svc_request_t));
    if (sr == NULL) {
        return NULL;
    }

    sr->request = r;
    sr->surface = surface;

    ngx_http_set_ctx(r, sr, ngx_http_svc_common_module);

    return sr;
}


static ngx_int_t
ngx_svc_envelope_chain(ngx_svc_request_t *sr, const ngx_str_t *body)
{
    ngx_buf_t   *b;
    ngx_pool_t  *pool;

    pool = sr->request->pool;

    sr->replacement = ngx_alloc_chain_link(pool);
    b = ngx_calloc_buf(pool);

    if (sr->replacement == NULL || b == NULL) {
        return NGX_ERROR;
    }

    b->pos = body->data;
    b->last = body->data + body->len;
    b->memory = 1;
    b->last_buf = 1;

    sr->replacement->buf = b;
    sr->replacement->next = NULL;

    return NGX_OK;
}


/* The headers that describe nginx's own page are not true of another body. */

static void
ngx_svc_envelope_entity(ngx_http_request_t *r, const ngx_str_t *type,
    size_t len)
{
    ngx_http_clear_content_length(r);
    ngx_http_clear_accept_ranges(r);
    ngx_http_clear_last_modified(r);
    ngx_http_clear_etag(r);

    if (r->headers_out.content_encoding) {
        r->headers_out.content_encoding->hash = 0;
        r->headers_out.content_encoding = NULL;
    }

    r->headers_out.content_length_n = len;
    r->headers_out.content_type = *type;
    r->headers_out.content_type_len = type->len;
    r->headers_out.content_type_lowcase = NULL;
}


/* Cache-Control of the answer that did not come is not true of the error. */

static void
ngx_svc_envelope_uncache(ngx_http_request_t *r)
{
    ngx_table_elt_t  *h;

    while ((h = ngx_svc_envelope_cache(r)) != NULL) {
        h->hash = 0;
    }
}


static ngx_int_t
ngx_svc_envelope_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_buf_t           *b;
    ngx_chain_t         *cl;
    ngx_svc_request_t   *sr;

    sr = ngx_http_get_module_ctx(r, ngx_http_svc_common_module);

    if (sr == NULL || sr->replacement == NULL || in == NULL) {
        return ngx_http_next_body_filter(r, in);
    }

    for (cl = in; cl; cl = cl->next) {
        b = cl->buf;

        b->pos = b->last;
        b->file_pos = b->file_last;
    }

    if (sr->replaced) {
        return NGX_OK;
    }

    sr->replaced = 1;

    return ngx_http_next_body_filter(r, sr->replacement);
}


/*
 * Returns the surface of the location.  Where the request was refused before it
 * came to a content handler, that is the surface that is on in this server and
 * has the prefix.  The answer of another module's handler, on a path below the
 * prefix, is not replaced.
 */

static const ngx_svc_surface_t *
ngx_svc_envelope_surface(ngx_http_request_t *r)
{
    u_char                    *p, *end;
    ngx_uint_t                 i;
    ngx_svc_loc_conf_t        *slcf;
    ngx_svc_srv_conf_t        *sscf;
    const ngx_svc_surface_t  **surfaces;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_svc_common_module);

    if (r->upstream
        || (r->content_handler && r->content_handler != slcf->handler))
    {
        return NULL;
    }

    if (slcf->surface) {
        return slcf->surface;
    }

    sscf = ngx_http_get_module_srv_conf(r, ngx_http_svc_common_module);

    surfaces = sscf->surfaces.elts;

    if (sscf->surfaces.nelts == 0) {
        return NULL;
    }

    ngx_svc_envelope_path(r, &p, &end);

    for (i = 0; i < sscf->surfaces.nelts; i++) {
        if (ngx_svc_envelope_prefix(&surfaces[i]->prefix, p, end)) {
            return surfaces[i];
        }
    }

    return NULL;
}


/* Finds the path, or what looks like it in a line that nginx cannot parse. */

static void
ngx_svc_envelope_path(ngx_http_request_t *r, u_char **start, u_char **end)
{
    u_char  *p, *last;

    if (r->uri.len) {
        *start = r->uri.data;
        *end = r->uri.data + r->uri.len;
        return;
    }

    if (r->request_line.len) {
        p = r->request_line.data;
        last = p + r->request_line.len;

    } else if (r->request_start && r->header_in
               && r->request_start >= r->header_in->start
               && r->request_start < r->header_in->last)
    {
        p = r->request_start;
        last = r->header_in->last;

    } else {
        p = (u_char *) "";
        last = p;
    }

    while (p < last && *p != ' ' && *p != LF) {
        p++;
    }

    while (p < last && *p == ' ') {
        p++;
    }

    *start = p;
    *end = last;
}


static ngx_uint_t
ngx_svc_envelope_prefix(const ngx_str_t *prefix, u_char *p, u_char *end)
{
    if ((size_t) (end - p) < prefix->len
        || ngx_memcmp(p, prefix->data, prefix->len) != 0)
    {
        return 0;
    }

    p += prefix->len;

    return p == end || *p == '/' || *p == '?' || *p == ' ' || *p == CR
           || *p == LF;
}
