/*
 * From where, and when, a tenant takes proofs and gives codes: its blocks of
 * addresses, and its access policy.
 */

#ifndef _NGX_SVC_LOGIN_POLICY_H_INCLUDED_
#define _NGX_SVC_LOGIN_POLICY_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_access_eval.h"


/*
 * What the access policy of that tenant, with its version, says of a request.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_login_policy(ngx_svc_request_t *sr, const ngx_str_t *tenant,
    int64_t version, ngx_str_t json, ngx_svc_access_action_e *action);


#endif /* _NGX_SVC_LOGIN_POLICY_H_INCLUDED_ */
