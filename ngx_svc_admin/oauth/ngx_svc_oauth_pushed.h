/*
 * Authorization requests that were pushed (RFC 9126): their stored parameters.
 */

#ifndef _NGX_SVC_OAUTH_PUSHED_H_INCLUDED_
#define _NGX_SVC_OAUTH_PUSHED_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


#define NGX_SVC_OAUTH_PUSHED_SECONDS  90    /* to open the request_uri within */


/*
 * Adds to sr->op the call that finds the parameters.  Call it in a prepare, if
 * ngx_svc_oauth_request_parse() has set ar->pushed.  then() is called with the
 * parameters in ar, and returns what a reply does.  opens: the first browser
 * that opens the request_uri is bound to it; and a request that the user has
 * decided on is found although it is spent, with ar->spent set.  Returns
 * NGX_OK; NGX_DECLINED with sr->error set; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_pushed(ngx_svc_oauth_request_t *ar, ngx_uint_t opens,
    ngx_int_t (*then)(ngx_svc_oauth_request_t *ar));

/*
 * Spends the request before the client gets an error, sr->error: no code may
 * come of it later.  Call it in a reply, when the client is known.  then() is
 * called with sr->error as it is now, and with ar->slug.  Returns what goes to
 * ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_oauth_pushed_spend(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_int_t (*then)(ngx_svc_oauth_request_t *ar));

/*
 * Sends the error for a request_uri that is not good, whatever the reason.
 * Returns what ngx_svc_send() does.
 */
ngx_int_t ngx_svc_oauth_pushed_refuse(ngx_svc_oauth_request_t *ar);


#endif /* _NGX_SVC_OAUTH_PUSHED_H_INCLUDED_ */
