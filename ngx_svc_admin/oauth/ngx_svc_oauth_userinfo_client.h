/*
 * A client's own token at /oauth/userinfo: it has no user.
 */

#ifndef _NGX_SVC_OAUTH_USERINFO_CLIENT_H_INCLUDED_
#define _NGX_SVC_OAUTH_USERINFO_CLIENT_H_INCLUDED_


#include "ngx_svc_oauth.h"


/*
 * For a prepare, of o->token, of which own is not NULL: adds what tells why it
 * is refused, behind what sets the tenant.  No proof is spent for that.  NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_userinfo_client(ngx_svc_oauth_t *o);


#endif /* _NGX_SVC_OAUTH_USERINFO_CLIENT_H_INCLUDED_ */
