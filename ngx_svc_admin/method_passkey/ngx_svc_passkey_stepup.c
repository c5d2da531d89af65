/*
 * Step-ups by a passkey.
 */

#include "ngx_svc_stepup.h"
#include "ngx_svc_webauthn_options.h"


static ngx_int_t ngx_svc_passkey_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body);
static ngx_int_t ngx_svc_passkey_stepup_own(ngx_svc_stepup_t *step);
static ngx_uint_t ngx_svc_passkey_stepup_offered(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_passkey_stepup_options(ngx_svc_stepup_t *step,
    ngx_svc_json_writer_t *w);
static ngx_int_t ngx_svc_passkey_stepup_verify(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_passkey_stepup_signed(ngx_svc_stepup_t *step);


#include "ngx_svc_passkey_stepup.sql.h"


const ngx_svc_stepup_method_t  ngx_svc_passkey_stepup = {
    .name = ngx_string("passkey"),
    .use = &ngx_svc_sql_stepup_passkey,
    .take = ngx_svc_passkey_stepup_take,
    .offered = ngx_svc_passkey_stepup_offered,
    .options = ngx_svc_passkey_stepup_options,
    .verify = ngx_svc_passkey_stepup_verify
};


static ngx_int_t
ngx_svc_passkey_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body)
{
    if (!body->credential.set) {
        return NGX_DONE;
    }

    step->credential = body->credential.json;

    return NGX_OK;
}


/* NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR. */

static ngx_int_t
ngx_svc_passkey_stepup_own(ngx_svc_stepup_t *step)
{
    if (step->own.ceremony.session) {
        return NGX_OK;
    }

    return ngx_svc_ceremony_own(step->factor.login.sr,
                                NGX_SVC_WEBAUTHN_STEP_UP, step->passkeys,
                                &step->own);
}


static ngx_uint_t
ngx_svc_passkey_stepup_offered(ngx_svc_stepup_t *step)
{
    if (ngx_svc_passkey_stepup_own(step) != NGX_OK) {
        step->factor.login.sr->error.kind = NGX_SVC_E_NONE;
        return 0;
    }

    return step->own.n != 0;
}


static ngx_int_t
ngx_svc_passkey_stepup_options(ngx_svc_stepup_t *step,
    ngx_svc_json_writer_t *w)
{
    u_char  challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN];

    if (ngx_svc_webauthn_challenge(&step->own.ceremony, challenge) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_webauthn_request_options(w, "publicKey", &step->own.ceremony,
                                     challenge, step->own.passkeys,
                                     step->own.n);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_passkey_stepup_verify(ngx_svc_stepup_t *step)
{
    ngx_int_t           rc;
    ngx_svc_error_t     err;
    ngx_svc_login_t    *login;
    ngx_svc_request_t  *sr;

    login = &step->factor.login;
    sr = login->sr;
    err.kind = NGX_SVC_E_NONE;

    ngx_str_set(&login->written.reason, "wrong");

    rc = ngx_svc_passkey_stepup_own(step);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? NGX_ABORT : NGX_ERROR;
    }

    rc = ngx_svc_webauthn_assertion(sr->request->pool, step->credential,
                                    &step->own.ceremony,
                                    &step->shown.assertion, &err);

    if (rc == NGX_DONE) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CHALLENGE,
                            "The challenge is too old: POST "
                            "/v1/mfa/challenge.");
        return NGX_ABORT;
    }

    return rc == NGX_OK ? ngx_svc_passkey_stepup_signed(step) : rc;
}


/* A user handle need not be there: the session says whose it is. */

static ngx_int_t
ngx_svc_passkey_stepup_signed(ngx_svc_stepup_t *step)
{
    ngx_int_t                      rc;
    ngx_str_t                     *user;
    ngx_uint_t                     i;
    ngx_svc_stored_row_t          *row;
    ngx_svc_webauthn_assertion_t  *assertion;

    assertion = &step->shown.assertion;
    user = &assertion->user;
    row = &step->factor.login.row;

    if (user->len
        && (user->len != 2 * NGX_SVC_UUID_LEN
            || ngx_memcmp(user->data, row->tenant, NGX_SVC_UUID_LEN) != 0
            || ngx_memcmp(user->data + NGX_SVC_UUID_LEN, row->user,
                          NGX_SVC_UUID_LEN)
               != 0))
    {
        return NGX_DECLINED;
    }

    for (i = 0; i < step->own.n; i++) {

        rc = ngx_svc_webauthn_verify(assertion, &step->own.ceremony,
                                     &step->own.passkeys[i]);

        if (rc == NGX_OK) {
            if (!step->own.passkeys[i].be) {
                ngx_str_set(&step->factor.more,
                            "{" NGX_SVC_SIGNIN_HARDWARE "}");
            }

            return ngx_svc_ceremony_shown(&step->shown);
        }

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }
    }

    if (assertion->cloned) {
        ngx_str_set(&step->factor.login.written.reason, "passkey_cloned");
    }

    return NGX_DECLINED;
}
