/*
 * /v1/mfa/email: codes by mail as a second factor, to the user's address.
 */

#include "ngx_svc_column.h"
#include "ngx_svc_email_enroll.row.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_own_email.h"


#define NGX_SVC_MFA_EMAIL_PENDING  3        /* unconfirmed ones, at most */
#define NGX_SVC_MFA_EMAIL_WAIT     30       /* seconds between two mails */

#define NGX_SVC_MFA_EMAIL_NONE                                                \
    "There is no factor with this id that waits to be confirmed."


typedef struct {
    ngx_svc_value_t   code;
} ngx_svc_email_enroll_body_t;


static ngx_int_t ngx_svc_email_enroll_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_email_enroll_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_enroll_able(ngx_svc_factor_t *factor);
static ngx_int_t ngx_svc_email_enroll_open(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_email_enroll_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_enroll_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_enroll_full(ngx_svc_request_t *sr,
    const ngx_svc_row_mfa_email_create_t *row);
static ngx_int_t ngx_svc_email_enroll_send(ngx_svc_factor_t *factor,
    PGresult *res);
static ngx_int_t ngx_svc_email_enroll_confirm_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_email_enroll_confirm_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_enroll_confirm(ngx_svc_request_t *sr);
static void ngx_svc_email_enroll_refused(ngx_svc_request_t *sr, PGresult *res);


static const ngx_svc_member_t  ngx_svc_email_enroll_members[] = {

    { .name = ngx_string("code"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_OWN_EMAIL_CODE,
      .offset = offsetof(ngx_svc_email_enroll_body_t, code) },

    ngx_svc_null_member
};


#include "ngx_svc_email_enroll.sql.h"


const ngx_svc_route_t  ngx_svc_email_enroll[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/mfa/email"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_PENDING_ENROLL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_NO_STORE,
      .check = ngx_svc_email_enroll_check,
      .statements = { &ngx_svc_sql_factor_read },
      .status = NGX_HTTP_ACCEPTED,
      .reply = ngx_svc_email_enroll_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/mfa/email/*/confirm"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_PENDING_ENROLL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_JSON
               |NGX_SVC_ROUTE_SMALL|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_email_enroll_members,
      .body_size = sizeof(ngx_svc_email_enroll_body_t),
      .check = ngx_svc_email_enroll_confirm_check,
      .statements = { &ngx_svc_sql_factor_read,
                      &ngx_svc_sql_mfa_email_pending,
                      &ngx_svc_sql_own_email_try },
      .reply = ngx_svc_email_enroll_confirm_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_email_enroll_check(ngx_svc_request_t *sr, void *body)
{
    if (ngx_svc_factor_create(sr, sizeof(ngx_svc_factor_t)) == NULL) {
        return NGX_ERROR;
    }

    return ngx_svc_mail_ready() ? NGX_OK : ngx_svc_email_challenge_away(sr);
}


static ngx_int_t
ngx_svc_email_enroll_reply(ngx_svc_request_t *sr)
{
    ngx_int_t          rc;
    ngx_svc_factor_t  *factor;

    factor = sr->data;

    rc = ngx_svc_factor_read(factor,
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return ngx_svc_login_unread(sr, rc);
    }

    if (ngx_svc_factor_room(factor) != NGX_OK
        || ngx_svc_email_enroll_able(factor) != NGX_OK)
    {
        return ngx_svc_send_error(sr);
    }

    factor->login.limit.family = NGX_SVC_LIMIT_LOGIN;

    return ngx_svc_login_limit_then(&factor->login, ngx_svc_email_enroll_open);
}


/*
 * Tells whether the user may have codes by mail.  Returns NGX_OK, or
 * NGX_DECLINED with sr->error set.
 */

static ngx_int_t
ngx_svc_email_enroll_able(ngx_svc_factor_t *factor)
{
    ngx_svc_error_t  *err;

    err = &factor->login.sr->error;

    if (!factor->verified) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "The address must be verified first: POST "
                            "/v1/auth/email/verify/start.");
    }

    if (factor->by_mail && !factor->login.read.enrolled) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "Who signs in by mail needs another factor.");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_email_enroll_open(ngx_svc_login_t *login)
{
    if (ngx_svc_email_challenge_new(login, "mfa", 0) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(login->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_email_enroll_write,
                                 ngx_svc_email_enroll_written);
}


static ngx_int_t
ngx_svc_email_enroll_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_factor_check,
        &ngx_svc_sql_email_challenge_lock,
        &ngx_svc_sql_own_email_open,
        &ngx_svc_sql_mfa_email_create,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_email_enroll_written(ngx_svc_request_t *sr)
{
    ngx_int_t                        rc;
    PGresult                        *res;
    ngx_svc_mail_t                   mail;
    ngx_svc_row_mfa_email_create_t   row;

    if (!ngx_svc_factor_checked(sr)) {
        return ngx_svc_factor_ended(sr);
    }

    ngx_svc_row_mfa_email_create(&row,
                       ngx_svc_result(sr, &ngx_svc_sql_mfa_email_create), 0);

    if (row.id.data == NULL) {
        return ngx_svc_email_enroll_full(sr, &row);
    }

    res = ngx_svc_result(sr, &ngx_svc_sql_own_email_open);

    rc = ngx_svc_email_challenge_mail(sr->data, res, NULL, NULL, &mail);

    if (rc == NGX_OK) {
        mail.kind = NGX_SVC_MAIL_MFA;
        rc = ngx_svc_email_challenge_send(sr->data, &mail);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    return rc == NGX_OK ? ngx_svc_email_enroll_send(sr->data, res)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_svc_email_enroll_full(ngx_svc_request_t *sr,
    const ngx_svc_row_mfa_email_create_t *row)
{
    if (row->mailed) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CONFLICT,
                            "Codes by mail are a factor already.");

    } else if (row->full) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_LIMIT_EXCEEDED,
                            "There are " ngx_value(NGX_SVC_FACTORS) " second "
                            "factors: remove one.");

    } else if (row->pending) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_LIMIT_EXCEEDED,
                            ngx_value(NGX_SVC_MFA_EMAIL_PENDING) " factors "
                            "wait to be confirmed: remove one, or try again "
                            "in 15 minutes.");

    } else {
        sr->retry_after = NGX_SVC_MFA_EMAIL_WAIT;
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_RATE_LIMITED,
                            "Too many mails: use the code that has been sent, "
                            "or try again later.");
    }

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_email_enroll_send(ngx_svc_factor_t *factor, PGresult *res)
{
    ngx_svc_request_t      *sr;
    ngx_svc_json_writer_t   w;

    sr = factor->login.sr;

    if (ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 128) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_column_text(&w, "id", res, 0, ngx_svc_row_find(res, "challengeId"));
    ngx_svc_column_time(&w, "expiresAt", res, 0,
                        ngx_svc_row_find(res, "expiresAt"));
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_ACCEPTED, &w, NULL);
}


