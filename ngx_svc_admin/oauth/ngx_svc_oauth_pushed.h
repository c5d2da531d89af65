/*
 * Authorization requests that were pushed (RFC 9126): what is stored of them.
 */

#ifndef _NGX_SVC_OAUTH_PUSHED_H_INCLUDED_
#define _NGX_SVC_OAUTH_PUSHED_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


#define NGX_SVC_OAUTH_PUSHED_SECONDS  90        /* until it is opened */


/*
 * For a prepare, of ngx_svc_oauth_request_parse() with ar->pushed: adds what
 * finds the parameters to sr->op, and has then called with them in ar; which
 * returns what a reply does.  opens: the browser that comes first is the one
 * that it is for from now on; and one that has been decided on is found though
 * it is spent: ar->spent.  NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_pushed(ngx_svc_oauth_request_t *ar, ngx_uint_t opens,
    ngx_int_t (*then)(ngx_svc_oauth_request_t *ar));

/*
 * For a reply, once the client is known: an error leaves, sr->error.  Nothing
 * else may then come of the request.  then: called with sr->error as it is, and
 * ar->slug.  Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_oauth_pushed_spend(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_int_t (*then)(ngx_svc_oauth_request_t *ar));

/* Sends what all get whose request_uri is not good; as of ngx_svc_send(). */
ngx_int_t ngx_svc_oauth_pushed_refuse(ngx_svc_oauth_request_t *ar);


#endif /* _NGX_SVC_OAUTH_PUSHED_H_INCLUDED_ */
