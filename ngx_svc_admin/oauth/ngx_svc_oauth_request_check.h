/*
 * Authorization requests: what may be wrong where the redirect URI is good.
 */

#ifndef _NGX_SVC_OAUTH_REQUEST_CHECK_H_INCLUDED_
#define _NGX_SVC_OAUTH_REQUEST_CHECK_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


/*
 * Takes the parameters of ar->oauth.form, all but the client and its redirect
 * URI, into ar.  NGX_OK, also with ar->fault and ar->error, of what is wrong
 * first; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_check(ngx_svc_oauth_request_t *ar);

#endif /* _NGX_SVC_OAUTH_REQUEST_CHECK_H_INCLUDED_ */
