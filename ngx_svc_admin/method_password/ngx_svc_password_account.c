/*
 * Accounts that begin with a password, which its user sets.
 */

#include "ngx_svc_new_password.h"
#include "ngx_svc_password_method.h"
#include "ngx_svc_password_text.h"


static ngx_int_t ngx_svc_password_account_take(ngx_svc_account_t *account,
    const ngx_svc_value_t *proof);
static ngx_int_t ngx_svc_password_account_make(ngx_svc_account_t *account,
    PGresult *res);
static void ngx_svc_password_account_hashed(ngx_svc_password_job_t *job);


#include "ngx_svc_password_account.sql.h"


const ngx_svc_account_method_t  ngx_svc_password_account = {
    .member = { .name = ngx_string("password"),
                .type = NGX_SVC_T_STRING,
                .flags = NGX_SVC_M_REQUIRED,
                .min = 1,
                .max = NGX_SVC_PASSWORD_LEN },
    .take = ngx_svc_password_account_take,
    .make = ngx_svc_password_account_make,
    .store = &ngx_svc_sql_account_password
};


static ngx_int_t
ngx_svc_password_account_take(ngx_svc_account_t *account,
    const ngx_svc_value_t *proof)
{
    return ngx_svc_new_password_text(account->login.sr, "password",
                                     &proof->str,
                                     &account->login.password.text);
}


static ngx_int_t
ngx_svc_password_account_make(ngx_svc_account_t *account, PGresult *res)
{
    ngx_svc_login_t         *login;
    ngx_svc_password_job_t  *job;

    login = &account->login;

    job = ngx_svc_new_password_job(login->sr, &login->password.text,
                                   &login->row, res);
    if (job == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_signin_post(login->sr, job, ngx_svc_password_account_hashed,
                               account);
}


static void
ngx_svc_password_account_hashed(ngx_svc_password_job_t *job)
{
    ngx_int_t           rc;
    ngx_svc_account_t  *account;

    account = job->data;

    rc = ngx_svc_new_password_result(account->login.sr, job,
                                     &account->login.row, &account->stored);

    ngx_svc_account_made(account, rc);
}
