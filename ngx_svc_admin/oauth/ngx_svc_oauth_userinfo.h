/*
 * /oauth/userinfo: requests that nginx refuses before the route sees them.
 */

#ifndef _NGX_SVC_OAUTH_USERINFO_H_INCLUDED_
#define _NGX_SVC_OAUTH_USERINFO_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * Completes the answer to a request that nginx refuses, when its route is
 * known: adds the headers that every answer has, a nonce among them.  If nginx
 * answers 400 because of two Authorization headers, the answer is that the
 * token is not good.  Returns NGX_OK, with sr->error set in that case;
 * NGX_DECLINED: it is another route; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_userinfo_rejected(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_OAUTH_USERINFO_H_INCLUDED_ */
