/*
 * What comes with the URI.
 */

#ifndef _NGX_SVC_ARGS_H_INCLUDED_
#define _NGX_SVC_ARGS_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * The decoded value of a query parameter.  NGX_OK, with value->data NULL when
 * it is absent; NGX_DECLINED with sr->error when it is there twice; NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_argument(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *value);

/*
 * The same for a text of at most max characters, UTF-8 and without NUL, and for
 * one of the words of a list that ends with NULL, of which *n is the index.
 * NGX_OK, with value->data NULL or *n -1 when it is absent; NGX_DECLINED with
 * sr->error; NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_text_argument(ngx_svc_request_t *sr,
    const char *name, ngx_uint_t max, ngx_str_t *value);
NGX_SVC_API ngx_int_t ngx_svc_word_argument(ngx_svc_request_t *sr,
    const char *name, const char *const *words, ngx_int_t *n);

/*
 * The same for an RFC 3339 time: msec is the milliseconds since the epoch, as a
 * text of the request's pool, without data when it is absent.
 */
NGX_SVC_API ngx_int_t ngx_svc_time_argument(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *msec);

/* In characters; NGX_ERROR: what PostgreSQL would not take as text. */
NGX_SVC_API ngx_int_t ngx_svc_text_length(const ngx_str_t *text);

/*
 * Binds the UUID in sr->params[n].  NGX_OK; NGX_DECLINED with sr->error, a 404
 * of that detail: ids are text, case-exact; NGX_ERROR, also when call is NULL.
 */
NGX_SVC_API ngx_int_t ngx_svc_param_uuid(ngx_svc_request_t *sr, ngx_uint_t n,
    ngx_svc_pg_call_t *call, const char *detail);


#endif /* _NGX_SVC_ARGS_H_INCLUDED_ */
