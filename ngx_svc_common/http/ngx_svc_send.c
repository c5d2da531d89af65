/*
 * Answers.
 */

#include "ngx_svc_send.h"
#include "ngx_svc_envelope.h"
#include "ngx_svc_header.h"


ngx_int_t
ngx_svc_send(ngx_svc_request_t *sr, ngx_uint_t status,
    ngx_svc_json_writer_t *w, ngx_str_t *location)
{
    ngx_table_elt_t  *h;

    if (w->failed) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (location) {
        h = ngx_svc_header_push(sr->request, "Location", location);
        if (h == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        sr->request->headers_out.location = h;
    }

    sr->secret_at = w->secret_at;
    sr->secret_len = w->secret_len;

    return ngx_svc_send_body(sr, status, &sr->surface->content_type, w->start,
                             w->last);
}


ngx_int_t
ngx_svc_send_empty(ngx_svc_request_t *sr, ngx_uint_t status)
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = sr->request;

    sr->answered = 1;

    r->headers_out.status = status;
    r->headers_out.content_length_n = 0;
    r->header_only = 1;

    rc = ngx_http_send_header(r);

    return (rc == NGX_ERROR || rc > NGX_OK) ? rc : NGX_OK;
}


/*
 * headers_out.location is not set: nginx would put its own scheme, host and
 * port in front of a path.
 */

ngx_int_t
ngx_svc_send_see_other(ngx_svc_request_t *sr, ngx_str_t *location)
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


ngx_int_t
ngx_svc_send_error(ngx_svc_request_t *sr)
{
    ngx_str_t                   body, detail;
    const ngx_str_t            *type;
    const ngx_svc_error_row_t  *row;

    if (sr->failed) {
        return sr->failed(sr);
    }

    row = ngx_svc_error_row(sr->error.kind);

    detail.data = sr->error.detail;
    detail.len = sr->error.len;

    if (ngx_svc_envelope_body(sr, row, &detail, &body, &type) != NGX_OK
        || ngx_svc_envelope_headers(sr, row) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_body(sr, row->status, type, body.data,
                             body.data + body.len);
}


ngx_int_t
ngx_svc_constraint(ngx_svc_request_t *sr, const char *name)
{
    const ngx_svc_constraint_t  *c;

    for (c = sr->surface->constraints; c->name; c++) {
        if (ngx_strcmp(c->name, name) == 0) {
            (void) ngx_svc_fail(&sr->error, c->kind, "%s", c->detail);
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


ngx_int_t
ngx_svc_send_conflict(ngx_svc_request_t *sr, const char *name)
{
    if (ngx_svc_constraint(sr, name) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_error(sr);
}


/*
 * The pools log once what is wrong, so each request that suffers from it is
 * logged at a lower level.
 */

ngx_int_t
ngx_svc_send_unavailable(ngx_svc_request_t *sr, const char *detail)
{
    ngx_str_t  id;

    id = ngx_svc_request_id(sr->request);

    ngx_log_error(NGX_LOG_INFO, sr->request->connection->log, 0,
                  "svc: 503: %s Request id: %V", detail, &id);

    sr->error.kind = NGX_SVC_E_NONE;
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE, "%s", detail);

    return ngx_svc_send_error(sr);
}


ngx_int_t
ngx_svc_send_busy(ngx_svc_request_t *sr)
{
    return ngx_svc_send_unavailable(sr,
                   "Too many requests wait for the database: nothing was "
                   "done, try again.");
}


/* If-Match of a GET is ignored: nginx would answer with its own page. */

ngx_int_t
ngx_svc_send_etag(ngx_svc_request_t *sr, ngx_str_t *value)
{
    ngx_http_request_t  *r;

    r = sr->request;

    r->headers_out.etag = ngx_svc_header_push(r, "ETag", value);

    if (r->headers_out.etag == NULL) {
        return NGX_ERROR;
    }

    if (r->method == NGX_HTTP_GET || r->method == NGX_HTTP_HEAD) {
        r->headers_in.if_match = NULL;
        r->headers_in.if_unmodified_since = NULL;
        r->disable_not_modified = 0;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_send_bytes(ngx_svc_request_t *sr, const ngx_str_t *content_type,
    ngx_str_t *bytes)
{
    return ngx_svc_send_body(sr, NGX_HTTP_OK, content_type, bytes->data,
                             bytes->data + bytes->len);
}


ngx_int_t
ngx_svc_send_body(ngx_svc_request_t *sr, ngx_uint_t status,
    const ngx_str_t *type, u_char *start, u_char *last)
{
    ngx_int_t            rc;
    ngx_buf_t           *b;
    ngx_chain_t          out;
    ngx_http_request_t  *r;

    if (sr->keep) {
        return sr->keep(sr, status, start, last);
    }

    r = sr->request;

    sr->answered = 1;

    r->headers_out.status = status;
    r->headers_out.content_length_n = last - start;
    r->headers_out.content_type = *type;
    r->headers_out.content_type_len = type->len;
    r->headers_out.content_type_lowcase = NULL;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {

        /* when a filter refuses, such as a range, the error is nginx's own */

        sr->answered = (rc <= NGX_OK);
        return rc;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->pos = start;
    b->last = last;
    b->memory = 1;
    b->last_buf = (r == r->main);
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}
