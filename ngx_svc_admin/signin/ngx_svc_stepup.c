/*
 * What challenges and step-ups have in common.
 */

#include "ngx_svc_stepup.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_limit.h"


static ngx_int_t ngx_svc_stepup_take(ngx_svc_stepup_t *step,
    PGresult *tried);
static ngx_int_t ngx_svc_stepup_barred(ngx_svc_login_t *login);
static PGresult *ngx_svc_stepup_copy(ngx_svc_stepup_t *step,
    const ngx_svc_pg_statement_t *statement);
static ngx_int_t ngx_svc_stepup_end(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_ended(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_bind_guessed(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_stepup.sql.h"


ngx_int_t
ngx_svc_stepup_limit(ngx_svc_request_t *sr, PGresult *tried,
    ngx_int_t (*next)(ngx_svc_login_t *login))
{
    ngx_int_t          rc;
    ngx_svc_stepup_t  *step;

    step = sr->data;

    rc = ngx_svc_stepup_take(step, tried);

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    step->factor.login.limit.family = NGX_SVC_LIMIT_LOGIN;

    return ngx_svc_login_limit_then(&step->factor.login,
                                    rc == NGX_OK ? next
                                                 : ngx_svc_stepup_barred);
}


static ngx_int_t
ngx_svc_stepup_barred(ngx_svc_login_t *login)
{
    return ngx_svc_login_bar(login->sr);
}


/*
 * The results are gone when the limits have answered.  NGX_DECLINED: no proof
 * is taken from here and now.
 */

static ngx_int_t
ngx_svc_stepup_take(ngx_svc_stepup_t *step, PGresult *tried)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = step->factor.login.sr;

    rc = ngx_svc_factor_read(&step->factor,
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return rc;
    }

    step->tried = ngx_svc_pg_result_copy(tried, sr->request->pool);
    step->factors = ngx_svc_stepup_copy(step, &ngx_svc_sql_stepup_factors);
    step->codes = ngx_svc_stepup_copy(step, &ngx_svc_sql_stepup_codes);
    step->passkeys = ngx_svc_stepup_copy(step, &ngx_svc_sql_ceremony_own);
    step->mail = ngx_svc_stepup_copy(step, &ngx_svc_sql_stepup_email);

    if (step->tried == NULL || step->factors == NULL || step->codes == NULL
        || step->passkeys == NULL || step->mail == NULL)
    {
        return NGX_ERROR;
    }

    step->over = ngx_svc_row_value(step->tried, 0, "challengeId").data == NULL;

    return NGX_OK;
}


/* NULL: memory. */

static PGresult *
ngx_svc_stepup_copy(ngx_svc_stepup_t *step,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_svc_request_t  *sr;

    sr = step->factor.login.sr;

    return ngx_svc_pg_result_copy(ngx_svc_result(sr, statement),
                                  sr->request->pool);
}


void
ngx_svc_stepup_verified(ngx_svc_stepup_t *step, ngx_int_t rc)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = step->factor.login.sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, step->verdict(step, rc));

    ngx_http_run_posted_requests(c);
}


ngx_int_t
ngx_svc_stepup_over(ngx_svc_stepup_t *step)
{
    ngx_svc_request_t  *sr;

    sr = step->factor.login.sr;

    if (step->factor.enrolling
        && ngx_svc_row_true(step->tried, 0, "own"))
    {
        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE, ngx_svc_stepup_end,
                                     ngx_svc_stepup_ended);
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CHALLENGE,
                        "The challenge is too old, has been tried too often, "
                        "or is not this session's: POST /v1/mfa/challenge.");

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_stepup_end(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_signin_logout, NULL);
}


static ngx_int_t
ngx_svc_stepup_ended(ngx_svc_request_t *sr)
{
    if (ngx_svc_session_delete_cookies(sr) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CHALLENGE,
                        "The challenge is too old, or has been tried too "
                        "often: sign in again.");

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_stepup_bind_guessed(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_stepup_t  *step;

    step = sr->data;

    ngx_svc_pg_bind_bool(call, step->method->guessed);

    return NGX_OK;
}


ngx_uint_t
ngx_svc_stepup_offers(ngx_svc_stepup_t *step,
    const ngx_svc_stepup_method_t *method)
{
    return step->factor.first ? method->proves : method->offered(step);
}
