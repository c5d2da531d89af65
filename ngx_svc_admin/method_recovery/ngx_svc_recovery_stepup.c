/*
 * Recovery codes, which stand in for a second factor once each.
 */

#include "ngx_svc_hex.h"
#include "ngx_svc_method.h"
#include "ngx_svc_sealed.h"


static ngx_int_t ngx_svc_recovery_stepup_take(ngx_svc_stepup_t *step,
    ngx_svc_stepup_body_t *body);
static ngx_uint_t ngx_svc_recovery_stepup_offered(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_recovery_stepup_verify(ngx_svc_stepup_t *step);
static ngx_int_t ngx_svc_recovery_stepup_lost(ngx_svc_stepup_t *step);
static ngx_uint_t ngx_svc_recovery_stepup_find(ngx_svc_stepup_t *step,
    const u_char *mac);
static PGresult *ngx_svc_recovery_stepup_codes(ngx_svc_stepup_t *step);


#include "ngx_svc_recovery_stepup.sql.h"


static const ngx_svc_stepup_method_t  ngx_svc_recovery_stepup = {
    .guessed = 1,
    .read = &ngx_svc_sql_stepup_codes,
    .use = &ngx_svc_sql_stepup_recovery,
    .take = ngx_svc_recovery_stepup_take,
    .offered = ngx_svc_recovery_stepup_offered,
    .verify = ngx_svc_recovery_stepup_verify
};

const ngx_svc_method_t  ngx_svc_recovery_method = {
    .name = ngx_string("recovery"),
    .proof = NGX_SVC_METHOD_CODE,
    .amr = "otp",
    .stepup = &ngx_svc_recovery_stepup
};


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
    return PQntuples(ngx_svc_recovery_stepup_codes(step)) > 0;
}


/* The code's MAC was made with one of the keys that there were at the time. */

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
                                     step->use_bytes);
        if (rc == NGX_DONE) {
            return ngx_svc_recovery_stepup_lost(step);
        }

        if (rc != NGX_OK) {
            return rc;
        }

        if (ngx_svc_recovery_stepup_find(step, step->use_bytes)) {
            step->use[0].data = step->use_bytes;
            step->use[0].len = NGX_SVC_SHA256_LEN;
            return NGX_OK;
        }
    }
}


/*
 * Returns NGX_ERROR when a code's key is not there: nobody knows whether what
 * was presented is that code.
 */

static ngx_int_t
ngx_svc_recovery_stepup_lost(ngx_svc_stepup_t *step)
{
    int                          n;
    PGresult                    *codes;
    ngx_svc_login_t             *login;
    ngx_svc_row_stepup_codes_t   row;

    codes = ngx_svc_recovery_stepup_codes(step);
    login = &step->factor.login;

    for (n = 0; n < PQntuples(codes); n++) {
        ngx_svc_row_stepup_codes(&row, codes, n);

        if (row.key_id.data && !ngx_svc_sealed_key_there(&row.key_id)) {
            ngx_svc_sealed_key_lost(login->sr, "the recovery code of a user",
                                    login->row.tenant, &row.key_id);
            return NGX_ERROR;
        }
    }

    return NGX_DECLINED;
}


static ngx_uint_t
ngx_svc_recovery_stepup_find(ngx_svc_stepup_t *step, const u_char *mac)
{
    int                          n;
    size_t                       len;
    u_char                       stored[NGX_SVC_SHA256_LEN];
    PGresult                    *codes;
    ngx_uint_t                   found;
    ngx_svc_row_stepup_codes_t   row;

    found = 0;
    codes = ngx_svc_recovery_stepup_codes(step);

    for (n = 0; n < PQntuples(codes); n++) {
        ngx_svc_row_stepup_codes(&row, codes, n);
        len = sizeof(stored);

        if (ngx_svc_hex_bytea(&row.mac, stored, &len) == NGX_OK
            && len == sizeof(stored))
        {
            found |= ngx_svc_equal(stored, mac, sizeof(stored));
        }
    }

    return found;
}


static PGresult *
ngx_svc_recovery_stepup_codes(ngx_svc_stepup_t *step)
{
    return ngx_svc_stepup_part(step, &ngx_svc_recovery_stepup)->res;
}
