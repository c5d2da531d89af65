/*
 * POST /v1/mfa/challenge.
 */

#include "ngx_svc_login_refused.h"
#include "ngx_svc_stepup_begin.h"


static ngx_int_t ngx_svc_challenge_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_challenge_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_challenge_answer(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_challenge_send(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_challenge_members_of(ngx_svc_json_writer_t *w,
    ngx_svc_stepup_t *step);
static void ngx_svc_challenge_methods(ngx_svc_json_writer_t *w,
    ngx_svc_stepup_t *step);


static const ngx_svc_member_t  ngx_svc_challenge_members[] = {
    ngx_svc_stepup_method_member,
    ngx_svc_null_member
};


#include "ngx_svc_challenge_routes.sql.h"


const ngx_svc_route_t  ngx_svc_challenge_routes[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/mfa/challenge"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_PENDING_MFA
               |NGX_SVC_ROUTE_PENDING_PROOF|NGX_SVC_ROUTE_JSON
               |NGX_SVC_ROUTE_SMALL|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_challenge_members,
      .body_size = sizeof(ngx_svc_stepup_body_t),
      .check = ngx_svc_challenge_check,
      .statements = { &ngx_svc_sql_challenge_open,
                      &ngx_svc_sql_factor_read,
                      &ngx_svc_sql_stepup_factors },
      .prepare = ngx_svc_stepup_prepare,
      .reply = ngx_svc_challenge_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_challenge_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t          rc;
    ngx_svc_stepup_t  *step;

    step = ngx_svc_stepup_create(sr, body);
    if (step == NULL) {
        return NGX_ERROR;
    }

    if (step->method && step->method->stepup->ready) {
        rc = step->method->stepup->ready(sr);

        if (rc != NGX_OK) {
            return rc;
        }
    }

    return sr->error.kind == NGX_SVC_E_NONE ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_svc_challenge_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_stepup_limit(sr,
                                ngx_svc_result(sr, &ngx_svc_sql_challenge_open),
                                ngx_svc_challenge_answer);
}


static ngx_int_t
ngx_svc_challenge_answer(ngx_svc_login_t *login)
{
    ngx_svc_stepup_t       *step;
    ngx_svc_request_t      *sr;
    ngx_svc_stepup_part_t  *part;

    sr = login->sr;
    step = sr->data;

    if (ngx_svc_stepup_stage(step) != NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    if (step->over) {
        return ngx_svc_stepup_over(step);
    }

    if (step->method && !ngx_svc_stepup_offers(step, step->method->stepup)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"method\" is none that the user has.");
        return ngx_svc_send_error(sr);
    }

    for (part = step->parts; step->method == NULL && part->method; part++) {
        if (ngx_svc_stepup_offers(step, part->method->stepup)) {
            ngx_svc_stepup_choose(step, part->method);
        }
    }

    if (step->method && step->method->stepup->guessed && step->factor.locked) {
        (void) ngx_svc_login_locked(sr, step->factor.locked);
        return ngx_svc_send_error(sr);
    }

    step->opened = ngx_svc_challenge_send;

    return step->method && step->method->stepup->open
           ? step->method->stepup->open(step)
           : ngx_svc_challenge_send(step);
}


static ngx_int_t
ngx_svc_challenge_send(ngx_svc_stepup_t *step)
{
    ngx_int_t                    left;
    ngx_svc_request_t           *sr;
    ngx_svc_json_writer_t        w;
    ngx_svc_row_stepup_tried_t   row;

    sr = step->factor.login.sr;
    ngx_svc_row_stepup_tried(&row, step->tried, 0, 0);
    left = ngx_svc_setting(NGX_SVC_SET_MFA_CHALLENGE_ATTEMPTS) - row.attempts;

    if (ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 512) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_column_text(&w, "challengeId", step->tried, 0,
                        ngx_svc_row_find(step->tried, "challengeId"));

    if (step->method) {
        ngx_svc_json_plain(&w, "method", step->method->name.data,
                           step->method->name.len);
    } else {
        ngx_svc_json_null(&w, "method");
    }

    ngx_svc_challenge_methods(&w, step);
    ngx_svc_column_time(&w, "expiresAt", step->tried, 0,
                        ngx_svc_row_find(step->tried, "expiresAt"));
    ngx_svc_json_integer(&w, "attemptsLeft", ngx_max(left, 0));

    if (ngx_svc_challenge_members_of(&w, step) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_challenge_members_of(ngx_svc_json_writer_t *w, ngx_svc_stepup_t *step)
{
    ngx_svc_stepup_part_t  *part;

    for (part = step->parts; part->method; part++) {

        if (part->method->stepup->members
            && part->method->stepup->members(step, w) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static void
ngx_svc_challenge_methods(ngx_svc_json_writer_t *w, ngx_svc_stepup_t *step)
{
    ngx_svc_stepup_part_t  *part;

    ngx_svc_json_open(w, "methods", '[');

    for (part = step->parts; part->method; part++) {

        if (ngx_svc_stepup_offers(step, part->method->stepup)) {
            ngx_svc_json_plain(w, NULL, part->method->name.data,
                               part->method->name.len);
        }
    }

    ngx_svc_json_close(w, ']');
}
