/*
 * POST /v1/auth/signup/verify: makes the account for the code or the link of
 * the mail.
 */

#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_signup_user.h"


static ngx_int_t ngx_svc_signup_verify_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signup_verify_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_signup_verify_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signup_verify_tenant(ngx_svc_login_t *login,
    PGresult *res);
static ngx_int_t ngx_svc_signup_try(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signup_tried(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_signup_verify_write(ngx_svc_request_t *sr);
static void ngx_svc_signup_verify_committed(
    const ngx_svc_pg_results_t *results);
static void ngx_svc_signup_verify_signed_in(
    const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_signup_verified(ngx_svc_request_t *sr);


#include "ngx_svc_signup_verify.sql.h"


const ngx_svc_route_t  ngx_svc_signup_verify[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/signup/verify"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_email_presented_members,
      .statements = { &ngx_svc_sql_email_challenge_tenant,
                      &ngx_svc_sql_signup_allowed },
      .status = NGX_HTTP_CREATED,
      .prepare = ngx_svc_signup_verify_prepare,
      .reply = ngx_svc_signup_verify_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_signup_verify_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_login_prepare(sr, sizeof(ngx_svc_signup_t), NULL,
                                 ngx_svc_signup_verify_take);
}


static ngx_int_t
ngx_svc_signup_verify_take(ngx_svc_login_t *login)
{
    return ngx_svc_email_challenge_presented(login, NGX_SVC_SIGNUP_KIND);
}


/* A request that is denied takes no attempt, and leaves the link as it is. */

static ngx_int_t
ngx_svc_signup_verify_reply(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    PGresult         *res;
    ngx_svc_login_t  *login;

    login = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_email_challenge_tenant);

    rc = ngx_svc_signup_verify_tenant(login, res);

    if (rc == NGX_OK) {
        res = ngx_svc_result(sr, &ngx_svc_sql_signup_allowed);
        rc = ngx_svc_signup_allowed(login, res);
    }

    if (rc != NGX_OK) {
        return ngx_svc_signup_refused(login, rc);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_signup_try,
                                 ngx_svc_signup_tried);
}


static ngx_int_t
ngx_svc_signup_verify_tenant(ngx_svc_login_t *login, PGresult *res)
{
    ngx_int_t  rc;

    if (PQntuples(res) == 0) {
        return ngx_svc_email_challenge_over(login->sr);
    }

    rc = ngx_svc_login_tenant(login, res);

    if (rc == NGX_OK) {
        rc = ngx_svc_login_copy(login, &login->asked.slug,
                                ngx_svc_row_value(res, 0, "slug"));
    }

    return rc;
}


static ngx_int_t
ngx_svc_signup_try(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_email_challenge_try,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_signup_tried(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_signup_presented(sr->data,
                        ngx_svc_result(sr, &ngx_svc_sql_email_challenge_try));

    if (rc != NGX_OK) {
        return ngx_svc_account_failed(sr, rc);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_signup_verify_write,
                                 ngx_svc_signup_verified);
}


static ngx_int_t
ngx_svc_signup_verify_write(ngx_svc_request_t *sr)
{
    ngx_svc_account_t  *account;

    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_email_challenge_use,
        &ngx_svc_sql_signup_user,
        NULL
    };

    account = sr->data;
    account->proved = 1;

    return ngx_svc_account_write(account, list,
                                 ngx_svc_signup_verify_committed,
                                 ngx_svc_signup_verify_signed_in);
}


static void
ngx_svc_signup_verify_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_committed(results, &ngx_svc_sql_signup_user);
}


static void
ngx_svc_signup_verify_signed_in(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_signed_in(results, &ngx_svc_sql_signup_user);
}


/* Another request may have used the code, or taken the address. */

static ngx_int_t
ngx_svc_signup_verified(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_signup_user);

    if (PQgetisnull(res, 0, 0)) {
        return ngx_svc_account_failed(sr, ngx_svc_signup_forced(sr)
                                          ? ngx_svc_login_forced(sr)
                                          : ngx_svc_email_challenge_over(sr));
    }

    return ngx_svc_login_end(sr->data);
}
