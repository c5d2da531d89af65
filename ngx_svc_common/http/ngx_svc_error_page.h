/*
 * An error as a page: for who is sent to a route by a link, and would be shown
 * JSON.
 */

#ifndef _NGX_SVC_ERROR_PAGE_H_INCLUDED_
#define _NGX_SVC_ERROR_PAGE_H_INCLUDED_


#include "ngx_svc_request.h"


extern const ngx_str_t  ngx_svc_error_page_type;


/* 1: the route is such a one, and "Accept" has HTML, and no JSON before. */
ngx_uint_t ngx_svc_error_page_wanted(ngx_svc_request_t *sr);

/* The page, and headers that go with it.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_error_page(ngx_svc_request_t *sr,
    const ngx_svc_error_row_t *row, const ngx_str_t *detail, ngx_str_t *body);


#endif /* _NGX_SVC_ERROR_PAGE_H_INCLUDED_ */
