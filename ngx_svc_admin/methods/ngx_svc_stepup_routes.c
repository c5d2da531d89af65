/*
 * POST /v1/mfa/step-up.
 */

#include "ngx_svc_login_refused.h"
#include "ngx_svc_password_text.h"
#include "ngx_svc_stepup_begin.h"
#include "ngx_svc_stepup_write.h"


static ngx_int_t ngx_svc_stepup_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_stepup_method(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body);
static ngx_int_t ngx_svc_stepup_required(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_stepup_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_verify(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_stepup_others(ngx_svc_stepup_t *step);


static const ngx_svc_member_t  ngx_svc_stepup_members[] = {

    { .name = ngx_string("challengeId"),
      .type = NGX_SVC_T_STRING,
      .min = 1,
      .max = 64,
      .offset = offsetof(ngx_svc_stepup_body_t, challenge) },

    ngx_svc_stepup_method_member,

    { .name = ngx_string("code"),
      .type = NGX_SVC_T_STRING,
      .min = 1,
      .max = 64,
      .offset = offsetof(ngx_svc_stepup_body_t, code) },

    { .name = ngx_string("password"),
      .type = NGX_SVC_T_STRING,
      .min = 1,
      .max = NGX_SVC_PASSWORD_LEN,
      .offset = offsetof(ngx_svc_stepup_body_t, password) },

    { .name = ngx_string("credential"),
      .type = NGX_SVC_T_OBJECT,
      .offset = offsetof(ngx_svc_stepup_body_t, credential) },

    ngx_svc_null_member
};


#include "ngx_svc_stepup_routes.sql.h"


const ngx_svc_route_t  ngx_svc_stepup_routes[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/mfa/step-up"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_PENDING_MFA
               |NGX_SVC_ROUTE_PENDING_PROOF|NGX_SVC_ROUTE_JSON
               |NGX_SVC_ROUTE_SMALL|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_stepup_members,
      .body_size = sizeof(ngx_svc_stepup_body_t),
      .check = ngx_svc_stepup_check,
      .statements = { &ngx_svc_sql_challenge_try,
                      &ngx_svc_sql_factor_read,
                      &ngx_svc_sql_stepup_factors },
      .prepare = ngx_svc_stepup_prepare,
      .reply = ngx_svc_stepup_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_stepup_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_stepup_t       *step;
    ngx_svc_stepup_body_t  *members = body;

    step = ngx_svc_stepup_create(sr, members);

    if (step == NULL) {
        return NGX_ERROR;
    }

    if (sr->error.kind != NGX_SVC_E_NONE) {
        return NGX_DECLINED;
    }

    /* an id that none can have is that of another session's */

    if (members->challenge.set) {
        (void) ngx_svc_uuid_parse(members->challenge.str.data,
                                  members->challenge.str.len,
                                  step->challenge_id);

        step->challenge.data = step->challenge_id;
        step->challenge.len = NGX_SVC_UUID_LEN;
    }

    return ngx_svc_stepup_method(step, members);
}


static ngx_int_t
ngx_svc_stepup_method(ngx_svc_stepup_t *step, ngx_svc_stepup_body_t *body)
{
    ngx_int_t               rc;
    ngx_uint_t              n;
    ngx_svc_stepup_part_t  *part;

    n = body->code.set + body->password.set + body->credential.set;

    /* a method that is named may need none of them */

    if (n > 1 || (n == 0 && step->method == NULL)) {
        return ngx_svc_stepup_required(step);
    }

    for (part = step->parts; part->method; part++) {

        if (step->method && step->method != part->method) {
            continue;
        }

        rc = part->method->stepup->take(step, body);

        if (rc != NGX_DONE) {
            ngx_svc_stepup_choose(step, part->method);
            return rc;
        }
    }

    if (n == 0) {
        return ngx_svc_stepup_required(step);
    }

    return ngx_svc_fail(&step->factor.login.sr->error, NGX_SVC_E_INVALID_VALUE,
                        body->code.set && step->method == NULL
                        ? "\"code\" must be six digits, or a recovery code."
                        : "\"method\" does not go with what is shown.");
}


static ngx_int_t
ngx_svc_stepup_required(ngx_svc_stepup_t *step)
{
    return ngx_svc_fail(&step->factor.login.sr->error, NGX_SVC_E_INVALID_VALUE,
                        "One of \"code\", \"credential\" and \"password\" is "
                        "required.");
}


static ngx_int_t
ngx_svc_stepup_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_stepup_limit(sr,
                                ngx_svc_result(sr, &ngx_svc_sql_challenge_try),
                                ngx_svc_stepup_verify);
}


static ngx_int_t
ngx_svc_stepup_verify(ngx_svc_login_t *login)
{
    ngx_int_t           rc;
    ngx_svc_stepup_t   *step;
    ngx_svc_request_t  *sr;

    sr = login->sr;
    step = sr->data;

    if (ngx_svc_stepup_stage(step) != NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    if (step->method->stepup->guessed && step->factor.locked) {
        (void) ngx_svc_login_locked(sr, step->factor.locked);
        return ngx_svc_send_error(sr);
    }

    if (step->over) {
        return ngx_svc_stepup_over(step);
    }

    step->verdict = ngx_svc_stepup_verdict;

    rc = step->method->stepup->verify(step);

    if (rc == NGX_DECLINED && !step->named
        && step->method->stepup->six_digits)
    {
        rc = ngx_svc_stepup_others(step);
    }

    return ngx_svc_stepup_verdict(step, rc);
}


/* Six digits may be the code of another method that the user has. */

static ngx_int_t
ngx_svc_stepup_others(ngx_svc_stepup_t *step)
{
    ngx_int_t               rc;
    ngx_svc_stepup_part_t  *part;

    for (part = ngx_svc_stepup_part(step, step->method->stepup) + 1;
         part->method;
         part++)
    {
        if (!part->method->stepup->six_digits
            || !part->method->stepup->offered(step))
        {
            continue;
        }

        ngx_svc_stepup_choose(step, part->method);

        rc = part->method->stepup->verify(step);
        if (rc != NGX_DECLINED) {
            return rc;
        }
    }

    return NGX_DECLINED;
}
