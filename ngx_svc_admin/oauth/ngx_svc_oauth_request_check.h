/*
 * Authorization requests: the parameters whose errors go to the redirect URI.
 */

#ifndef _NGX_SVC_OAUTH_REQUEST_CHECK_H_INCLUDED_
#define _NGX_SVC_OAUTH_REQUEST_CHECK_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


/*
 * Takes the parameters of ar->oauth.form, except the client and its redirect
 * URI, into ar.  If something is wrong, ar->fault and ar->error tell the first
 * thing.  Returns NGX_OK, also with a fault; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_check(ngx_svc_oauth_request_t *ar);

#endif /* _NGX_SVC_OAUTH_REQUEST_CHECK_H_INCLUDED_ */
