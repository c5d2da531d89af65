/*
 * Step-ups by a code that is mailed to the user's address; and the proof that
 * the address is the user's, of a sign-in that waits for its first factor.
 *
 * The code is one of svc.email_challenge, its attempts are the challenge's.
 */

#include "ngx_svc_email_method.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_own_email.h"
#include "ngx_svc_stepup.row.h"
#include "ngx_svc_stepup_write.h"
#include "ngx_svc_totp.h"


#define NGX_SVC_STEPUP_DOTS    "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2"
#define NGX_SVC_EMAIL_HINT     (NGX_SVC_EMAIL_MAX + sizeof(NGX_SVC_STEPUP_DOTS))


static ngx_int_t ngx_svc_email_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body);
static ngx_uint_t ngx_svc_email_stepup_offered(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_email_stepup_verify(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_email_stepup_factor(ngx_svc_stepup_t *step,
    ngx_svc_row_stepup_factors_t *row);
static ngx_int_t ngx_svc_email_stepup_ask(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_email_stepup_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_stepup_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_stepup_prove(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_stepup_proved(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_stepup_ready(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_stepup_hint(ngx_svc_stepup_t *step,
    ngx_svc_json_writer_t *w);


#include "ngx_svc_email_stepup.sql.h"


const ngx_svc_stepup_method_t  ngx_svc_email_stepup = {
    .guessed = 1,
    .six_digits = 1,
    .read = &ngx_svc_sql_stepup_email,
    .use = &ngx_svc_sql_stepup_email_use,
    .ready = ngx_svc_email_stepup_ready,
    .take = ngx_svc_email_stepup_take,
    .offered = ngx_svc_email_stepup_offered,
    .open = ngx_svc_email_stepup_ask,
    .members = ngx_svc_email_stepup_hint,
    .verify = ngx_svc_email_stepup_verify,
    .prove = ngx_svc_email_stepup_prove,
    .proved = ngx_svc_email_stepup_proved
};


/* A code without the method's name is tried as a one-time password first. */

static ngx_int_t
ngx_svc_email_stepup_take(ngx_svc_stepup_t *step, ngx_svc_stepup_body_t *body)
{
    if (!body->code.set || !body->method.set) {
        return NGX_DONE;
    }

    step->code = body->code.str;

    return ngx_svc_totp_shaped(&step->code) ? NGX_OK
           : ngx_svc_fail(&step->factor.login.sr->error,
                          NGX_SVC_E_INVALID_VALUE,
                          "\"code\" must be six digits.");
}


/* A second mail proves nothing more when the sign-in began with a mail. */

static ngx_uint_t
ngx_svc_email_stepup_offered(ngx_svc_stepup_t *step)
{
    ngx_svc_main_conf_t           *smcf;
    ngx_svc_row_stepup_factors_t   row;

    smcf = ngx_http_get_module_main_conf(step->factor.login.sr->request,
                                         ngx_http_svc_common_module);

    return smcf->mail && step->factor.verified && !step->factor.by_mail
           && ngx_svc_email_stepup_factor(step, &row) == NGX_OK;
}


/* Finds the user's factor.  Returns NGX_OK or NGX_DECLINED. */

static ngx_int_t
ngx_svc_email_stepup_factor(ngx_svc_stepup_t *step,
    ngx_svc_row_stepup_factors_t *row)
{
    int  n;

    for (n = 0; n < PQntuples(step->factors); n++) {
        ngx_svc_row_stepup_factors(row, step->factors, n);

        if (row->type.len && row->type.data[0] == 'e') {
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


/* No code is right when none was mailed. */

static ngx_int_t
ngx_svc_email_stepup_verify(ngx_svc_stepup_t *step)
{
    ngx_int_t                      rc;
    ngx_svc_login_t               *login;
    ngx_svc_row_stepup_factors_t   row;

    if (!ngx_svc_stepup_offers(step, &ngx_svc_email_stepup)) {
        return NGX_DECLINED;
    }

    login = &step->factor.login;
    login->mailed.code = step->code;

    rc = ngx_svc_email_challenge_verify(login,
                    ngx_svc_stepup_part(step, &ngx_svc_email_stepup)->res);

    if (rc == NGX_DECLINED || rc == NGX_ABORT) {
        login->sr->error.kind = NGX_SVC_E_NONE;
        return NGX_DECLINED;
    }

    if (rc != NGX_OK || step->factor.first) {
        return rc;
    }

    step->use[0].data = step->use_bytes;
    step->use[0].len = NGX_SVC_UUID_LEN;

    return ngx_svc_email_stepup_factor(step, &row) == NGX_OK
           ? ngx_svc_uuid_parse(row.id.data, row.id.len, step->use_bytes)
           : NGX_ERROR;
}


/*
 * A user who has just proved the address may ask for a code of the factor at
 * once: the two are of different kinds.
 */

static ngx_int_t
ngx_svc_email_stepup_ask(ngx_svc_stepup_t *step)
{
    ngx_svc_login_t             *login;
    ngx_svc_request_t           *sr;
    ngx_svc_row_stepup_tried_t   row;

    login = &step->factor.login;
    sr = login->sr;

    if (ngx_svc_email_stepup_ready(sr) != NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    login->asked.email = step->factor.email;

    ngx_svc_row_stepup_tried(&row, step->tried, 0, 0);
    step->challenge.data = step->challenge_id;
    step->challenge.len = NGX_SVC_UUID_LEN;

    if (ngx_svc_uuid_parse(row.challenge_id.data, row.challenge_id.len,
                           step->challenge_id)
           != NGX_OK
        || ngx_svc_email_challenge_new(login,
                                       step->factor.first ? "verify" : "mfa",
                                       0)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_email_stepup_write,
                                 ngx_svc_email_stepup_written);
}


static ngx_int_t
ngx_svc_email_stepup_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_email_challenge_lock,
        &ngx_svc_sql_own_email_open,
        &ngx_svc_sql_stepup_email_mailed,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_email_stepup_written(ngx_svc_request_t *sr)
{
    ngx_int_t                        rc;
    PGresult                        *res;
    ngx_svc_mail_t                   mail;
    ngx_svc_stepup_t                *step;
    ngx_svc_row_challenge_mailed_t   row;

    step = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_own_email_open);
    ngx_svc_row_challenge_mailed(&row, res, 0, 0);
    step->tried = ngx_svc_result(sr, &ngx_svc_sql_stepup_email_mailed);

    if (PQntuples(step->tried) == 0) {
        (void) ngx_svc_email_challenge_over(sr);
        return ngx_svc_send_error(sr);
    }

    rc = ngx_svc_email_challenge_mail(&step->factor.login, res, NULL, NULL,
                                      &mail);

    if (rc == NGX_OK) {
        mail.kind = NGX_SVC_MAIL_MFA;
        mail.nobody |= (row.user_id.len == 0);

        rc = ngx_svc_email_challenge_send(&step->factor.login, &mail);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    return rc == NGX_OK ? step->opened(step)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_svc_email_stepup_prove(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_stepup_check,
        &ngx_svc_sql_email_challenge_use,
        &ngx_svc_sql_stepup_email_prove,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_email_stepup_proved(ngx_svc_request_t *sr)
{
    ngx_int_t              rc;
    ngx_svc_json_writer_t  w;

    if (!ngx_svc_stepup_used(sr, &ngx_svc_sql_email_challenge_use, &rc)) {
        return rc;
    }

    if (ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 32) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_boolean(&w, "proved", 1);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_email_stepup_ready(ngx_svc_request_t *sr)
{
    return ngx_svc_mail_ready() ? NGX_OK : ngx_svc_email_challenge_away(sr);
}


/* The hint is the first character and the domain of the address. */

static ngx_int_t
ngx_svc_email_stepup_hint(ngx_svc_stepup_t *step, ngx_svc_json_writer_t *w)
{
    u_char     *p, *at, *end;
    u_char      hint[NGX_SVC_EMAIL_HINT];
    ngx_str_t  *email;

    email = &step->factor.email;
    end = email->data + email->len;
    at = ngx_strlchr(email->data, end, '@');

    if (at == NULL || email->len > NGX_SVC_EMAIL_MAX
        || !ngx_svc_stepup_offers(step, &ngx_svc_email_stepup))
    {
        ngx_svc_json_null(w, "emailHint");
        return NGX_OK;
    }

    p = email->data + 1;

    while (p < at && (*p & 0xc0) == 0x80) {
        p++;
    }

    p = ngx_cpymem(hint, email->data, p - email->data);
    p = ngx_cpymem(p, NGX_SVC_STEPUP_DOTS, sizeof(NGX_SVC_STEPUP_DOTS) - 1);
    p = ngx_cpymem(p, at, end - at);

    ngx_svc_json_string(w, "emailHint", hint, p - hint);

    return NGX_OK;
}
