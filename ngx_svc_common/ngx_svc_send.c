/*
 * Answers.
 */

#include "ngx_svc_request.h"


static ngx_int_t ngx_svc_send_body(ngx_svc_request_t *sr, ngx_uint_t status,
    u_char *start, u_char *last);


ngx_int_t
ngx_svc_send(ngx_svc_request_t *sr, ngx_uint_t status,
    ngx_svc_json_writer_t *w, ngx_str_t *location)
{
    ngx_table_elt_t  *h;

    if (w->failed) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (location) {
        h = ngx_list_push(&sr->request->headers_out.headers);
        if (h == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        ngx_memzero(h, sizeof(ngx_table_elt_t));

        h->hash = 1;
        ngx_str_set(&h->key, "Location");
        h->value = *location;

        sr->request->headers_out.location = h;
    }

    return ngx_svc_send_body(sr, status, w->start, w->last);
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

    return ngx_svc_send_body(sr, row->status, body.data,
                             body.data + body.len);
}


static ngx_int_t
ngx_svc_send_body(ngx_svc_request_t *sr, ngx_uint_t status, u_char *start,
    u_char *last)
{
    ngx_int_t            rc;
    ngx_buf_t           *b;
    ngx_chain_t          out;
    ngx_http_request_t  *r;

    r = sr->request;

    sr->answered = 1;

    r->headers_out.status = status;
    r->headers_out.content_length_n = last - start;
    r->headers_out.content_type = sr->surface->content_type;
    r->headers_out.content_type_len = sr->surface->content_type.len;
    r->headers_out.content_type_lowcase = NULL;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
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
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->hash = 1;
    h->key.data = (u_char *) name;
    h->key.len = ngx_strlen(name);
    h->value = *value;

    return NGX_OK;
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
