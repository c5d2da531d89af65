/*
 * What the access policy of a tenant says of a request.
 */

#include "ngx_svc_login_policy.h"
#include "ngx_svc_access_cache.h"
#include "ngx_svc_access_caller.h"


/* A policy that cannot be read any more denies; this is logged. */

ngx_int_t
ngx_svc_login_policy(ngx_svc_request_t *sr, const ngx_str_t *tenant,
    int64_t version, ngx_str_t json, ngx_svc_access_action_e *action)
{
    ngx_svc_access_caller_t         caller;
    const ngx_svc_access_policy_t  *policy;

    policy = ngx_svc_access_cached(ngx_svc_zones(), tenant, version, &json,
                                   sr->request->connection->log);

    if (ngx_svc_access_caller(sr, &caller) != NGX_OK) {
        return NGX_ERROR;
    }

    *action = policy ? ngx_svc_access_evaluate(policy, &caller.addr,
                                               caller.country,
                                               caller.now).action
                     : NGX_SVC_ACCESS_DENY;

    return NGX_OK;
}
