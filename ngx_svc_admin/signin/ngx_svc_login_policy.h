/*
 * From where, and when, a tenant lets people show a proof, and lets a code be
 * given: its blocks of addresses, and its access policy.
 */

#ifndef _NGX_SVC_LOGIN_POLICY_H_INCLUDED_
#define _NGX_SVC_LOGIN_POLICY_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_access_eval.h"


/* SQL: a condition: the address, a parameter, is blocked. */

#define NGX_SVC_LOGIN_BLOCKED_FROM(tenant, ip)                                \
    "EXISTS (SELECT FROM svc.ip_block b"                                      \
        " WHERE b.tenant_id = " tenant " AND b.ip = " ip "::text::inet"       \
        " AND coalesce(b.expires_at > now(), true))"

#define NGX_SVC_LOGIN_BLOCK(tenant, ip)                                       \
    NGX_SVC_LOGIN_BLOCKED_FROM(tenant, ip) " AS blocked"

/*
 * SQL: of svc.governance g, the columns that ngx_svc_login_policy() takes
 * beside the tenant's.
 */

#define NGX_SVC_LOGIN_POLICY_COLUMNS                                          \
    "g.access_policy AS _policy, g.access_number AS _version"


/*
 * What the access policy says of a request: res has its columns _tenant,
 * _version and _policy.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_login_policy(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_access_action_e *action);


#endif /* _NGX_SVC_LOGIN_POLICY_H_INCLUDED_ */
