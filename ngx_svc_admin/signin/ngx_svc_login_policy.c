/*
 * What the access policy of a tenant says of a request.
 */

#include "ngx_svc_login_policy.h"
#include "ngx_svc_access_cache.h"
#include "ngx_svc_access_caller.h"


/* A policy that cannot be read any more denies; this is logged. */

ngx_int_t
ngx_svc_login_policy(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_access_action_e *action)
{
    ngx_str_t                       tenant, number, json;
    ngx_svc_access_caller_t         caller;
    const ngx_svc_access_policy_t  *policy;

    tenant = ngx_svc_row_value(res, 0, "_tenant");
    number = ngx_svc_row_value(res, 0, "_version");
    json = ngx_svc_row_value(res, 0, "_policy");

    policy = ngx_svc_access_cached(ngx_svc_zones(), &tenant,
                                   ngx_atoof(number.data, number.len), &json,
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
