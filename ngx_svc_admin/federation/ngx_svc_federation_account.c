/*
 * The account of somebody who comes from another server for the first time.
 */

#include "ngx_svc_federation_account.h"
#include "ngx_svc_admin_revision.h"
#include "ngx_svc_federation_attributes.h"
#include "ngx_svc_federation_login.h"
#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_match.row.h"
#include "ngx_svc_federation_proof.h"
#include "ngx_svc_login_outcome.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_seen.h"
#include "ngx_svc_login_write.h"


static ngx_int_t ngx_svc_federation_account_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_account_full(ngx_svc_request_t *sr);
static void ngx_svc_federation_account_committed(
    const ngx_svc_pg_results_t *results);
static void ngx_svc_federation_account_signed_in(
    const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_federation_account_reply(ngx_svc_request_t *sr);


#include "ngx_svc_federation_account.sql.h"


ngx_int_t
ngx_svc_federation_account(ngx_svc_federation_flow_t *flow)
{
    ngx_svc_login_t  *login;

    login = &flow->login;

    if (ngx_svc_uuid_new(login->row.user) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    login->user.data = login->row.user;
    login->user.len = NGX_SVC_UUID_LEN;

    return ngx_svc_login_succeed_by(login, ngx_svc_federation_account_write,
                                    ngx_svc_federation_account_reply);
}


static ngx_int_t
ngx_svc_federation_account_write(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_svc_login_t            *login;
    ngx_svc_federation_flow_t  *flow;

    static const ngx_svc_pg_statement_t *const  made[] = {
        &ngx_svc_sql_signin_tenant_again,
        &ngx_svc_sql_federation_account_lock,
        &ngx_svc_sql_federation_match,
        &ngx_svc_sql_federation_account,
        &ngx_svc_sql_federation_link,
        &ngx_svc_sql_federation_session,
        NULL
    };

    static const ngx_svc_pg_statement_t *const  invited[] = {
        &ngx_svc_sql_signin_tenant_again,
        &ngx_svc_sql_admin_governance_lock,
        &ngx_svc_sql_federation_account_lock,
        &ngx_svc_sql_invitation_lock,
        &ngx_svc_sql_invitation_groups,
        &ngx_svc_sql_federation_match,
        &ngx_svc_sql_invitation_user,
        &ngx_svc_sql_federation_link,
        &ngx_svc_sql_federation_session,
        NULL
    };

    flow = sr->data;
    login = &flow->login;

    if (ngx_svc_login_begin(login) != NGX_OK
        || ngx_svc_federation_proof_seal(flow) != NGX_OK)
    {
        return NGX_ERROR;
    }

    sr->op->committed = ngx_svc_federation_account_committed;

    rc = ngx_svc_login_calls(sr, flow->match == NGX_SVC_FEDERATION_INVITED
                                 ? invited : made);

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_attributes_calls(sr);
    }

    if (rc == NGX_OK && login->stage == NGX_SVC_STAGE_FULL) {
        rc = ngx_svc_federation_account_full(sr);
    }

    if (rc == NGX_OK && login->asked.old_session.len) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_session_old, NULL);
    }

    return rc;
}


static ngx_int_t
ngx_svc_federation_account_full(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_seen,
        &ngx_svc_sql_signin_user_kept,
        &ngx_svc_sql_signin_done,
        &ngx_svc_sql_signin_device,
        NULL
    };

    login = sr->data;
    sr->op->committed = ngx_svc_federation_account_signed_in;

    rc = ngx_svc_login_calls(sr, list);

    return rc == NGX_OK && login->method->answer == NULL
           ? ngx_svc_route_call(sr, &ngx_svc_sql_signin_session_made, NULL)
           : rc;
}


/* The account was made by either statement. */

static void
ngx_svc_federation_account_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_committed(results,
                    ngx_svc_pg_result(results, &ngx_svc_sql_invitation_user)
                    ? &ngx_svc_sql_invitation_user
                    : &ngx_svc_sql_federation_account);
}


static void
ngx_svc_federation_account_signed_in(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_signed_in(results,
                    ngx_svc_pg_result(results, &ngx_svc_sql_invitation_user)
                    ? &ngx_svc_sql_invitation_user
                    : &ngx_svc_sql_federation_account);
}


/* Others may have made the account, or taken the address, in the meantime. */

static ngx_int_t
ngx_svc_federation_account_reply(ngx_svc_request_t *sr)
{
    PGresult                         *res;
    ngx_svc_federation_flow_t        *flow;
    ngx_svc_row_federation_match_t    row;

    flow = sr->data;
    res = flow->match == NGX_SVC_FEDERATION_INVITED
          ? ngx_svc_result(sr, &ngx_svc_sql_invitation_user)
          : ngx_svc_result(sr, &ngx_svc_sql_federation_account);

    if (PQgetisnull(res, 0, 0)) {
        ngx_svc_row_federation_match(&row,
                             ngx_svc_result(sr, &ngx_svc_sql_federation_match),
                             0);
        return ngx_svc_login_lost(sr, row.login_checked.locked);
    }

    if (flow->complete) {
        flow->complete(flow);
    }

    return ngx_svc_login_end(&flow->login);
}
