/*
 * An error as a page, for browsers that follow a link to a route: they would
 * show JSON.
 */

#ifndef _NGX_SVC_ERROR_PAGE_H_INCLUDED_
#define _NGX_SVC_ERROR_PAGE_H_INCLUDED_


#include "ngx_svc_request.h"


extern const ngx_str_t  ngx_svc_error_page_type;


/*
 * Returns 1 if the route has NGX_SVC_ROUTE_PAGE, and Accept has HTML, with no
 * JSON before it.
 */
ngx_uint_t ngx_svc_error_page_wanted(ngx_svc_request_t *sr);

/* Makes the page, and adds its headers.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_error_page(ngx_svc_request_t *sr,
    const ngx_svc_error_row_t *row, const ngx_str_t *detail, ngx_str_t *body);


#endif /* _NGX_SVC_ERROR_PAGE_H_INCLUDED_ */
