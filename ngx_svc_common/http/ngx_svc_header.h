/*
 * Headers of requests and of answers.
 */

#ifndef _NGX_SVC_HEADER_H_INCLUDED_
#define _NGX_SVC_HEADER_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Adds a header to the answer.  The bytes of value must live as long as the
 * request.  Returns NULL when memory runs out.
 */
ngx_table_elt_t *ngx_svc_header_push(ngx_http_request_t *r, const char *name,
    ngx_str_t *value);

/* Does the same, and returns NGX_OK or NGX_ERROR. */
NGX_SVC_API ngx_int_t ngx_svc_add_header(ngx_http_request_t *r,
    const char *name, ngx_str_t *value);

/*
 * Finds the first header of the request with that name, or the next one after
 * "behind", which has the same name.  Returns NULL when there is none.
 */
NGX_SVC_API ngx_table_elt_t *ngx_svc_header_in(ngx_http_request_t *r,
    const char *name, size_t len, ngx_table_elt_t *behind);

/* Returns the id of the request, as $request_id has it; empty: none. */
NGX_SVC_API ngx_str_t ngx_svc_request_id(ngx_http_request_t *r);


#endif /* _NGX_SVC_HEADER_H_INCLUDED_ */
