/*
 * How a sign-in ends.
 */

#include "ngx_svc_login_outcome.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_write.h"


ngx_int_t
ngx_svc_login_succeed(ngx_svc_login_t *login)
{
    return ngx_svc_login_succeed_by(login, ngx_svc_login_success,
                                    ngx_svc_login_success_reply);
}


ngx_int_t
ngx_svc_login_succeed_by(ngx_svc_login_t *login,
    ngx_int_t (*write)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr))
{
    if (login->risk.action == NGX_SVC_ACCESS_DENY) {
        login->reason = NGX_SVC_LOGIN_RISK;
        return ngx_svc_login_fail(login);
    }

    return ngx_svc_request_again(login->sr, NGX_SVC_PG_WRITE, write, reply);
}


ngx_int_t
ngx_svc_login_fail(ngx_svc_login_t *login)
{
    login->sr->error.kind = NGX_SVC_E_NONE;

    return ngx_svc_request_again(login->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_login_failure,
                                 ngx_svc_login_failure_reply);
}
