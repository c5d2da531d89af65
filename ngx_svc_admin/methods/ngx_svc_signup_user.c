/*
 * Sign-up of a user: what the routes that begin it and that end it share.
 */

#include "ngx_svc_signup_user.h"
#include "ngx_svc_login_read.h"


static ngx_int_t ngx_svc_signup_bind_verified(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_signup_user.sql.h"


static ngx_int_t
ngx_svc_signup_bind_verified(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_pg_bind_bool(call, login->mailed.id.data != NULL);

    return NGX_OK;
}


ngx_int_t
ngx_svc_signup_allowed(ngx_svc_login_t *login, PGresult *res)
{
    ngx_int_t  rc;

    if (PQntuples(res) == 0 || !ngx_svc_row_true(res, 0, "allowed")) {
        return ngx_svc_signup_disabled(login->sr);
    }

    rc = ngx_svc_login_denied(login, res);

    if (rc == NGX_OK) {
        ngx_svc_account_stage(login);
    }

    return rc;
}


ngx_int_t
ngx_svc_signup_refused(ngx_svc_login_t *login, ngx_int_t rc)
{
    return rc == NGX_DECLINED ? ngx_svc_login_declined(login)
                              : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


ngx_uint_t
ngx_svc_signup_forced(ngx_svc_request_t *sr)
{
    ngx_svc_row_signup_user_t  row;

    ngx_svc_row_signup_user(&row, ngx_svc_result(sr, &ngx_svc_sql_signup_user),
                            0);
    return row.forced;
}


ngx_int_t
ngx_svc_signup_disabled(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_SIGNUP_DISABLED,
                        "There is no sign-up here: ask for an invitation.");
}
