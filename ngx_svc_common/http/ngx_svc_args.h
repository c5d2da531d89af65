/*
 * Parameters of the path and of the query.
 */

#ifndef _NGX_SVC_ARGS_H_INCLUDED_
#define _NGX_SVC_ARGS_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Decodes the value of a query parameter.  Returns NGX_OK, with value->data
 * NULL when the parameter is absent; NGX_DECLINED with sr->error set when it is
 * there twice; or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_argument(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *value);

/*
 * Does the same for a text of at most max characters of UTF-8, without NUL.
 * Returns NGX_DECLINED with sr->error set for any other value.
 */
NGX_SVC_API ngx_int_t ngx_svc_text_argument(ngx_svc_request_t *sr,
    const char *name, ngx_uint_t max, ngx_str_t *value);

/*
 * Sets *n to the index of the parameter's value among the words, which end with
 * NULL; -1: it is absent.  Returns NGX_OK; NGX_DECLINED with sr->error set for
 * any other word; or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_word_argument(ngx_svc_request_t *sr,
    const char *name, const char *const *words, ngx_int_t *n);

/*
 * Reads a time of RFC 3339 from a query parameter.  msec: the milliseconds
 * since the epoch as text, of the request's pool; its data is NULL when the
 * parameter is absent.  Returns as ngx_svc_text_argument() does.
 */
NGX_SVC_API ngx_int_t ngx_svc_time_argument(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *msec);

/*
 * Returns the length in characters, or NGX_ERROR when PostgreSQL would not take
 * the bytes as text.
 */
NGX_SVC_API ngx_int_t ngx_svc_text_length(const ngx_str_t *text);

/*
 * Binds the UUID in sr->params[n], which must be spelled as we spell ids.
 * Returns NGX_OK; NGX_DECLINED with sr->error set to 404 with that detail; or
 * NGX_ERROR, also when call is NULL.
 */
NGX_SVC_API ngx_int_t ngx_svc_param_uuid(ngx_svc_request_t *sr, ngx_uint_t n,
    ngx_svc_pg_call_t *call, const char *detail);


#endif /* _NGX_SVC_ARGS_H_INCLUDED_ */
