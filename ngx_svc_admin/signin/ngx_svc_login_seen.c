/*
 * What is kept of a sign-in for the risk of the next one.
 */

#include "ngx_svc_login_seen.h"
#include "ngx_svc_notice.h"


static ngx_int_t ngx_svc_login_bind_device(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_login_seen.sql.h"


const ngx_svc_pg_statement_t *
ngx_svc_login_notice(ngx_svc_request_t *sr)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    return smcf->mail ? &ngx_svc_sql_signin_notice
                      : &ngx_svc_sql_signin_unnoticed;
}


static ngx_int_t
ngx_svc_login_bind_device(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_pg_bind(call, login->asked.device_hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_bind_trusted(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_pg_bind_bool(call, login->written.factor);

    return NGX_OK;
}
