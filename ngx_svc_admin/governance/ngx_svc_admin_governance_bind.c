/*
 * The values of governance as parameters.
 */

#include "ngx_svc_admin_governance.h"


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
