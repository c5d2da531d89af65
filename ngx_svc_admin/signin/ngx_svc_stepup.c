/*
 * What challenges and step-ups have in common.
 */

#include "ngx_svc_stepup.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_method.h"
#include "ngx_svc_signin_fragments.row.h"


static ngx_int_t ngx_svc_stepup_take(ngx_svc_stepup_t *step,
    PGresult *tried);
static ngx_int_t ngx_svc_stepup_barred(ngx_svc_login_t *login);
static PGresult *ngx_svc_stepup_copy(ngx_svc_stepup_t *step,
    const ngx_svc_pg_statement_t *statement);
static ngx_int_t ngx_svc_stepup_copy_parts(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_stepup_end(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_ended(ngx_svc_request_t *sr);


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
 * The results are gone when the limits have answered, so they are copied.
 * Returns NGX_DECLINED when the tenant takes no proof from this address now.
 */

static ngx_int_t
ngx_svc_stepup_take(ngx_svc_stepup_t *step, PGresult *tried)
{
    ngx_int_t                    rc;
    ngx_svc_request_t           *sr;
    ngx_svc_row_stepup_tried_t   row;

    sr = step->factor.login.sr;

    rc = ngx_svc_factor_read(&step->factor,
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return rc;
    }

    step->tried = ngx_svc_pg_result_copy(tried, sr->request->pool);
    step->factors = ngx_svc_stepup_copy(step, &ngx_svc_sql_stepup_factors);

    if (step->tried == NULL || step->factors == NULL
        || ngx_svc_stepup_copy_parts(step) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_row_stepup_tried(&row, step->tried, 0, 0);
    step->over = row.challenge_id.data == NULL;

    return NGX_OK;
}


/* Returns NULL when memory runs out. */

static PGresult *
ngx_svc_stepup_copy(ngx_svc_stepup_t *step,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_svc_request_t  *sr;

    sr = step->factor.login.sr;

    return ngx_svc_pg_result_copy(ngx_svc_result(sr, statement),
                                  sr->request->pool);
}


static ngx_int_t
ngx_svc_stepup_copy_parts(ngx_svc_stepup_t *step)
{
    ngx_svc_stepup_part_t  *part;

    for (part = step->parts; part->method; part++) {

        if (part->method->stepup->read == NULL) {
            continue;
        }

        part->res = ngx_svc_stepup_copy(step, part->method->stepup->read);
        if (part->res == NULL) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_svc_stepup_part_t *
ngx_svc_stepup_part(ngx_svc_stepup_t *step,
    const ngx_svc_stepup_method_t *stepup)
{
    ngx_svc_stepup_part_t  *part;

    for (part = step->parts; part->method->stepup != stepup; part++) {
        /* void */
    }

    return part;
}


void *
ngx_svc_stepup_ctx(ngx_svc_stepup_t *step,
    const ngx_svc_stepup_method_t *stepup, size_t size)
{
    ngx_svc_stepup_part_t  *part;

    part = ngx_svc_stepup_part(step, stepup);

    if (part->ctx == NULL) {
        part->ctx = ngx_pcalloc(step->factor.login.sr->request->pool, size);
    }

    return part->ctx;
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
    ngx_svc_request_t           *sr;
    ngx_svc_row_stepup_tried_t   row;

    sr = step->factor.login.sr;
    ngx_svc_row_stepup_tried(&row, step->tried, 0, 0);

    if (step->factor.enrolling && row.own) {
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


ngx_uint_t
ngx_svc_stepup_offers(ngx_svc_stepup_t *step,
    const ngx_svc_stepup_method_t *stepup)
{
    return step->factor.first ? stepup->prove != NULL
                              : stepup->offered(step);
}
