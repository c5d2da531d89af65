/*
 * /oauth/userinfo: what nginx refuses before it comes there.
 */

#ifndef _NGX_SVC_OAUTH_USERINFO_H_INCLUDED_
#define _NGX_SVC_OAUTH_USERINFO_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * Of a request that nginx refuses, once its route is known: a nonce; and of a
 * 400, two Authorization headers are no token that is good.  NGX_OK, with
 * sr->error if it is that; NGX_DECLINED: it is another route; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_userinfo_rejected(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_OAUTH_USERINFO_H_INCLUDED_ */
