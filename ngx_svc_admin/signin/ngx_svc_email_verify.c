/*
 * POST /v1/auth/email/verify/start and /v1/auth/email/verify: a user verifies
 * his address by a code or a link that was mailed to it.
 */

#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_own_email.h"


#define NGX_SVC_EMAIL_VERIFY_PATH  "/account"


static ngx_int_t ngx_svc_email_verify_start_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_email_verify_start_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_verify_open(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_email_verify_start(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_verify_started(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_verify_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_email_verify_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_verify_written(ngx_svc_request_t *sr);


static const ngx_svc_own_email_kind_t  ngx_svc_email_verify_kind = {
    .kind = "verify",
    .write = ngx_svc_email_verify_write,
    .written = ngx_svc_email_verify_written
};


#include "ngx_svc_email_verify.sql.h"


const ngx_svc_route_t  ngx_svc_email_verify[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/email/verify/start"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE,
      .check = ngx_svc_email_verify_start_check,
      .statements = { &ngx_svc_sql_factor_read },
      .status = NGX_HTTP_ACCEPTED,
      .reply = ngx_svc_email_verify_start_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/email/verify"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_own_email_members,
      .body_size = sizeof(ngx_svc_own_email_body_t),
      .check = ngx_svc_email_verify_check,
      .statements = { &ngx_svc_sql_factor_read,
                      &ngx_svc_sql_own_email_try },
      .reply = ngx_svc_own_email_presented },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_email_verify_start_check(ngx_svc_request_t *sr, void *body)
{
    if (ngx_svc_own_email_create(sr)) {
        return NGX_OK;
    }

    return sr->error.kind == NGX_SVC_E_NONE ? NGX_ERROR : NGX_DECLINED;
}


static ngx_int_t
ngx_svc_email_verify_start_reply(ngx_svc_request_t *sr)
{
    ngx_int_t             rc;
    ngx_svc_own_email_t  *own;

    own = sr->data;

    rc = ngx_svc_factor_read(&own->factor, 
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return ngx_svc_login_unread(sr, rc);
    }

    own->factor.login.limit.family = NGX_SVC_LIMIT_LOGIN;

    return ngx_svc_login_limit_then(&own->factor.login,
                                    ngx_svc_email_verify_open);
}


static ngx_int_t
ngx_svc_email_verify_open(ngx_svc_login_t *login)
{
    if (ngx_svc_email_challenge_new(login, ngx_svc_email_verify_kind.kind,
                                    NGX_SVC_EMAIL_CHALLENGE_LINK)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(login->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_email_verify_start,
                                 ngx_svc_email_verify_started);
}


static ngx_int_t
ngx_svc_email_verify_start(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_email_challenge_lock,
        &ngx_svc_sql_own_email_open,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_email_verify_started(ngx_svc_request_t *sr)
{
    return ngx_svc_own_email_mail(sr,
                                  ngx_svc_result(sr,
                                                 &ngx_svc_sql_own_email_open),
                                  NGX_SVC_MAIL_VERIFY,
                                  NGX_SVC_EMAIL_VERIFY_PATH, "#verify=");
}


static ngx_int_t
ngx_svc_email_verify_check(ngx_svc_request_t *sr, void *body)
{
    return ngx_svc_own_email_take(sr, &ngx_svc_email_verify_kind, body);
}


static ngx_int_t
ngx_svc_email_verify_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_factor_check,
        &ngx_svc_sql_email_challenge_use,
        &ngx_svc_sql_email_verify_store,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_email_verify_written(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_email_verify_store);

    if (ngx_svc_own_email_done(sr, res) != NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_signin_no_store(sr) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_route_row(sr, res);
}