/* The statement that looks for the id answers 404 to a text that is no id. */

static ngx_int_t
ngx_svc_email_enroll_confirm_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_value_t            id, token;
    ngx_svc_factor_t          *factor;
    ngx_svc_email_enroll_body_t  *members = body;

    factor = ngx_svc_factor_create(sr, sizeof(ngx_svc_factor_t));
    if (factor == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(&id, sizeof(ngx_svc_value_t));
    ngx_memzero(&token, sizeof(ngx_svc_value_t));

    id.set = 1;
    id.str = sr->params[0];

    factor->refused = ngx_svc_email_enroll_refused;
    ngx_str_set(&factor->method, "email");

    return ngx_svc_email_challenge_take(&factor->login, "mfa", &id,
                                        &members->code, &token);
}


static ngx_int_t
ngx_svc_email_enroll_confirm_reply(ngx_svc_request_t *sr)
{
    ngx_int_t          rc;
    ngx_svc_factor_t  *factor;

    factor = sr->data;

    rc = ngx_svc_factor_read(factor,
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return ngx_svc_login_unread(sr, rc);
    }

    if (ngx_svc_factor_proved(factor) != NGX_OK
        || ngx_svc_email_enroll_able(factor) != NGX_OK)
    {
        return ngx_svc_send_error(sr);
    }

    rc = ngx_svc_email_challenge_verify(&factor->login,
                              ngx_svc_result(sr, &ngx_svc_sql_own_email_try));

    factor->id = factor->login.mailed.id;

    switch (rc) {

    case NGX_OK:
        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_email_enroll_confirm,
                                     ngx_svc_factor_added);

    case NGX_ERROR:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;

    default: /* NGX_DECLINED, NGX_ABORT */
        return ngx_svc_send_error(sr);
    }
}


static ngx_int_t
ngx_svc_email_enroll_confirm(ngx_svc_request_t *sr)
{
    return ngx_svc_factor_add(sr, &ngx_svc_sql_mfa_email_confirm);
}


/* The factor was confirmed by another request, or the address has changed. */

static void
ngx_svc_email_enroll_refused(ngx_svc_request_t *sr, PGresult *res)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                        NGX_SVC_MFA_EMAIL_NONE);
}
