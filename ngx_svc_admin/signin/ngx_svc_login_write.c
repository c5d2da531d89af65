/*
 * What a sign-in that succeeds writes.
 */

#include "ngx_svc_login_write.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_seen.h"
#include "ngx_svc_notice.h"


typedef const ngx_svc_pg_statement_t *const  ngx_svc_login_list_t[];


static ngx_int_t ngx_svc_login_success_session(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_login_success_full(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_login_first(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_login_pending(ngx_svc_login_t *login);


#include "ngx_svc_login_write.sql.h"


ngx_int_t
ngx_svc_login_bind_score(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    return ngx_svc_pg_bind_int(sr->op, call, login->risk.found.score);
}


ngx_int_t
ngx_svc_login_bind_tenant(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_pg_bind(call, login->row.tenant, NGX_SVC_UUID_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_calls(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *const *list)
{
    ngx_int_t  rc;

    for ( /* void */ ; *list; list++) {
        rc = ngx_svc_route_call(sr, *list, NULL);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_begin(ngx_svc_login_t *login)
{
    u_char  *p;

    p = ngx_pnalloc(login->sr->request->pool, NGX_SVC_RISK_TEXT);

    if (p == NULL
        || ngx_svc_signin_key(&login->session, login->row.tenant) != NGX_OK)
    {
        return NGX_ERROR;
    }

    login->risk.signals.data = p;
    login->risk.signals.len = ngx_svc_risk_text(p, &login->risk.found) - p;
    login->written.stage = ngx_svc_stages[login->stage];

    if (login->written.methods.data == NULL) {
        login->written.methods = login->method->methods;
    }

    login->written.factor |= login->method->factor;

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_complete(ngx_svc_request_t *sr)
{
    return ngx_svc_login_calls(sr, (ngx_svc_login_list_t) {
        &ngx_svc_sql_signin_seen,
        ngx_svc_login_notice(sr),
        &ngx_svc_sql_signin_user_done,
        &ngx_svc_sql_signin_done,
        &ngx_svc_sql_signin_device,
        &ngx_svc_sql_signin_devices,
        NULL
    });
}


ngx_int_t
ngx_svc_login_success(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    login = sr->data;

    if (ngx_svc_login_begin(login) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_login_success_session(sr);

    if (login->method->committed) {
        sr->op->committed = login->method->committed;
    }

    if (rc == NGX_OK && login->stage == NGX_SVC_STAGE_FULL) {
        rc = ngx_svc_login_success_full(sr);
    }

    if (rc == NGX_OK && (login->stage == NGX_SVC_STAGE_ENROLL
                         || login->stage == NGX_SVC_STAGE_PASSWORD))
    {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_waits, NULL);
    }

    if (rc == NGX_OK && login->asked.old_session.len) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_session_old, NULL);
    }

    if (rc == NGX_OK && !login->read.few_sessions) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_sessions, NULL);
    }

    return rc;
}


static ngx_int_t
ngx_svc_login_success_session(ngx_svc_request_t *sr)
{
    ngx_int_t                      rc;
    ngx_uint_t                     first;
    ngx_svc_login_t               *login;
    const ngx_svc_login_method_t  *method;

    login = sr->data;
    method = login->method;
    first = login->stage == NGX_SVC_STAGE_FULL && !login->read.enrolled;

    rc = ngx_svc_login_calls(sr, (ngx_svc_login_list_t) {
        &ngx_svc_sql_signin_tenant_again,
        first ? &ngx_svc_sql_signin_lock_user : &ngx_svc_sql_signin_lock,
        method->check,
        NULL
    });

    if (rc == NGX_OK && method->proof) {
        rc = method->proof(sr);
    }

    return rc != NGX_OK ? rc
           : ngx_svc_route_call(sr, method->session
                                    ? method->session
                                    : first ? &ngx_svc_sql_signin_session_first
                                            : &ngx_svc_sql_signin_session_new,
                                NULL);
}


static ngx_int_t
ngx_svc_login_success_full(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    login = sr->data;

    if (login->method->committed == NULL) {
        sr->op->committed = ngx_svc_login_completed;
    }

    rc = ngx_svc_login_calls(sr, (ngx_svc_login_list_t) {
        &ngx_svc_sql_signin_seen,
        ngx_svc_login_notice(sr),
        login->read.unfailed ? &ngx_svc_sql_signin_user_kept
                        : login->method->user_done,
        login->method->session ? &ngx_svc_sql_signin_done
                               : &ngx_svc_sql_signin_done_first,
        &ngx_svc_sql_signin_device,
        NULL
    });

    if (rc == NGX_OK && login->method->answer == NULL
        && (login->read.enrolled || login->method->session))
    {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_session_made, NULL);
    }

    if (rc == NGX_OK && !login->read.few_devices) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_devices, NULL);
    }

    return rc;
}


void
ngx_svc_login_completed(const ngx_svc_pg_results_t *results)
{
    static const ngx_svc_pg_statement_t *const  done[] = {
        &ngx_svc_sql_signin_done_first,
        &ngx_svc_sql_signin_done,
        NULL
    };

    ngx_svc_request_committed(results);

    ngx_svc_login_emit(ngx_svc_pg_result_first(results),
                       ngx_svc_pg_result_of(results, done));
    ngx_svc_notice(NGX_SVC_MAIL_NEW_DEVICE,
                   ngx_svc_pg_result(results, &ngx_svc_sql_signin_notice));
}


void
ngx_svc_login_emit(PGresult *tenant, PGresult *done)
{
    ngx_svc_event_t           event;
    ngx_svc_row_login_done_t  row;

    if (PQntuples(done) == 0) {
        return;
    }

    ngx_svc_row_login_done(&row, done, 0, 0);

    event.kind = NGX_SVC_EVENT_USER_LOGIN;
    event.tenant = ngx_svc_pg_value(tenant, 0, 0);
    event.user = row.user;
    event.subscribers = row.subscribers;
    event.number = row.number;
    event.at = row.at;
    ngx_str_null(&event.email);

    ngx_svc_event_emit(&event);
}


ngx_int_t
ngx_svc_login_success_reply(ngx_svc_request_t *sr)
{
    ngx_svc_login_t              *login;
    ngx_svc_row_login_checked_t   row;

    login = sr->data;
    ngx_svc_row_login_checked(&row, ngx_svc_result(sr, login->method->check),
                              0, 0);

    if (row.verdict.len == 0 || row.verdict.data[0] != 'g') {
        return ngx_svc_login_lost(sr, row.locked);
    }

    return ngx_svc_login_end(login);
}


ngx_int_t
ngx_svc_login_end(ngx_svc_login_t *login)
{
    PGresult           *made;
    ngx_svc_request_t  *sr;

    sr = login->sr;

    if (ngx_svc_session_set_cookies(sr, login->session.key) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (login->stage != NGX_SVC_STAGE_FULL) {
        return ngx_svc_login_pending(login);
    }

    if (login->limit.family == NGX_SVC_LIMIT_LOGIN) {
        ngx_svc_limit_give_back(&login->limit);
    }

    ngx_svc_login_give_back(login, 1);

    if (ngx_svc_login_set_device(login) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (login->method && login->method->answer) {
        return login->method->answer(login);
    }

    made = ngx_svc_result(sr, &ngx_svc_sql_signin_session_made);

    return made ? ngx_svc_signin_session(sr, made, login->session.key)
                : ngx_svc_login_first(login);
}


/* Answers from the results of statements that the write has anyway. */

static ngx_int_t
ngx_svc_login_first(ngx_svc_login_t *login)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    return ngx_svc_signin_session_of(sr, (PGresult *[]) {
        ngx_svc_result(sr, &ngx_svc_sql_signin_lock_user),
        ngx_svc_result(sr, &ngx_svc_sql_signin_tenant_again),
        ngx_svc_result(sr, &ngx_svc_sql_signin_session_first)
    }, 3, login->session.key);
}


static ngx_int_t
ngx_svc_login_pending(ngx_svc_login_t *login)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    (void) ngx_svc_session_pending(sr, login->stage);

    return ngx_svc_send_error(sr);
}
