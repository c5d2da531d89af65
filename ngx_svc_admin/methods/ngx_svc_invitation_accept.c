/*
 * POST /v1/auth/invitations/lookup and /v1/auth/invitations/accept: a client
 * that presents the token of an invitation reads it, and makes the account.
 */

#include "ngx_svc_admin_revision.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_invitation.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_write.h"


static ngx_int_t ngx_svc_invitation_lookup_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_invitation_accept_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_invitation_accept_made(ngx_svc_account_t *account);
static ngx_int_t ngx_svc_invitation_accept_write(ngx_svc_request_t *sr);
static void ngx_svc_invitation_accept_committed(
    const ngx_svc_pg_results_t *results);
static void ngx_svc_invitation_accept_signed_in(
    const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_invitation_accept_written(ngx_svc_request_t *sr);


#include "ngx_svc_invitation_accept.sql.h"


const ngx_svc_route_t  ngx_svc_invitation_accept[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/invitations/lookup"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_invitation_lookup_members,
      .statements = { &ngx_svc_sql_invitation_tenant,
                      &ngx_svc_sql_invitation_lookup },
      .prepare = ngx_svc_invitation_prepare,
      .reply = ngx_svc_invitation_lookup_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/invitations/accept"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_invitation_accept_members,
      .statements = { &ngx_svc_sql_invitation_tenant,
                      &ngx_svc_sql_invitation_read },
      .status = NGX_HTTP_CREATED,
      .prepare = ngx_svc_invitation_prepare,
      .reply = ngx_svc_invitation_accept_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_invitation_lookup_reply(ngx_svc_request_t *sr)
{
    PGresult   *res;
    ngx_int_t   rc;

    res = ngx_svc_result(sr, &ngx_svc_sql_invitation_lookup);

    rc = ngx_svc_invitation_good(sr, res);

    if (rc != NGX_OK) {
        return ngx_svc_account_failed(sr, rc);
    }

    if (ngx_svc_signin_no_store(sr) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_route_row(sr, res);
}


/* The request ends as a sign-in with the method does. */

static ngx_int_t
ngx_svc_invitation_accept_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                       rc;
    PGresult                       *res;
    ngx_svc_account_t              *account;
    ngx_svc_row_invitation_read_t   row;

    account = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_invitation_read);
    ngx_svc_row_invitation_read(&row, res, 0);

    rc = ngx_svc_invitation_good(sr, res);

    if (rc == NGX_OK && row.forced) {
        rc = ngx_svc_login_forced(sr);
    }

    if (rc != NGX_OK) {
        return ngx_svc_account_failed(sr, rc);
    }

    rc = ngx_svc_login_denied(&account->login, res);

    if (rc == NGX_DECLINED) {
        return ngx_svc_login_declined(&account->login);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_account_stage(&account->login);

    return ngx_svc_account_make(account, res, ngx_svc_invitation_accept_made);
}


static ngx_int_t
ngx_svc_invitation_accept_made(ngx_svc_account_t *account)
{
    return ngx_svc_request_again(account->login.sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_invitation_accept_write,
                                 ngx_svc_invitation_accept_written);
}


static ngx_int_t
ngx_svc_invitation_accept_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_admin_governance_lock,
        &ngx_svc_sql_invitation_lock,
        &ngx_svc_sql_invitation_groups,
        &ngx_svc_sql_invitation_user,
        NULL
    };

    return ngx_svc_account_write(sr->data, list,
                                 ngx_svc_invitation_accept_committed,
                                 ngx_svc_invitation_accept_signed_in);
}


static void
ngx_svc_invitation_accept_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_committed(results, &ngx_svc_sql_invitation_user);
}


static void
ngx_svc_invitation_accept_signed_in(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_signed_in(results, &ngx_svc_sql_invitation_user);
}


/* The invitation may have been accepted or revoked since it was read. */

static ngx_int_t
ngx_svc_invitation_accept_written(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_invitation_user);

    if (PQgetisnull(res, 0, 0)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_INVITE,
                            "The invitation has just been accepted or "
                            "revoked: ask for another one.");
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_login_end(sr->data);
}
