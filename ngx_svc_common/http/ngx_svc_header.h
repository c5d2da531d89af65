/*
 * Headers of requests and of answers.
 */

#ifndef _NGX_SVC_HEADER_H_INCLUDED_
#define _NGX_SVC_HEADER_H_INCLUDED_


#include "ngx_svc_request.h"


/* Adds a header; NULL when memory runs out. */
ngx_table_elt_t *ngx_svc_header_push(ngx_http_request_t *r, const char *name,
    ngx_str_t *value);

/*
 * The same: NGX_OK or NGX_ERROR.  value's bytes must live as long as the
 * request.
 */
NGX_SVC_API ngx_int_t ngx_svc_add_header(ngx_http_request_t *r,
    const char *name, ngx_str_t *value);

/*
 * A header of the request, the first of that name, or the next one behind
 * another of that name; or NULL.
 */
NGX_SVC_API ngx_table_elt_t *ngx_svc_header_in(ngx_http_request_t *r,
    const char *name, size_t len, ngx_table_elt_t *behind);

/* The id of the request as in $request_id; empty when there is none. */
NGX_SVC_API ngx_str_t ngx_svc_request_id(ngx_http_request_t *r);


#endif /* _NGX_SVC_HEADER_H_INCLUDED_ */
