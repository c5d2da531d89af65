/*
 * Step-ups by a one-time password.
 */

#include "ngx_svc_totp_method.h"
#include "ngx_svc_stepup.row.h"
#include "ngx_svc_totp_secret.h"


static ngx_int_t ngx_svc_totp_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body);
static ngx_uint_t ngx_svc_totp_stepup_offered(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_totp_stepup_verify(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_totp_stepup_row(ngx_svc_stepup_t *step,
    const ngx_svc_row_stepup_factors_t *row);
static ngx_int_t ngx_svc_totp_stepup_use(ngx_svc_stepup_t *step,
    int64_t now_step);


#include "ngx_svc_totp_stepup.sql.h"


const ngx_svc_stepup_method_t  ngx_svc_totp_stepup = {
    .guessed = 1,
    .six_digits = 1,
    .use = &ngx_svc_sql_stepup_totp,
    .take = ngx_svc_totp_stepup_take,
    .offered = ngx_svc_totp_stepup_offered,
    .verify = ngx_svc_totp_stepup_verify
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
    int                           n;
    ngx_svc_row_stepup_factors_t  row;

    for (n = 0; n < PQntuples(step->factors); n++) {
        ngx_svc_row_stepup_factors(&row, step->factors, n);

        if (row.secret.data) {
            return 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_svc_totp_stepup_verify(ngx_svc_stepup_t *step)
{
    int                           n;
    ngx_int_t                     rc;
    ngx_uint_t                    lost, wrong;
    ngx_svc_row_stepup_factors_t  row;

    lost = 0;
    wrong = 0;

    for (n = 0; n < PQntuples(step->factors); n++) {
        ngx_svc_row_stepup_factors(&row, step->factors, n);

        if (row.secret.data == NULL) {
            continue;
        }

        rc = ngx_svc_totp_stepup_row(step, &row);

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
ngx_svc_totp_stepup_row(ngx_svc_stepup_t *step,
    const ngx_svc_row_stepup_factors_t *row)
{
    u_char             secret[NGX_SVC_TOTP_SECRET_LEN];
    int64_t            now_step;
    ngx_int_t          rc;
    ngx_svc_login_t   *login;

    login = &step->factor.login;
    now_step = 0;

    rc = ngx_svc_uuid_parse(row->id.data, row->id.len, step->use_bytes);

    if (rc == NGX_OK) {
        rc = ngx_svc_totp_secret_open(login->sr, &login->row, step->use_bytes,
                                      &row->secret, secret);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_totp_verify(secret, &step->code, ngx_time(),
                                 row->last_step, &now_step);
    }

    ngx_explicit_memzero(secret, sizeof(secret));

    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_svc_totp_stepup_use(step, now_step);
}


static ngx_int_t
ngx_svc_totp_stepup_use(ngx_svc_stepup_t *step, int64_t now_step)
{
    u_char  *p;

    p = ngx_pnalloc(step->factor.login.sr->request->pool, NGX_INT64_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    step->use[0].data = step->use_bytes;
    step->use[0].len = NGX_SVC_UUID_LEN;
    step->use[1].data = p;
    step->use[1].len = ngx_sprintf(p, "%L", now_step) - p;

    return NGX_OK;
}
