/*
 * Pages of lists.
 */

#include "ngx_svc_page.h"
#include "ngx_svc_args.h"
#include "ngx_svc_column.h"
#include "ngx_svc_send.h"


#define NGX_SVC_PAGE_LIMIT      100
#define NGX_SVC_PAGE_LIMIT_MAX  500


static ngx_int_t ngx_svc_page_number(ngx_svc_request_t *sr,
    const char *name, int32_t min, int32_t max, int32_t *n);


/* A limit over the maximum is the maximum. */

ngx_int_t
ngx_svc_page(ngx_svc_request_t *sr, ngx_svc_page_t *page)
{
    ngx_int_t  rc;

    page->limit = NGX_SVC_PAGE_LIMIT;
    page->offset = 0;

    rc = ngx_svc_page_number(sr, "limit", 1, NGX_SVC_PAGE_LIMIT_MAX,
                             &page->limit);
    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_svc_page_number(sr, "offset", 0, NGX_MAX_INT32_VALUE,
                               &page->offset);
}


ngx_int_t
ngx_svc_page_create(ngx_svc_request_t *sr)
{
    sr->data = ngx_palloc(sr->request->pool, sizeof(ngx_svc_page_t));

    return sr->data ? ngx_svc_page(sr, sr->data) : NGX_ERROR;
}


ngx_int_t
ngx_svc_page_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    ngx_svc_page_t  *page;

    page = sr->data;

    if (call == NULL
        || ngx_svc_pg_bind_int(sr->op, call, page->limit) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_pg_bind_int(sr->op, call, page->offset);
}


ngx_int_t
ngx_svc_page_calls(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *list, const ngx_svc_pg_statement_t *total)
{
    ngx_int_t  rc;

    rc = ngx_svc_page_create(sr);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_page_bind(sr, ngx_svc_pg_call(sr->op, list)) != NGX_OK
        || ngx_svc_pg_call(sr->op, total) == NULL)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_page_number(ngx_svc_request_t *sr, const char *name,
    int32_t min, int32_t max, int32_t *n)
{
    int64_t     value;
    ngx_int_t   rc;
    ngx_str_t   text;
    ngx_uint_t  i;

    rc = ngx_svc_argument(sr, name, &text);
    if (rc != NGX_OK || text.data == NULL) {
        return rc;
    }

    value = 0;

    for (i = 0; i < text.len; i++) {

        if (text.data[i] < '0' || text.data[i] > '9') {
            break;
        }

        value = ngx_min(value * 10 + (text.data[i] - '0'), max);
    }

    if (text.len == 0 || i < text.len || value < min) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "\"%s\" must be an integer of at least %d.",
                            name, (int) min);
    }

    *n = (int32_t) value;

    return NGX_OK;
}


ngx_int_t
ngx_svc_page_send(ngx_svc_request_t *sr, const char *key, size_t size,
    PGresult *list, PGresult *total, ngx_svc_row_pt write)
{
    int                     i, n;
    ngx_svc_json_writer_t   w;

    n = PQntuples(list);

    if (PQntuples(total) == 0
        || ngx_svc_json_writer_init(&w, sr->request->pool, 256 + n * size)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, key, '[');

    for (i = 0; i < n; i++) {
        write(&w, list, i);
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_page_write(&w, total, sr->data);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


void
ngx_svc_page_write(ngx_svc_json_writer_t *w, PGresult *total,
    ngx_svc_page_t *page)
{
    ngx_svc_column_raw(w, "total", total, 0, 0);
    ngx_svc_json_integer(w, "limit", page->limit);
    ngx_svc_json_integer(w, "offset", page->offset);
}
