/*
 * Answers.
 */

#ifndef _NGX_SVC_SEND_H_INCLUDED_
#define _NGX_SVC_SEND_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * All answers but streams are sent here, each as a whole.  A function that
 * sends returns what ngx_http_finalize_request() takes.
 */

/* Sends JSON.  location: the value of a Location header, or NULL. */
NGX_SVC_API ngx_int_t ngx_svc_send(ngx_svc_request_t *sr, ngx_uint_t status,
    ngx_svc_json_writer_t *w, ngx_str_t *location);

/* Sends an answer without a body. */
NGX_SVC_API ngx_int_t ngx_svc_send_empty(ngx_svc_request_t *sr,
    ngx_uint_t status);

/* Sends 303 with that location, which no cache keeps, and no Referer tells. */
NGX_SVC_API ngx_int_t ngx_svc_send_see_other(ngx_svc_request_t *sr,
    ngx_str_t *location);

/* Sends sr->error. */
NGX_SVC_API ngx_int_t ngx_svc_send_error(ngx_svc_request_t *sr);

/*
 * Sends the error of a constraint that a statement would have violated, and has
 * named in its verdict.  For a reply.
 */
NGX_SVC_API ngx_int_t ngx_svc_send_conflict(ngx_svc_request_t *sr,
    const char *name);

/*
 * Sets the ETag of an answer that is about to be sent; value has its quotes,
 * and lives as long as the request.  A GET that names it in If-None-Match gets
 * 304.  Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_send_etag(ngx_svc_request_t *sr,
    ngx_str_t *value);

/* Sends bytes of a media type; they must live as long as the request. */
NGX_SVC_API ngx_int_t ngx_svc_send_bytes(ngx_svc_request_t *sr,
    const ngx_str_t *content_type, ngx_str_t *bytes);

/*
 * Sets sr->error for a constraint of the surface.  Returns NGX_OK, or
 * NGX_DECLINED when the surface does not know the name.
 */
ngx_int_t ngx_svc_constraint(ngx_svc_request_t *sr, const char *name);

/* Sends 503: the database does not answer; detail says what that means. */
ngx_int_t ngx_svc_send_unavailable(ngx_svc_request_t *sr, const char *detail);

/* Sends 503: too many requests wait for the database. */
NGX_SVC_API ngx_int_t ngx_svc_send_busy(ngx_svc_request_t *sr);

/* Sends a body, which must live as long as the request. */
ngx_int_t ngx_svc_send_body(ngx_svc_request_t *sr, ngx_uint_t status,
    const ngx_str_t *type, u_char *start, u_char *last);


#endif /* _NGX_SVC_SEND_H_INCLUDED_ */
