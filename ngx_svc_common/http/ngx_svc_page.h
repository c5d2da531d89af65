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

/* The same into sr->data. */
NGX_SVC_API ngx_int_t ngx_svc_page_create(ngx_svc_request_t *sr);

/* "total", "limit" and "offset"; total: the first column of a result. */
NGX_SVC_API void ngx_svc_page_write(ngx_svc_json_writer_t *w,
    PGresult *total, ngx_svc_page_t *page);


#endif /* _NGX_SVC_PAGE_H_INCLUDED_ */
