/*
 * How a sign-in is refused.
 */

#ifndef _NGX_SVC_LOGIN_REFUSED_H_INCLUDED_
#define _NGX_SVC_LOGIN_REFUSED_H_INCLUDED_


#include "ngx_svc_login.h"


#define NGX_SVC_LOGIN_FORCED                                                  \
    "Addresses of this domain sign in by the identity provider of the"        \
    " organization."


/*
 * For a reply: sends sr->error.  Where a password was compared it is sent when
 * login->password.floor, or else the "floor" of svc_password_hash, or a whole
 * multiple of it, has passed.
 */
ngx_int_t ngx_svc_login_refused(ngx_svc_login_t *login);

/*
 * For a reply: answers a row of :login_checked that does not say "go", and for
 * how many seconds the user is locked, if at all.
 */
ngx_int_t ngx_svc_login_lost(ngx_svc_request_t *sr, ngx_int_t seconds);

/*
 * Sets the method's one error, whatever is wrong with the proof.  Returns
 * NGX_DECLINED.
 */
ngx_int_t ngx_svc_login_wrong(ngx_svc_request_t *sr);

/* Sets 403 access_denied.  Returns NGX_DECLINED. */
ngx_int_t ngx_svc_login_barred(ngx_svc_request_t *sr);

/*
 * Sets 403 sso_required: the people of the address's domain come in by one
 * connection alone.  Returns NGX_DECLINED.
 */
ngx_int_t ngx_svc_login_forced(ngx_svc_request_t *sr);

/* Sets 429 account_locked.  Returns NGX_DECLINED. */
ngx_int_t ngx_svc_login_locked(ngx_svc_request_t *sr, ngx_uint_t seconds);


#endif /* _NGX_SVC_LOGIN_REFUSED_H_INCLUDED_ */
