/*
 * A tenant's public data, from rows to answers.
 */

#include "ngx_svc_admin_public_answer.h"
#include "ngx_svc_admin_public.row.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_row.h"


ngx_int_t
ngx_svc_admin_json_answer(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer)
{
    ngx_svc_row_t          columns;
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_row_init(&columns, res);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_row_write(&w, &columns, 0);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_admin_written_answer(sr, &w, answer);
}


ngx_int_t
ngx_svc_admin_written_answer(ngx_svc_request_t *sr,
    const ngx_svc_json_writer_t *w, ngx_svc_cache_answer_t *answer)
{
    if (w->failed) {
        return NGX_ERROR;
    }

    answer->found = 1;
    answer->content_type = sr->surface->content_type;
    answer->body.data = w->start;
    answer->body.len = w->last - w->start;

    return ngx_svc_etag_digest(sr, &answer->body, &answer->etag);
}


ngx_int_t
ngx_svc_admin_logo_answer(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_cache_answer_t *answer)
{
    u_char                     *p;
    ngx_svc_row_public_logo_t   row;

    ngx_svc_row_public_logo(&row, res, 0);

    if (row.data.data == NULL) {
        return NGX_OK;
    }

    answer->body.len = row.data.len / 2;
    answer->body.data = ngx_pnalloc(sr->request->pool, answer->body.len);
    p = ngx_pnalloc(sr->request->pool, row.etag.len + 2 + row.type.len);

    if (p == NULL || answer->body.data == NULL
        || ngx_svc_hex_bytea(&row.data, answer->body.data, &answer->body.len)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    answer->found = 1;
    answer->etag.data = p;
    answer->etag.len = row.etag.len + 2;
    answer->content_type.data = ngx_sprintf(p, "\"%V\"", &row.etag);
    answer->content_type.len = row.type.len;

    ngx_memcpy(answer->content_type.data, row.type.data, row.type.len);

    return NGX_OK;
}


ngx_int_t
ngx_svc_admin_public_keep(ngx_svc_admin_reader_t *reader,
    ngx_svc_admin_answer_pt handler, ngx_svc_cache_answer_t *answer)
{
    PGresult   *res;
    ngx_str_t   tenant;

    ngx_memzero(answer, sizeof(ngx_svc_cache_answer_t));
    ngx_str_null(&tenant);

    res = ngx_svc_route_final(reader->sr);

    if (PQntuples(res)) {
        if (handler(reader->sr, res, answer) != NGX_OK) {
            return NGX_ERROR;
        }

        tenant = ngx_svc_row_value(res, 0, "_tenant");
    }

    ngx_svc_cache_put(reader->kind, &reader->key, &tenant, answer,
                      reader->ticket);
    ngx_svc_admin_reader_end(reader);

    return NGX_OK;
}
