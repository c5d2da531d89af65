/*
 * How a sign-in ends.
 */

#ifndef _NGX_SVC_LOGIN_OUTCOME_H_INCLUDED_
#define _NGX_SVC_LOGIN_OUTCOME_H_INCLUDED_


#include "ngx_svc_login.h"


/*
 * For a reply whose proof is right: begins the session at login->stage, and
 * answers.  When the risk is too high the sign-in fails instead.
 */
ngx_int_t ngx_svc_login_succeed(ngx_svc_login_t *login);

/* Does the same with functions that make the user's account, too. */
ngx_int_t ngx_svc_login_succeed_by(ngx_svc_login_t *login,
    ngx_int_t (*write)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));

/*
 * For a reply, when a sign-in has failed or is refused, and its tenant is
 * known: writes login->reason, which may lock the account, and answers.
 */
ngx_int_t ngx_svc_login_fail(ngx_svc_login_t *login);


#endif /* _NGX_SVC_LOGIN_OUTCOME_H_INCLUDED_ */
