/*
 * The account of a new user.
 */

#include "ngx_svc_account.h"
#include "ngx_svc_auth.h"
#include "ngx_svc_login_seen.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_method.h"


#include "ngx_svc_account.sql.h"


ngx_int_t
ngx_svc_account_make(ngx_svc_account_t *account, PGresult *res,
    ngx_svc_account_pt made)
{
    ngx_svc_login_t  *login;

    login = &account->login;

    if (ngx_svc_uuid_new(login->row.user) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    login->user.data = login->row.user;
    login->user.len = NGX_SVC_UUID_LEN;
    account->made = made;

    return account->method->account->make(account, res);
}


void
ngx_svc_account_made(ngx_svc_account_t *account, ngx_int_t rc)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = account->login.sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    rc = (rc == NGX_OK) ? account->made(account)
                        : ngx_svc_account_failed(account->login.sr, rc);

    ngx_http_finalize_request(r, rc);

    ngx_http_run_posted_requests(c);
}


ngx_int_t
ngx_svc_account_failed(ngx_svc_request_t *sr, ngx_int_t rc)
{
    return rc == NGX_DECLINED ? ngx_svc_send_error(sr)
                              : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


void
ngx_svc_account_stage(ngx_svc_login_t *login)
{
    login->stage = (login->action == NGX_SVC_ACCESS_MFA) ? NGX_SVC_STAGE_ENROLL
                                                         : NGX_SVC_STAGE_FULL;
}


ngx_int_t
ngx_svc_account_write(ngx_svc_account_t *account,
    const ngx_svc_pg_statement_t *const *list,
    ngx_svc_pg_committed_pt committed, ngx_svc_pg_committed_pt signed_in)
{
    ngx_int_t           rc;
    ngx_svc_login_t    *login;
    ngx_svc_request_t  *sr;

    static const ngx_svc_pg_statement_t *const  full[] = {
        &ngx_svc_sql_signin_seen,
        &ngx_svc_sql_signin_user_kept,
        &ngx_svc_sql_signin_done,
        &ngx_svc_sql_signin_session_made,
        &ngx_svc_sql_signin_device,
        NULL
    };

    login = &account->login;
    sr = login->sr;

    if (ngx_svc_login_begin(login) != NGX_OK) {
        return NGX_ERROR;
    }

    sr->op->committed = committed;

    rc = ngx_svc_login_calls(sr, list);

    if (rc == NGX_OK) {
        rc = ngx_svc_route_call(sr, account->method->account->store, NULL);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_session_new, NULL);
    }

    if (rc == NGX_OK && login->stage == NGX_SVC_STAGE_FULL) {
        sr->op->committed = signed_in;
        rc = ngx_svc_login_calls(sr, full);

    } else if (rc == NGX_OK && account->proved) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_account_proved, NULL);
    }

    if (rc == NGX_OK && login->asked.old_session.len) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_session_old, NULL);
    }

    return rc;
}


void
ngx_svc_account_committed(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *store)
{
    int                            i;
    PGresult                      *res;
    ngx_svc_event_t                event;
    ngx_svc_row_account_stored_t   row;

    ngx_svc_request_committed(results);

    res = ngx_svc_pg_result(results, store);

    for (i = 0; i < PQntuples(res); i++) {
        ngx_svc_row_account_stored(&row, res, i, 0);

        if (row.user.len == 0) {
            continue;
        }

        event.kind = NGX_SVC_EVENT_USER_CREATED;
        event.tenant = ngx_svc_auth_tenant(results);
        event.user = row.user;
        event.email = row.email;
        event.subscribers = row.subscribers;
        event.at = row.at;
        ngx_str_null(&event.number);

        ngx_svc_event_emit(&event);
    }
}


void
ngx_svc_account_signed_in(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *store)
{
    ngx_svc_account_committed(results, store);
    ngx_svc_login_emit(ngx_svc_pg_result_first(results),
                       ngx_svc_pg_result(results, &ngx_svc_sql_signin_done));
}
