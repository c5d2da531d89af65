/*
 * The values of governance as parameters, and the lock that its changes stand
 * in line for.
 */

#include "ngx_svc_admin_governance.h"


const ngx_svc_pg_statement_t  ngx_svc_admin_governance_statements[] = {

    { "admin_governance_lock",
      "SELECT revision FROM svc.governance"
      " WHERE tenant_id = " NGX_SVC_TENANT " FOR NO KEY UPDATE", 0 },

    { NULL, NULL, 0 }
};

#define NGX_SVC_ADMIN_GOVERNANCE_LOCK  (&ngx_svc_admin_governance_statements[0])


ngx_int_t
ngx_svc_admin_bind_field(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    ngx_uint_t type, ngx_svc_value_t *value)
{
    if (!value->set || value->null) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    if (type == NGX_SVC_T_BOOLEAN) {
        ngx_svc_pg_bind_bool(call, (ngx_uint_t) value->integer);
        return NGX_OK;
    }

    return ngx_svc_pg_bind_int(sr->op, call, (int32_t) value->integer);
}


ngx_int_t
ngx_svc_admin_governance_lock(ngx_svc_request_t *sr)
{
    return ngx_svc_pg_call(sr->op, NGX_SVC_ADMIN_GOVERNANCE_LOCK)
           ? NGX_OK : NGX_ERROR;
}
