/*
 * Pages of lists.
 */

#ifndef _NGX_SVC_PAGE_H_INCLUDED_
#define _NGX_SVC_PAGE_H_INCLUDED_


#include "ngx_svc_request.h"


typedef struct {
    int32_t  limit;
    int32_t  offset;
} ngx_svc_page_t;


/*
 * The limit and offset of a list, from the query.  NGX_OK; NGX_DECLINED with
 * sr->error; NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_page(ngx_svc_request_t *sr,
    ngx_svc_page_t *page);

/* The same into sr->data; and its limit and offset as the next parameters. */
NGX_SVC_API ngx_int_t ngx_svc_page_create(ngx_svc_request_t *sr);
NGX_SVC_API ngx_int_t ngx_svc_page_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call);

/* All that the prepare of a list does whose statements take no more. */
NGX_SVC_API ngx_int_t ngx_svc_page_calls(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *list, const ngx_svc_pg_statement_t *total);

/*
 * The reply of a list: an array of what is written of each row under the key,
 * and the page.  size: of a row, first guess, in bytes.  total: may be the
 * list.
 */

typedef void (*ngx_svc_row_pt)(ngx_svc_json_writer_t *w, PGresult *res,
    int row);

NGX_SVC_API ngx_int_t ngx_svc_page_send(ngx_svc_request_t *sr,
    const char *key, size_t size, PGresult *list, PGresult *total,
    ngx_svc_row_pt write);

/* "total", "limit" and "offset"; total: the first column of a result. */
NGX_SVC_API void ngx_svc_page_write(ngx_svc_json_writer_t *w,
    PGresult *total, ngx_svc_page_t *page);


#endif /* _NGX_SVC_PAGE_H_INCLUDED_ */
