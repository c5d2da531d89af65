/*
 * Answers.
 */

#include "ngx_svc_request.h"


static ngx_table_elt_t *ngx_svc_push_header(ngx_http_request_t *r,
    const char *name, ngx_str_t *value);


ngx_int_t
ngx_svc_send(ngx_svc_request_t *sr, ngx_uint_t status,
    ngx_svc_json_writer_t *w, ngx_str_t *location)
{
    ngx_table_elt_t  *h;

    if (w->failed) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (location) {
        h = ngx_svc_push_header(sr->request, "Location", location);
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


ngx_int_t
ngx_svc_send_error(ngx_svc_request_t *sr)
{
    ngx_str_t                   body, detail;
    const ngx_svc_error_row_t  *row;

    if (sr->failed) {
        return sr->failed(sr);
    }

    row = ngx_svc_error_row(sr->error.kind);

    detail.data = sr->error.detail;
    detail.len = sr->error.len;

    if (ngx_svc_envelope_body(sr->request->pool, sr->surface, row, &detail,
                              &body)
        != NGX_OK
        || ngx_svc_envelope_headers(sr->request, row, &sr->allow) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_body(sr, row->status, &sr->surface->content_type,
                             body.data, body.data + body.len);
}


/* If-Match of a GET is not heeded: nginx would answer with its own page. */

ngx_int_t
ngx_svc_send_etag(ngx_svc_request_t *sr, ngx_str_t *value)
{
    ngx_http_request_t  *r;

    r = sr->request;

    r->headers_out.etag = ngx_svc_push_header(r, "ETag", value);

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

    if (sr->claimed) {
        return ngx_svc_idempotency_keep(sr, status, start, last);
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

        /* a filter's refusal, as of a range, is nginx's own error */

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


ngx_int_t
ngx_svc_add_header(ngx_http_request_t *r, const char *name, ngx_str_t *value)
{
    return ngx_svc_push_header(r, name, value) ? NGX_OK : NGX_ERROR;
}


static ngx_table_elt_t *
ngx_svc_push_header(ngx_http_request_t *r, const char *name, ngx_str_t *value)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NULL;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->hash = 1;
    h->key.data = (u_char *) name;
    h->key.len = ngx_strlen(name);
    h->value = *value;

    return h;
}


ngx_table_elt_t *
ngx_svc_header_in(ngx_http_request_t *r, const char *name, size_t len,
    ngx_table_elt_t *behind)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (h[i].key.len != len
                || ngx_strncasecmp(h[i].key.data, (u_char *) name, len) != 0)
            {
                continue;
            }

            if (behind == NULL) {
                return &h[i];
            }

            if (behind == &h[i]) {
                behind = NULL;
            }
        }
    }

    return NULL;
}


ngx_str_t
ngx_svc_request_id(ngx_http_request_t *r)
{
    ngx_str_t                   id;
    ngx_svc_main_conf_t        *smcf;
    ngx_http_variable_value_t  *v;

    smcf = ngx_http_get_module_main_conf(r, ngx_http_svc_common_module);

    v = ngx_http_get_indexed_variable(r, smcf->request_id);

    if (v == NULL || v->not_found) {
        ngx_str_null(&id);

    } else {
        id.data = v->data;
        id.len = v->len;
    }

    return id;
}
