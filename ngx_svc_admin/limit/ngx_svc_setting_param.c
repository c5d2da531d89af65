/*
 * A setting of the operator as a parameter of a statement.
 */

#include "ngx_svc_setting_param.h"


ngx_int_t
ngx_svc_setting_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    return ngx_svc_pg_bind_int(sr->op, call, ngx_svc_setting(param->n));
}
