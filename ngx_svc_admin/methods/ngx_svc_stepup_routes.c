/*
 * POST /v1/mfa/challenge, POST /v1/mfa/step-up.
 */

#include "ngx_svc_login_refused.h"
#include "ngx_svc_methods.h"
#include "ngx_svc_password_text.h"
#include "ngx_svc_stepup_write.h"


static ngx_int_t ngx_svc_stepup_prepare(ngx_svc_request_t *sr);
static ngx_svc_stepup_t *ngx_svc_stepup_create(ngx_svc_request_t *sr,
    ngx_svc_stepup_body_t *body);
static void ngx_svc_stepup_name(ngx_svc_stepup_t *step, ngx_str_t *name);
static ngx_int_t ngx_svc_challenge_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_challenge_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_challenge_send(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_challenge_answer(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_challenge_members_of(ngx_svc_json_writer_t *w,
    ngx_svc_stepup_t *step);
static void ngx_svc_challenge_methods(ngx_svc_json_writer_t *w,
    ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_stepup_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_stepup_method(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body);
static ngx_int_t ngx_svc_stepup_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_stepup_verify(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_stepup_others(ngx_svc_stepup_t *step);
static void ngx_svc_stepup_choose(ngx_svc_stepup_t *step,
    const ngx_svc_method_t *method);
static ngx_int_t ngx_svc_stepup_stage(ngx_svc_stepup_t *step);
static const ngx_svc_method_t *ngx_svc_stepup_proving(ngx_svc_stepup_t *step);


#define ngx_svc_stepup_method_member                                          \
    { .name = ngx_string("method"),                                           \
      .type = NGX_SVC_T_STRING,                                               \
      .min = 1,                                                               \
      .max = 16,                                                              \
      .offset = offsetof(ngx_svc_stepup_body_t, method) }

static const ngx_svc_member_t  ngx_svc_challenge_members[] = {
    ngx_svc_stepup_method_member,
    ngx_svc_null_member
};


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


/* Each method reads what its proof is compared with. */

static ngx_int_t
ngx_svc_stepup_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t               rc;
    ngx_svc_stepup_t       *step;
    ngx_svc_stepup_part_t  *part;

    rc = ngx_svc_route_prepare(sr);
    if (rc != NGX_OK) {
        return rc;
    }

    step = sr->data;

    for (part = step->parts; part->method; part++) {

        if (part->method->stepup->read
            && ngx_svc_route_call(sr, part->method->stepup->read, NULL)
               != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* Returns NULL when memory runs out. */

static ngx_svc_stepup_t *
ngx_svc_stepup_create(ngx_svc_request_t *sr, ngx_svc_stepup_body_t *body)
{
    ngx_uint_t                      n;
    ngx_svc_stepup_t               *step;
    const ngx_svc_method_t *const  *method;

    step = (ngx_svc_stepup_t *)
           ngx_svc_factor_create(sr, sizeof(ngx_svc_stepup_t));
    if (step == NULL) {
        return NULL;
    }

    n = 0;

    for (method = ngx_svc_methods; *method; method++) {

        if ((*method)->stepup && n < NGX_SVC_STEPUP_METHODS) {
            step->parts[n++].method = *method;
        }
    }

    if (body->method.set) {
        ngx_svc_stepup_name(step, &body->method.str);
    }

    return step;
}


static void
ngx_svc_stepup_name(ngx_svc_stepup_t *step, ngx_str_t *name)
{
    ngx_svc_stepup_part_t  *part;

    for (part = step->parts; part->method; part++) {

        if (part->method->name.len == name->len
            && ngx_memcmp(part->method->name.data, name->data, name->len) == 0)
        {
            step->method = part->method;
            step->named = 1;
            return;
        }
    }

    (void) ngx_svc_fail(&step->factor.login.sr->error,
                        NGX_SVC_E_INVALID_VALUE,
                        "\"method\" must be one of the \"methods\" of POST "
                        "/v1/mfa/challenge.");
}


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

    if (step->method && !ngx_svc_stepup_offers(step, step->method)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"method\" is none that the user has.");
        return ngx_svc_send_error(sr);
    }

    for (part = step->parts; step->method == NULL && part->method; part++) {
        if (ngx_svc_stepup_offers(step, part->method)) {
            step->method = part->method;
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
    ngx_int_t               left;
    ngx_str_t               attempts;
    ngx_svc_request_t      *sr;
    ngx_svc_json_writer_t   w;

    sr = step->factor.login.sr;
    attempts = ngx_svc_row_value(step->tried, 0, "attempts");
    left = ngx_svc_setting(NGX_SVC_SET_MFA_CHALLENGE_ATTEMPTS)
           - ngx_atoi(attempts.data, attempts.len);

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

        if (ngx_svc_stepup_offers(step, part->method)) {
            ngx_svc_json_plain(w, NULL, part->method->name.data,
                               part->method->name.len);
        }
    }

    ngx_svc_json_close(w, ']');
}


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
    ngx_svc_stepup_part_t  *part;

    if (body->code.set + body->password.set + body->credential.set != 1) {
        return ngx_svc_fail(&step->factor.login.sr->error,
                            NGX_SVC_E_INVALID_VALUE,
                            "One of \"code\", \"credential\" and "
                            "\"password\" is required.");
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

    return ngx_svc_fail(&step->factor.login.sr->error, NGX_SVC_E_INVALID_VALUE,
                        body->code.set && step->method == NULL
                        ? "\"code\" must be six digits, or a recovery code."
                        : "\"method\" does not go with what is shown.");
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

    for (part = ngx_svc_stepup_part(step, step->method) + 1;
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


static void
ngx_svc_stepup_choose(ngx_svc_stepup_t *step, const ngx_svc_method_t *method)
{
    step->method = method;
    step->factor.method = method->name;
}


/* Returns NGX_OK, or NGX_DECLINED with sr->error set. */

static ngx_int_t
ngx_svc_stepup_stage(ngx_svc_stepup_t *step)
{
    ngx_svc_request_t       *sr;
    const ngx_svc_method_t  *method;

    sr = step->factor.login.sr;

    if (step->factor.ended) {
        return step->factor.locked
               ? ngx_svc_login_locked(sr, step->factor.locked)
               : ngx_svc_session_over(sr);
    }

    if (!step->factor.first) {
        return NGX_OK;
    }

    if (!step->factor.unproved) {
        return ngx_svc_session_pending(sr, NGX_SVC_STAGE_ENROLL);
    }

    method = ngx_svc_stepup_proving(step);

    if (step->method == NULL
        || (step->method->stepup->six_digits && !step->named))
    {
        ngx_svc_stepup_choose(step, method);
    }

    return step->method == method ? NGX_OK
           : ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                          "\"method\" must be \"%V\": the address is to be "
                          "shown.", &method->name);
}


/* The method that proves the user's address; there is one. */

static const ngx_svc_method_t *
ngx_svc_stepup_proving(ngx_svc_stepup_t *step)
{
    ngx_svc_stepup_part_t  *part;

    for (part = step->parts;
         part->method && part->method->stepup->prove == NULL;
         part++)
    { /* void */ }

    return part->method;
}
