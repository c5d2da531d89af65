/*
 * Step-ups by a code: a one-time password, or a recovery code.
 */

#include "ngx_svc_totp_secret.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_sealed.h"
#include "ngx_svc_stepup.h"


static ngx_int_t ngx_svc_totp_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body);
static ngx_uint_t ngx_svc_totp_stepup_offered(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_totp_stepup_verify(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_totp_stepup_row(ngx_svc_stepup_t *step, int row);
static ngx_int_t ngx_svc_recovery_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body);
static ngx_uint_t ngx_svc_recovery_stepup_offered(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_recovery_stepup_verify(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_recovery_stepup_lost(ngx_svc_stepup_t *step);
static ngx_uint_t ngx_svc_recovery_stepup_find(ngx_svc_stepup_t *step,
    const u_char *mac);


#include "ngx_svc_totp_stepup.sql.h"


const ngx_svc_stepup_method_t  ngx_svc_totp_stepup = {
    .name = ngx_string("totp"),
    .guessed = 1,
    .use = &ngx_svc_sql_stepup_totp,
    .other = &ngx_svc_email_stepup,
    .take = ngx_svc_totp_stepup_take,
    .offered = ngx_svc_totp_stepup_offered,
    .verify = ngx_svc_totp_stepup_verify
};

const ngx_svc_stepup_method_t  ngx_svc_recovery_stepup = {
    .name = ngx_string("recovery"),
    .guessed = 1,
    .use = &ngx_svc_sql_stepup_recovery,
    .take = ngx_svc_recovery_stepup_take,
    .offered = ngx_svc_recovery_stepup_offered,
    .verify = ngx_svc_recovery_stepup_verify
};


static ngx_int_t
ngx_svc_totp_stepup_take(ngx_svc_stepup_t *step, ngx_svc_stepup_body_t *body)
{
    step->code = body->code.str;

    if (!body->code.set) {
        return NGX_DONE;
    }

    if (ngx_svc_totp_shaped(&step->code)) {
        return NGX_OK;
    }

    return !body->method.set ? NGX_DONE
           : ngx_svc_fail(&step->factor.login.sr->error,
                          NGX_SVC_E_INVALID_VALUE,
                          "\"code\" must be six digits.");
}


static ngx_uint_t
ngx_svc_totp_stepup_offered(ngx_svc_stepup_t *step)
{
    int  row;

    for (row = 0; row < PQntuples(step->factors); row++) {
        if (ngx_svc_row_value(step->factors, row, "secret").data) {
            return 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_svc_totp_stepup_verify(ngx_svc_stepup_t *step)
{
    int         row;
    ngx_int_t   rc;
    ngx_uint_t  lost, wrong;

    lost = 0;
    wrong = 0;

    for (row = 0; row < PQntuples(step->factors); row++) {

        if (ngx_svc_row_value(step->factors, row, "secret").data == NULL) {
            continue;
        }

        rc = ngx_svc_totp_stepup_row(step, row);

        if (rc == NGX_ABORT) {
            lost = 1;
            continue;
        }

        if (rc != NGX_DECLINED) {
            return rc;
        }

        wrong = 1;
    }

    /*
     * It may be that of a factor which cannot be read; but where there is one
     * that can, it has been a guess at that, and counts.
     */

    return (lost && !wrong) ? NGX_ERROR : NGX_DECLINED;
}


static ngx_int_t
ngx_svc_totp_stepup_row(ngx_svc_stepup_t *step, int row)
{
    u_char             secret[NGX_SVC_TOTP_SECRET_LEN];
    int64_t            now_step;
    ngx_int_t          rc;
    ngx_str_t          id, hex, last;
    ngx_svc_login_t   *login;

    login = &step->factor.login;
    now_step = 0;

    id = ngx_svc_row_value(step->factors, row, "id");
    hex = ngx_svc_row_value(step->factors, row, "secret");
    last = ngx_svc_row_value(step->factors, row, "last_step");

    rc = ngx_svc_uuid_parse(id.data, id.len, step->used_bytes);

    if (rc == NGX_OK) {
        rc = ngx_svc_totp_secret_open(login->sr, &login->row, step->used_bytes,
                                 &hex, secret);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_totp_verify(secret, &step->code, ngx_time(),
                                 ngx_atoof(last.data, last.len), &now_step);
    }

    ngx_explicit_memzero(secret, sizeof(secret));

    if (rc != NGX_OK) {
        return rc;
    }

    step->used.data = step->used_bytes;
    step->used.len = NGX_SVC_UUID_LEN;
    step->step.data = step->step_text;
    step->step.len = ngx_sprintf(step->step_text, "%L", now_step)
                     - step->step_text;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_recovery_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body)
{
    u_char  code[NGX_SVC_RECOVERY_LEN];

    step->code = body->code.str;

    if (!body->code.set) {
        return NGX_DONE;
    }

    if (ngx_svc_recovery_parse(&step->code, code) == NGX_OK) {
        return NGX_OK;
    }

    return !body->method.set ? NGX_DONE
           : ngx_svc_fail(&step->factor.login.sr->error,
                          NGX_SVC_E_INVALID_VALUE,
                          "\"code\" must be a recovery code, such as "
                          "\"k7f2m-9xq4t\".");
}


static ngx_uint_t
ngx_svc_recovery_stepup_offered(ngx_svc_stepup_t *step)
{
    return PQntuples(step->codes) > 0;
}


/* Under the key that it was made with, whichever of them that is. */

static ngx_int_t
ngx_svc_recovery_stepup_verify(ngx_svc_stepup_t *step)
{
    u_char      code[NGX_SVC_RECOVERY_LEN];
    ngx_int_t   rc;
    ngx_uint_t  n;

    if (ngx_svc_recovery_parse(&step->code, code) != NGX_OK) {
        return NGX_DECLINED;
    }

    for (n = 0; /* void */ ; n++) {
        rc = ngx_svc_factor_code_mac(&step->factor.login, n, code,
                                     step->used_bytes);
        if (rc == NGX_DONE) {
            return ngx_svc_recovery_stepup_lost(step);
        }

        if (rc != NGX_OK) {
            return rc;
        }

        if (ngx_svc_recovery_stepup_find(step, step->used_bytes)) {
            step->used.data = step->used_bytes;
            step->used.len = NGX_SVC_SHA256_LEN;
            return NGX_OK;
        }
    }
}


/* Whether it may be a code whose key is not there: then nobody knows. */

static ngx_int_t
ngx_svc_recovery_stepup_lost(ngx_svc_stepup_t *step)
{
    int               row;
    ngx_str_t         key;
    ngx_svc_login_t  *login;

    login = &step->factor.login;

    for (row = 0; row < PQntuples(step->codes); row++) {
        key = ngx_svc_row_value(step->codes, row, "key_id");

        if (key.data && !ngx_svc_sealed_key_there(&key)) {
            ngx_svc_sealed_key_lost(login->sr, "the recovery code of a user",
                                    login->row.tenant, &key);
            return NGX_ERROR;
        }
    }

    return NGX_DECLINED;
}


static ngx_uint_t
ngx_svc_recovery_stepup_find(ngx_svc_stepup_t *step, const u_char *mac)
{
    int         row;
    size_t      len;
    u_char      stored[NGX_SVC_SHA256_LEN];
    ngx_str_t   hex;
    ngx_uint_t  found;

    found = 0;

    for (row = 0; row < PQntuples(step->codes); row++) {
        hex = ngx_svc_row_value(step->codes, row, "mac");
        len = sizeof(stored);

        if (ngx_svc_hex_bytea(&hex, stored, &len) == NGX_OK
            && len == sizeof(stored))
        {
            found |= ngx_svc_equal(stored, mac, sizeof(stored));
        }
    }

    return found;
}
