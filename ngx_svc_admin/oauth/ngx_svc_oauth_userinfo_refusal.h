/*
 * How /oauth/userinfo refuses a token: the challenges (RFC 6750, 3, and
 * RFC 9449, 7.1).
 */

#ifndef _NGX_SVC_OAUTH_USERINFO_REFUSAL_H_INCLUDED_
#define _NGX_SVC_OAUTH_USERINFO_REFUSAL_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * Sets sr->error and the challenge of a token that is refused.  Returns
 * NGX_DECLINED or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_userinfo_refuse(ngx_svc_request_t *sr);

/*
 * Turns sr->error, which says what is wrong with a proof, into an error of this
 * endpoint, and sets the challenge.
 */
void ngx_svc_oauth_userinfo_unproven(ngx_svc_request_t *sr);

/*
 * Answers that a good token lacks the scope "openid".  A reply returns what
 * this returns.
 */
ngx_int_t ngx_svc_oauth_userinfo_scope(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_OAUTH_USERINFO_REFUSAL_H_INCLUDED_ */
