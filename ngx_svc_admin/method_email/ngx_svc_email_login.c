/*
 * /v1/auth/passwordless: signing in with a code, or a link, that comes by mail.
 *
 * The answers, the work and the rows of a start are the same whether or not the
 * address is a user's, and it waits for nothing that only a user's mail needs.
 * The first round trip of a verification takes an attempt of the challenge,
 * under its row's lock, so that there are never more than allowed, and reads
 * what a sign-in reads.
 */

#include "ngx_svc_email_challenge.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_outcome.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"


#define NGX_SVC_PASSWORDLESS_KIND    "sign_in"
#define NGX_SVC_PASSWORDLESS_PATH    "/login"


static ngx_int_t ngx_svc_email_login_start(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_login_begin(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_email_login_started(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_login_open(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_login_opened(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_login_mail(ngx_svc_login_t *login,
    PGresult *res);
static ngx_int_t ngx_svc_email_login_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_login_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_email_login_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_login_read(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_email_login_presented(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_email_login_allowed(ngx_svc_request_t *sr,
    ngx_uint_t allowed);


#include "ngx_svc_email_login.sql.h"


const ngx_svc_login_method_t  ngx_svc_email_login_method = {
    .methods = ngx_string("{email}"),
    .error = NGX_SVC_E_CODE,
    .wrong = "The code is wrong.",
    .lost = ngx_svc_email_challenge_over,
    .check = &ngx_svc_sql_passwordless_check,
    .user_done = &ngx_svc_sql_signin_user_done
};


const ngx_svc_route_t  ngx_svc_email_login[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/passwordless/start"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_login_address_members,
      .statements = { &ngx_svc_sql_signin_tenant,
                      &ngx_svc_sql_passwordless_begin },
      .status = NGX_HTTP_ACCEPTED,
      .prepare = ngx_svc_email_login_start,
      .reply = ngx_svc_email_login_started },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/passwordless/verify"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_email_presented_members,
      .statements = { &ngx_svc_sql_email_challenge_tenant,
                      &ngx_svc_sql_passwordless_user,
                      &ngx_svc_sql_passwordless_risk,
                      &ngx_svc_sql_email_challenge_try },
      .prepare = ngx_svc_email_login_prepare,
      .reply = ngx_svc_email_login_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_email_login_start(ngx_svc_request_t *sr)
{
    return ngx_svc_email_challenge_prepare(sr, sizeof(ngx_svc_login_t),
                                           &ngx_svc_email_login_method,
                                           ngx_svc_email_login_begin);
}


/* The challenge keeps the client's address, whose hits a success gives back. */

static ngx_int_t
ngx_svc_email_login_begin(ngx_svc_login_t *login)
{
    ngx_int_t  rc;

    rc = ngx_svc_login_address(login);
    if (rc != NGX_OK) {
        return rc;
    }

    login->mailed.data = login->client.ip;

    return ngx_svc_email_challenge_new(login, NGX_SVC_PASSWORDLESS_KIND,
                                       NGX_SVC_EMAIL_CHALLENGE_LINK
                                       |NGX_SVC_EMAIL_CHALLENGE_BOUND);
}


/* Nothing is written when the tenant does not exist. */

static ngx_int_t
ngx_svc_email_login_started(ngx_svc_request_t *sr)
{
    ngx_int_t                          rc;
    PGresult                          *res;
    ngx_svc_login_t                   *login;
    ngx_svc_row_passwordless_begin_t   row;

    login = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_passwordless_begin);
    ngx_svc_row_passwordless_begin(&row, res, 0);

    rc = ngx_svc_login_tenant(login,
                              ngx_svc_result(sr, &ngx_svc_sql_signin_tenant));

    if (rc == NGX_OK && !sr->tenant_known) {
        return ngx_svc_email_challenge_accepted(login, res);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_email_login_allowed(sr, row.allowed);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_login_denied(login, res);
    }

    switch (rc) {

    case NGX_OK:
        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_email_login_open,
                                     ngx_svc_email_login_opened);

    case NGX_DECLINED:
        return ngx_svc_login_declined(login);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


static ngx_int_t
ngx_svc_email_login_open(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_email_challenge_lock,
        &ngx_svc_sql_passwordless_open,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_email_login_opened(ngx_svc_request_t *sr)
{
    ngx_int_t   rc;
    PGresult   *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_passwordless_open);

    rc = PQntuples(res) ? ngx_svc_email_login_mail(sr->data, res)
                        : ngx_svc_fail(&sr->error, NGX_SVC_E_ACCESS_DENIED,
                                       "The tenant is suspended.");

    switch (rc) {

    case NGX_OK:
        return ngx_svc_email_challenge_accepted(sr->data, res);

    case NGX_DECLINED:
        return ngx_svc_send_error(sr);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


static ngx_int_t
ngx_svc_email_login_mail(ngx_svc_login_t *login, PGresult *res)
{
    ngx_svc_mail_t                  mail;
    ngx_svc_row_challenge_mailed_t  row;

    if (ngx_svc_email_challenge_mail(login, res, NGX_SVC_PASSWORDLESS_PATH,
                                     "#token=", &mail)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_row_challenge_mailed(&row, res, 0, 0);
    mail.kind = NGX_SVC_MAIL_SIGN_IN;

    if (row.user_name.len == 0) {
        mail.nobody = 1;
    }

    return ngx_svc_email_challenge_send(login, &mail);
}


static ngx_int_t
ngx_svc_email_login_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_login_prepare(sr, sizeof(ngx_svc_login_t),
                                 &ngx_svc_email_login_method,
                                 ngx_svc_email_login_take);
}


static ngx_int_t
ngx_svc_email_login_take(ngx_svc_login_t *login)
{
    return ngx_svc_email_challenge_presented(login, NGX_SVC_PASSWORDLESS_KIND);
}


/* A denied or locked sign-in is answered before the code is looked at. */

static ngx_int_t
ngx_svc_email_login_reply(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    PGresult         *res;
    ngx_svc_login_t  *login;

    login = sr->data;

    rc = ngx_svc_email_login_read(login);

    if (rc == NGX_OK) {
        res = ngx_svc_result(sr, &ngx_svc_sql_email_challenge_tenant);
        rc = ngx_svc_login_decide(login, res,
                          ngx_svc_result(sr, &ngx_svc_sql_passwordless_user));
    }

    switch (rc) {

    case NGX_OK:
        res = ngx_svc_result(sr, &ngx_svc_sql_passwordless_risk);
        ngx_svc_login_take_risk(login, res);
        return ngx_svc_email_login_presented(login);

    case NGX_DECLINED:
        return ngx_svc_login_declined(login);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


/* Takes the tenant's slug and the MAC of the address from the challenge. */

static ngx_int_t
ngx_svc_email_login_read(ngx_svc_login_t *login)
{
    size_t                            len;
    u_char                           *mac;
    ngx_svc_request_t                *sr;
    ngx_svc_row_login_tenant_t        tenant;
    ngx_svc_row_passwordless_user_t   row;

    sr = login->sr;
    ngx_svc_row_login_tenant(&tenant,
                 ngx_svc_result(sr, &ngx_svc_sql_email_challenge_tenant), 0, 0);
    ngx_svc_row_passwordless_user(&row,
                      ngx_svc_result(sr, &ngx_svc_sql_passwordless_user), 0);

    if (row.mac.len == 0) {
        return ngx_svc_email_challenge_over(sr);
    }

    len = NGX_SVC_LIMIT_MAC_LEN;
    mac = ngx_pnalloc(sr->request->pool, len);

    if (mac == NULL || ngx_svc_hex_bytea(&row.mac, mac, &len) != NGX_OK
        || ngx_svc_login_begun(login, &row.login_begun) != NGX_OK
        || ngx_svc_login_copy(login, &login->asked.slug, tenant.slug) != NGX_OK)
    {
        return NGX_ERROR;
    }

    login->asked.mac.data = mac;
    login->asked.mac.len = len;
    login->password.expired = row.expired;

    return ngx_svc_email_login_allowed(sr, row.allowed);
}


static ngx_int_t
ngx_svc_email_login_presented(ngx_svc_login_t *login)
{
    PGresult                         *tried;
    ngx_svc_request_t                *sr;
    ngx_svc_row_passwordless_user_t   row;

    sr = login->sr;
    tried = ngx_svc_result(sr, &ngx_svc_sql_email_challenge_try);
    ngx_svc_row_passwordless_user(&row,
                      ngx_svc_result(sr, &ngx_svc_sql_passwordless_user), 0);

    switch (ngx_svc_email_challenge_verify(login, tried)) {

    case NGX_OK:
        if (login->reason != NGX_SVC_LOGIN_WRONG) {
            return ngx_svc_login_fail(login);
        }

        /* a wrong code must not tell whether the address is a user's */

        if (row.forced) {
            (void) ngx_svc_login_forced(sr);
            return ngx_svc_send_error(sr);
        }

        ngx_svc_login_stage(login, 1);

        return ngx_svc_login_succeed(login);

    case NGX_DECLINED:
        return ngx_svc_login_fail(login);

    case NGX_ABORT:
        return ngx_svc_send_error(sr);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


static ngx_int_t
ngx_svc_email_login_allowed(ngx_svc_request_t *sr, ngx_uint_t allowed)
{
    return allowed ? NGX_OK
           : ngx_svc_fail(&sr->error, NGX_SVC_E_PASSWORDLESS,
                          "This tenant has no sign-in by mail.");
}
