/*
 * A client's own token at /oauth/userinfo: it has no user.
 */

#ifndef _NGX_SVC_OAUTH_USERINFO_CLIENT_H_INCLUDED_
#define _NGX_SVC_OAUTH_USERINFO_CLIENT_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * Adds the call that tells why o->token, whose own is not NULL, is refused.  No
 * proof is spent for that.  Call it in a prepare, behind the call that sets the
 * tenant.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_userinfo_client(ngx_svc_oauth_t *o);


#endif /* _NGX_SVC_OAUTH_USERINFO_CLIENT_H_INCLUDED_ */
