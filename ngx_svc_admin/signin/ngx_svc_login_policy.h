/*
 * From where, and when, a tenant takes proofs and gives codes: its blocks of
 * addresses, and its access policy.
 */

#ifndef _NGX_SVC_LOGIN_POLICY_H_INCLUDED_
#define _NGX_SVC_LOGIN_POLICY_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_access_eval.h"


/*
 * What the access policy says of a request: res has its columns _tenant,
 * _version and _policy.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_login_policy(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_access_action_e *action);


#endif /* _NGX_SVC_LOGIN_POLICY_H_INCLUDED_ */
