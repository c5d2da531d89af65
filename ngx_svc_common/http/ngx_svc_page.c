/*
 * Pages of lists.
 */

#include "ngx_svc_page.h"
#include "ngx_svc_args.h"
#include "ngx_svc_column.h"


#define NGX_SVC_PAGE_LIMIT  100


static ngx_int_t ngx_svc_page_number(ngx_svc_request_t *sr,
    const char *name, int32_t min, int32_t max, int32_t *n);


/* A limit over the maximum is lowered to it. */

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


void
ngx_svc_page_write(ngx_svc_json_writer_t *w, PGresult *total,
    ngx_svc_page_t *page)
{
    ngx_svc_column_raw(w, "total", total, 0, 0);
    ngx_svc_json_integer(w, "limit", page->limit);
    ngx_svc_json_integer(w, "offset", page->offset);
}
