/*
 * A task of worker 0: deletes sessions, challenges and other rows of sign-ins
 * that are over.
 */

#include "ngx_svc_signin_expire.h"
#include "ngx_svc_setting.h"


static ngx_int_t ngx_svc_signin_expire_bind(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call);


#include "ngx_svc_signin_expire.sql.h"


ngx_svc_pg_task_t  ngx_svc_signin_expire = {
    .statement = &ngx_svc_sql_signin_expire,
    .bind = ngx_svc_signin_expire_bind,
    .pool = NGX_SVC_PG_WRITE,
    .period = 60000,
    .pause = 1000,
    .full = 1000,
    .failed = "sign-ins and sessions that are over cannot be deleted"
};


static ngx_int_t
ngx_svc_signin_expire_bind(ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call)
{
    return ngx_svc_pg_bind_int(op, call,
                          ngx_svc_setting(NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW));
}
