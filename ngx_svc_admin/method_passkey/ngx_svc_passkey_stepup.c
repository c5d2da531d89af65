/*
 * Step-ups by a passkey.
 */

#include "ngx_svc_passkey_method.h"
#include "ngx_svc_ceremony.h"
#include "ngx_svc_webauthn_options.h"


/* What a step-up has of it, in its part; of the request's pool. */

typedef struct {
    cJSON                         *credential;
    ngx_svc_ceremony_own_t         own;         /* the user's passkeys */
    ngx_svc_ceremony_presented_t   presented;
} ngx_svc_passkey_stepup_t;

/* Where the strings are that its "use" binds. */

enum {
    NGX_SVC_PASSKEY_USE_ID = 0,
    NGX_SVC_PASSKEY_USE_COUNT,
    NGX_SVC_PASSKEY_USE_BS,
    NGX_SVC_PASSKEY_USE_CHALLENGE,
    NGX_SVC_PASSKEY_USE_EXPIRES
};


static ngx_int_t ngx_svc_passkey_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body);
static ngx_svc_passkey_stepup_t *ngx_svc_passkey_stepup_ctx(
    ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_passkey_stepup_own(ngx_svc_stepup_t *step,
    ngx_svc_passkey_stepup_t *p);
static ngx_uint_t ngx_svc_passkey_stepup_offered(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_passkey_stepup_options(ngx_svc_stepup_t *step,
    ngx_svc_json_writer_t *w);
static ngx_int_t ngx_svc_passkey_stepup_verify(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_passkey_stepup_signed(ngx_svc_stepup_t *step,
    ngx_svc_passkey_stepup_t *p);
static ngx_int_t ngx_svc_passkey_stepup_use(ngx_svc_stepup_t *step,
    ngx_svc_ceremony_presented_t *presented);


#include "ngx_svc_passkey_stepup.sql.h"


const ngx_svc_stepup_method_t  ngx_svc_passkey_stepup = {
    .read = &ngx_svc_sql_ceremony_own,
    .use = &ngx_svc_sql_stepup_passkey,
    .wrong = &ngx_svc_sql_stepup_passkey_wrong,
    .take = ngx_svc_passkey_stepup_take,
    .offered = ngx_svc_passkey_stepup_offered,
    .members = ngx_svc_passkey_stepup_options,
    .verify = ngx_svc_passkey_stepup_verify
};


static ngx_svc_passkey_stepup_t *
ngx_svc_passkey_stepup_ctx(ngx_svc_stepup_t *step)
{
    return ngx_svc_stepup_ctx(step, &ngx_svc_passkey_stepup,
                              sizeof(ngx_svc_passkey_stepup_t));
}


static ngx_int_t
ngx_svc_passkey_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body)
{
    ngx_svc_passkey_stepup_t  *p;

    if (!body->credential.set) {
        return NGX_DONE;
    }

    p = ngx_svc_passkey_stepup_ctx(step);
    if (p == NULL) {
        return NGX_ERROR;
    }

    p->credential = body->credential.json;

    return NGX_OK;
}


/* Returns NGX_OK, NGX_DECLINED with sr->error set, or NGX_ERROR. */

static ngx_int_t
ngx_svc_passkey_stepup_own(ngx_svc_stepup_t *step, ngx_svc_passkey_stepup_t *p)
{
    if (p->own.ceremony.session) {
        return NGX_OK;
    }

    return ngx_svc_ceremony_own(step->factor.login.sr,
                                NGX_SVC_WEBAUTHN_STEP_UP,
                        ngx_svc_stepup_part(step, &ngx_svc_passkey_stepup)->res,
                                &p->own);
}


static ngx_uint_t
ngx_svc_passkey_stepup_offered(ngx_svc_stepup_t *step)
{
    ngx_svc_passkey_stepup_t  *p;

    p = ngx_svc_passkey_stepup_ctx(step);

    if (p == NULL || ngx_svc_passkey_stepup_own(step, p) != NGX_OK) {
        step->factor.login.sr->error.kind = NGX_SVC_E_NONE;
        return 0;
    }

    return p->own.n != 0;
}


static ngx_int_t
ngx_svc_passkey_stepup_options(ngx_svc_stepup_t *step,
    ngx_svc_json_writer_t *w)
{
    u_char                     challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN];
    ngx_svc_passkey_stepup_t  *p;

    if (step->method == NULL
        || step->method->stepup != &ngx_svc_passkey_stepup)
    {
        ngx_svc_json_null(w, "publicKey");
        return NGX_OK;
    }

    p = ngx_svc_passkey_stepup_ctx(step);

    if (p == NULL
        || ngx_svc_webauthn_challenge(&p->own.ceremony, challenge) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_webauthn_request_options(w, "publicKey", &p->own.ceremony,
                                     challenge, p->own.passkeys, p->own.n);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_passkey_stepup_verify(ngx_svc_stepup_t *step)
{
    ngx_int_t                  rc;
    ngx_svc_error_t            err;
    ngx_svc_login_t           *login;
    ngx_svc_request_t         *sr;
    ngx_svc_passkey_stepup_t  *p;

    login = &step->factor.login;
    sr = login->sr;
    err.kind = NGX_SVC_E_NONE;

    ngx_str_set(&login->written.reason, "wrong");

    p = ngx_svc_passkey_stepup_ctx(step);
    if (p == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_passkey_stepup_own(step, p);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? NGX_ABORT : NGX_ERROR;
    }

    rc = ngx_svc_webauthn_assertion(sr->request->pool, p->credential,
                                    &p->own.ceremony, &p->presented.assertion,
                                    &err);

    if (rc == NGX_DONE) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CHALLENGE,
                            "The challenge is too old: POST "
                            "/v1/mfa/challenge.");
        return NGX_ABORT;
    }

    return rc == NGX_OK ? ngx_svc_passkey_stepup_signed(step, p) : rc;
}


/* The user handle may be missing: the session says who the user is. */

static ngx_int_t
ngx_svc_passkey_stepup_signed(ngx_svc_stepup_t *step,
    ngx_svc_passkey_stepup_t *p)
{
    ngx_int_t                      rc;
    ngx_str_t                     *user;
    ngx_uint_t                     i;
    ngx_svc_stored_row_t          *row;
    ngx_svc_webauthn_assertion_t  *assertion;

    assertion = &p->presented.assertion;
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

    for (i = 0; i < p->own.n; i++) {

        rc = ngx_svc_webauthn_verify(assertion, &p->own.ceremony,
                                     &p->own.passkeys[i]);

        if (rc == NGX_OK) {
            if (!p->own.passkeys[i].be) {
                ngx_str_set(&step->factor.more,
                            "{" NGX_SVC_SIGNIN_HARDWARE "}");
            }

            return ngx_svc_passkey_stepup_use(step, &p->presented);
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


static ngx_int_t
ngx_svc_passkey_stepup_use(ngx_svc_stepup_t *step,
    ngx_svc_ceremony_presented_t *presented)
{
    if (ngx_svc_ceremony_presented(presented) != NGX_OK) {
        return NGX_ERROR;
    }

    step->use[NGX_SVC_PASSKEY_USE_ID] = presented->id;
    step->use[NGX_SVC_PASSKEY_USE_COUNT] = presented->count;
    step->use[NGX_SVC_PASSKEY_USE_BS] = presented->bs;
    step->use[NGX_SVC_PASSKEY_USE_CHALLENGE] = presented->used;
    step->use[NGX_SVC_PASSKEY_USE_EXPIRES] = presented->expires;

    return NGX_OK;
}
