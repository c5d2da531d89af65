/*
 * Outbound SCIM: writes the bodies of requests.
 */

#ifndef _NGX_SVC_PUSH_WRITE_H_INCLUDED_
#define _NGX_SVC_PUSH_WRITE_H_INCLUDED_


#include "ngx_svc_push_read.h"

#include "ngx_svc_json_write.h"


/*
 * The functions that return ngx_int_t return NGX_OK, or NGX_ERROR: no memory;
 * the body is in the pool.
 */

/* Writes the resource of an active user (RFC 7643, 4.1 and 4.3). */
ngx_int_t ngx_svc_push_write_user(ngx_pool_t *pool,
    const ngx_svc_push_want_t *want, ngx_str_t *body);

/*
 * Writes the resource that is there with what is wanted in it; everything else
 * stays as it is.
 */
ngx_int_t ngx_svc_push_write_merged(ngx_pool_t *pool,
    const ngx_svc_push_want_t *want, const cJSON *there, ngx_str_t *body);

/* Writes one comparison of a filter. */
void ngx_svc_push_write_term(ngx_svc_json_writer_t *w, ngx_svc_push_by_e by,
    const ngx_str_t *value);

/* Writes the "or" between two comparisons. */
void ngx_svc_push_write_or(ngx_svc_json_writer_t *w);

/* Writes a filter (RFC 7644, 3.4.2.2) that finds the user. */
ngx_int_t ngx_svc_push_write_filter(ngx_pool_t *pool,
    const ngx_svc_push_want_t *want, ngx_svc_push_by_e by, ngx_str_t *filter);


#endif /* _NGX_SVC_PUSH_WRITE_H_INCLUDED_ */
