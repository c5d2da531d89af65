/*
 * POST /v1/auth/signup: an account for anybody, where the tenant allows that.
 *
 * With svc_mail the account is made when the code comes back, and the answer
 * does not tell whether the address has one already.  Without it the account is
 * made at once.
 */

#include "ngx_svc_email.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_signup_user.h"


static ngx_int_t ngx_svc_signup_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signup_made(ngx_svc_account_t *account);
static ngx_int_t ngx_svc_signup_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signup_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signup_exists(ngx_svc_login_t *login,
    PGresult *res, ngx_svc_mail_t *mail);
static ngx_int_t ngx_svc_signup_now(ngx_svc_account_t *account);
static ngx_int_t ngx_svc_signup_now_write(ngx_svc_request_t *sr);
static void ngx_svc_signup_now_committed(
    const ngx_svc_pg_results_t *results);
static void ngx_svc_signup_now_signed_in(
    const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_signup_now_written(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_signup_members[] = {

    ngx_svc_signup_email,
    ngx_svc_account_proof,
    ngx_svc_account_display_name,
    ngx_svc_account_tenant,

    ngx_svc_null_member
};


#include "ngx_svc_signup_begin.sql.h"


const ngx_svc_route_t  ngx_svc_signup_begin[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/signup"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_admin_signup_members,
      .statements = { &ngx_svc_sql_signin_tenant, &ngx_svc_sql_signup_read },
      .status = NGX_HTTP_CREATED,
      .prepare = ngx_svc_signup_prepare,
      .reply = ngx_svc_signup_reply },

    ngx_svc_null_route
};


/* The proof is checked before the address is looked up. */

static ngx_int_t
ngx_svc_signup_reply(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    PGresult           *tenant, *row;
    ngx_svc_account_t  *account;

    account = sr->data;
    tenant = ngx_svc_result(sr, &ngx_svc_sql_signin_tenant);
    row = ngx_svc_result(sr, &ngx_svc_sql_signup_read);

    rc = ngx_svc_login_tenant(&account->login, tenant);

    if (rc == NGX_OK) {
        rc = ngx_svc_signup_allowed(&account->login, row);
    }

    if (rc != NGX_OK) {
        return ngx_svc_signup_refused(&account->login, rc);
    }

    return ngx_svc_account_make(account, row, ngx_svc_signup_mails(sr)
                                              ? ngx_svc_signup_made
                                              : ngx_svc_signup_now);
}


static ngx_int_t
ngx_svc_signup_made(ngx_svc_account_t *account)
{
    ngx_svc_signup_t  *signup;

    signup = account->login.sr->data;

    if (ngx_svc_signup_challenge(signup, NGX_SVC_SIGNUP_KIND) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(account->login.sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_signup_write,
                                 ngx_svc_signup_written);
}


static ngx_int_t
ngx_svc_signup_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_email_challenge_lock,
        &ngx_svc_sql_signup_open,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_signup_written(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    PGresult         *res;
    ngx_svc_mail_t    mail;
    ngx_svc_login_t  *login;

    login = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_signup_open);

    if (PQntuples(res) == 0) {
        return ngx_svc_account_failed(sr, ngx_svc_signup_disabled(sr));
    }

    rc = ngx_svc_email_challenge_mail(login, res, "/login", "#signup=",
                                      &mail);

    if (rc == NGX_OK) {
        mail.kind = NGX_SVC_MAIL_SIGNUP;
        rc = ngx_svc_signup_exists(login, res, &mail);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_email_challenge_send(login, &mail);
    }

    return rc == NGX_OK ? ngx_svc_email_challenge_accepted(login, res)
                        : ngx_svc_account_failed(sr, rc);
}


/* Tells the user who has the address already of the sign-up, without a code. */

static ngx_int_t
ngx_svc_signup_exists(ngx_svc_login_t *login, PGresult *res,
    ngx_svc_mail_t *mail)
{
    ngx_str_t  slug;

    static const ngx_str_t  none = ngx_null_string;

    if (ngx_svc_row_value(res, 0, "user_id").len == 0) {
        return NGX_OK;
    }

    slug = ngx_svc_row_value(res, 0, "slug");

    mail->kind = NGX_SVC_MAIL_EXISTS;
    ngx_str_null(&mail->code);

    return ngx_svc_base_url_page(login->sr, "/login", &slug, "", &none,
                                 &mail->link);
}


static ngx_int_t
ngx_svc_signup_now(ngx_svc_account_t *account)
{
    return ngx_svc_request_again(account->login.sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_signup_now_write,
                                 ngx_svc_signup_now_written);
}


static ngx_int_t
ngx_svc_signup_now_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_signup_user,
        NULL
    };

    return ngx_svc_account_write(sr->data, list,
                                 ngx_svc_signup_now_committed,
                                 ngx_svc_signup_now_signed_in);
}


static void
ngx_svc_signup_now_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_committed(results, &ngx_svc_sql_signup_user);
}


static void
ngx_svc_signup_now_signed_in(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_signed_in(results, &ngx_svc_sql_signup_user);
}


static ngx_int_t
ngx_svc_signup_now_written(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_signin_tenant_write);

    if (PQntuples(res) == 0) {
        return ngx_svc_account_failed(sr, ngx_svc_signup_disabled(sr));
    }

    res = ngx_svc_result(sr, &ngx_svc_sql_signup_user);

    if (PQgetisnull(res, 0, 0) && ngx_svc_signup_forced(sr)) {
        return ngx_svc_account_failed(sr, ngx_svc_login_forced(sr));
    }

    if (PQgetisnull(res, 0, 0)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_EMAIL_TAKEN,
                            "A user with this e-mail address exists already.");
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_login_end(sr->data);
}
