/*
 * What a step-up writes: the proof is used up and the session is raised, or the
 * proof is wrong and the failure counts.
 */

#include "ngx_svc_stepup_write.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_method.h"


static ngx_int_t ngx_svc_stepup_unknown(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_unknown_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_wrong(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_wrong_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_bind_guessed(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_stepup_write.sql.h"


ngx_int_t
ngx_svc_stepup_verdict(ngx_svc_stepup_t *step, ngx_int_t rc)
{
    ngx_svc_request_t  *sr;

    sr = step->factor.login.sr;

    switch (rc) {

    case NGX_OK:
        return step->factor.first
               ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                       step->method->stepup->prove,
                                       step->method->stepup->proved)
               : ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                       ngx_svc_stepup_write,
                                       ngx_svc_stepup_written);

    case NGX_DECLINED:
        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_stepup_wrong,
                                     ngx_svc_stepup_wrong_reply);

    case NGX_DONE:
        return NGX_DONE;

    case NGX_ABORT:
        return ngx_svc_send_error(sr);

    case NGX_BUSY:
        return ngx_svc_signin_busy(sr);

    default:
        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_stepup_unknown,
                                     ngx_svc_stepup_unknown_reply);
    }
}


/* Nobody knows whether it was right: it was no attempt. */

static ngx_int_t
ngx_svc_stepup_unknown(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_stepup_unknown, NULL);
}


static ngx_int_t
ngx_svc_stepup_unknown_reply(ngx_svc_request_t *sr)
{
    return NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_svc_stepup_wrong(ngx_svc_request_t *sr)
{
    ngx_svc_stepup_t  *step;

    step = sr->data;

    if (step->method->stepup->wrong) {
        return ngx_svc_login_failed_by(sr, step->method->stepup->wrong);
    }

    step->factor.login.written.reason = step->method->name;

    return ngx_svc_login_failed_by(sr, &ngx_svc_sql_mfa_failure);
}


static ngx_int_t
ngx_svc_stepup_wrong_reply(ngx_svc_request_t *sr)
{
    ngx_int_t          rc;
    ngx_svc_stepup_t  *step;

    step = sr->data;

    rc = step->method->stepup->guessed
         ? ngx_svc_login_failure_locks(sr->data, ngx_svc_send_error)
         : NGX_DECLINED;

    if (rc != NGX_DECLINED) {
        return rc;
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CODE,
                        "What was shown is wrong, or has been used.");

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_stepup_write(ngx_svc_request_t *sr)
{
    ngx_int_t          rc;
    ngx_svc_login_t   *login;
    ngx_svc_stepup_t  *step;

    step = sr->data;
    login = &step->factor.login;

    const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_stepup_check,
        step->method->stepup->use,
        &ngx_svc_sql_factor_rotate,
        NULL
    };

    if (ngx_svc_signin_key(&login->session, login->row.tenant) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_login_calls(sr, list);

    if (rc == NGX_OK && step->factor.enrolling
        && login->stage == NGX_SVC_STAGE_FULL)
    {
        sr->op->committed = ngx_svc_login_completed;
        rc = ngx_svc_login_complete(sr);
    }

    if (rc == NGX_OK && login->stage == NGX_SVC_STAGE_PASSWORD) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_waits, NULL);
    }

    return rc == NGX_OK
           ? ngx_svc_route_call(sr, &ngx_svc_sql_signin_session_made, NULL)
           : rc;
}


static ngx_int_t
ngx_svc_stepup_written(ngx_svc_request_t *sr)
{
    ngx_int_t          rc;
    ngx_svc_login_t   *login;
    ngx_svc_stepup_t  *step;

    step = sr->data;
    login = &step->factor.login;

    if (!ngx_svc_stepup_used(sr, step->method->stepup->use, &rc)) {
        return rc;
    }

    if (ngx_svc_session_set_cookies(sr, login->session.key) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* there is nothing to be guessed in what may follow */

    if (step->factor.enrolling) {
        ngx_svc_limit_give_back(&login->limit);
    }

    if (login->stage != NGX_SVC_STAGE_FULL) {
        (void) ngx_svc_session_pending(sr, login->stage);
        return ngx_svc_send_error(sr);
    }

    if (step->factor.enrolling) {

        /* and whoever knows a challenge's id has asked for it */

        ngx_svc_login_give_back(login, step->challenge.data ? 2 : 1);

        if (ngx_svc_login_set_device(login) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    return ngx_svc_signin_session(sr,
                        ngx_svc_result(sr, &ngx_svc_sql_signin_session_made),
                        login->session.key);
}


ngx_uint_t
ngx_svc_stepup_used(ngx_svc_request_t *sr, const ngx_svc_pg_statement_t *use,
    ngx_int_t *rc)
{
    ngx_svc_row_stepup_check_t  row;

    ngx_svc_row_stepup_check(&row,
                             ngx_svc_result(sr, &ngx_svc_sql_stepup_check), 0);

    if (row.verdict.data == NULL) {
        *rc = ngx_svc_factor_ended(sr);
        return 0;
    }

    if (row.verdict.data[0] != 'g') {
        (void) ngx_svc_login_locked(sr, row.locked);
        *rc = ngx_svc_send_error(sr);
        return 0;
    }

    if (PQgetisnull(ngx_svc_result(sr, use), 0, 0)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CODE,
                            "What was shown is wrong, or has been used.");
        *rc = ngx_svc_send_error(sr);
        return 0;
    }

    return 1;
}


static ngx_int_t
ngx_svc_stepup_bind_guessed(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_stepup_t  *step;

    step = sr->data;

    ngx_svc_pg_bind_bool(call, step->method->stepup->guessed);

    return NGX_OK;
}
