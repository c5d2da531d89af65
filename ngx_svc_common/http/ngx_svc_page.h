/*
 * Pages of lists.
 */

#ifndef _NGX_SVC_PAGE_H_INCLUDED_
#define _NGX_SVC_PAGE_H_INCLUDED_


#include "ngx_svc_request.h"


#define NGX_SVC_PAGE_LIMIT_MAX  500
#define NGX_SVC_PAGE_QUERY      200     /* characters of "q" */


typedef struct {
    int32_t  limit;
    int32_t  offset;
} ngx_svc_page_t;


/*
 * Reads the limit and the offset of a list from the query.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set; or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_page(ngx_svc_request_t *sr,
    ngx_svc_page_t *page);

/* Does the same, with a new ngx_svc_page_t in sr->data. */
NGX_SVC_API ngx_int_t ngx_svc_page_create(ngx_svc_request_t *sr);

/*
 * Writes "total", "limit" and "offset".  The total is the first column of the
 * result's first row.
 */
NGX_SVC_API void ngx_svc_page_write(ngx_svc_json_writer_t *w,
    PGresult *total, ngx_svc_page_t *page);


#endif /* _NGX_SVC_PAGE_H_INCLUDED_ */
