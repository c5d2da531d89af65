/*
 * Answers.
 */

#ifndef _NGX_SVC_SEND_H_INCLUDED_
#define _NGX_SVC_SEND_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * The one way out.  Each sends the whole answer and returns what
 * ngx_http_finalize_request() takes.  status: HTTP; location: the value of a
 * Location header, or NULL.
 */
NGX_SVC_API ngx_int_t ngx_svc_send(ngx_svc_request_t *sr, ngx_uint_t status,
    ngx_svc_json_writer_t *w, ngx_str_t *location);
NGX_SVC_API ngx_int_t ngx_svc_send_empty(ngx_svc_request_t *sr,
    ngx_uint_t status);
NGX_SVC_API ngx_int_t ngx_svc_send_error(ngx_svc_request_t *sr);

/*
 * For a reply: the error of a constraint that a statement would have violated,
 * and has named in its verdict.
 */
NGX_SVC_API ngx_int_t ngx_svc_send_conflict(ngx_svc_request_t *sr,
    const char *name);

/*
 * The ETag of an answer that is about to be sent, with its quotes; lives as
 * long as the request.  A GET that names it in If-None-Match gets 304.
 */
NGX_SVC_API ngx_int_t ngx_svc_send_etag(ngx_svc_request_t *sr,
    ngx_str_t *value);

/* Bytes of some type; they live until the request is gone. */
NGX_SVC_API ngx_int_t ngx_svc_send_bytes(ngx_svc_request_t *sr,
    const ngx_str_t *content_type, ngx_str_t *bytes);

/*
 * Sets sr->error for a constraint of the surface.  NGX_DECLINED: it does not
 * know the name.
 */
ngx_int_t ngx_svc_constraint(ngx_svc_request_t *sr, const char *name);

/*
 * 503: the database does not answer, and detail says what that means; too many
 * wait for it.
 */
ngx_int_t ngx_svc_send_unavailable(ngx_svc_request_t *sr, const char *detail);
NGX_SVC_API ngx_int_t ngx_svc_send_busy(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_send_body(ngx_svc_request_t *sr, ngx_uint_t status,
    const ngx_str_t *type, u_char *start, u_char *last);


#endif /* _NGX_SVC_SEND_H_INCLUDED_ */
