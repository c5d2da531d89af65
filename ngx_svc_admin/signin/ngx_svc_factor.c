/*
 * Second factors of the user of a session.
 */

#include "ngx_svc_factor.h"
#include "ngx_svc_factor.row.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_mac.h"
#include "ngx_svc_notice.h"


static void ngx_svc_factor_stage(ngx_svc_factor_t *factor,
    const ngx_svc_row_factor_read_t *row);
static ngx_int_t ngx_svc_factor_user(ngx_svc_factor_t *factor,
    const ngx_svc_row_factor_read_t *row);
static void ngx_svc_factor_committed(const ngx_svc_pg_results_t *results);
static void ngx_svc_factor_signed_in(const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_factor_cookies(ngx_svc_factor_t *factor);
static ngx_int_t ngx_svc_factor_bind_reauth(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_factor.sql.h"


static ngx_svc_factor_keys_t  ngx_svc_factor_recovery;


ngx_int_t
ngx_svc_factor_init_worker(const ngx_svc_keys_t *keys)
{
    return ngx_svc_factor_derive(&ngx_svc_factor_recovery, keys, "recovery");
}


void
ngx_svc_factor_exit_worker(void)
{
    ngx_explicit_memzero(&ngx_svc_factor_recovery,
                         sizeof(ngx_svc_factor_recovery));
}


ngx_int_t
ngx_svc_factor_derive(ngx_svc_factor_keys_t *derived,
    const ngx_svc_keys_t *keys, const char *label)
{
    ngx_uint_t  i;

    for (i = 0; i < keys->n; i++) {
        if (ngx_svc_mac_derive(&keys->keys[i], label, derived->keys[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    derived->n = keys->n;
    derived->first = keys->keys;

    return NGX_OK;
}


ngx_svc_factor_t *
ngx_svc_factor_create(ngx_svc_request_t *sr, size_t size)
{
    ngx_svc_factor_t  *factor;

    factor = ngx_pcalloc(sr->request->pool, size);
    if (factor == NULL) {
        return NULL;
    }

    factor->login.sr = sr;
    factor->login.written.factor = 1;
    factor->status = NGX_HTTP_OK;
    sr->data = factor;

    return ngx_svc_login_take_client(&factor->login, NULL) == NGX_OK ? factor
                                                                     : NULL;
}


ngx_int_t
ngx_svc_factor_read(ngx_svc_factor_t *factor, PGresult *res)
{
    ngx_svc_login_t            *login;
    ngx_svc_row_factor_read_t   row;

    login = &factor->login;
    ngx_svc_row_factor_read(&row, res, 0);

    if (PQntuples(res) == 0 || ngx_svc_factor_user(factor, &row) != NGX_OK) {
        return NGX_ERROR;
    }

    login->read.enrolled = row.mfa_enrolled;
    login->password.expired = row.expired;

    /* the tenant is the session's, even if the Host is another's domain */

    ngx_str_set(&login->asked.host, "-");

    factor->locked = ngx_max(row.locked, 0);
    factor->total = row.total;
    factor->unconfirmed = row.unconfirmed;
    factor->forced = row.forced;

    ngx_svc_factor_stage(factor, &row);

    return ngx_svc_login_bars(login, &row.login_session.login_bars);
}


static void
ngx_svc_factor_stage(ngx_svc_factor_t *factor,
    const ngx_svc_row_factor_read_t *row)
{
    u_char                stage;
    ngx_svc_login_t      *login;
    ngx_svc_main_conf_t  *smcf;

    login = &factor->login;
    stage = row->stage.len ? row->stage.data[0] : 'f';
    smcf = ngx_http_get_module_main_conf(login->sr->request,
                                         ngx_http_svc_common_module);

    factor->enrolling = stage != 'f';
    factor->first = stage == 'e';
    factor->ended = stage == 'l';
    factor->verified = row->verified;
    factor->by_mail = row->by_mail;
    factor->unproved = factor->first && smcf->mail && !factor->by_mail
                       && !row->proved;

    login->stage = (factor->enrolling && login->password.expired)
                   ? NGX_SVC_STAGE_PASSWORD : NGX_SVC_STAGE_FULL;
    login->written.stage = ngx_svc_stages[login->stage];
}


static ngx_int_t
ngx_svc_factor_user(ngx_svc_factor_t *factor,
    const ngx_svc_row_factor_read_t *row)
{
    ngx_svc_login_t  *login;

    login = &factor->login;

    if (ngx_svc_login_take_user(login, &row->login_session) != NGX_OK
        || ngx_svc_login_copy(login, &factor->email, row->login_session.email)
           != NGX_OK
        || ngx_svc_login_copy(login, &factor->tenant_name, row->name) != NGX_OK
        || ngx_svc_login_copy(login, &login->asked.slug, row->slug) != NGX_OK
        || ngx_svc_login_copy(login, &factor->hash, row->hash) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_factor_proved(ngx_svc_factor_t *factor)
{
    return !factor->unproved ? NGX_OK
           : ngx_svc_fail(&factor->login.sr->error, NGX_SVC_E_STEP_UP,
                          "The address must be shown first: POST "
                          "/v1/mfa/challenge with the method \"email\".");
}


ngx_int_t
ngx_svc_factor_room(ngx_svc_factor_t *factor)
{
    if (ngx_svc_factor_proved(factor) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (factor->total < NGX_SVC_FACTORS) {
        return NGX_OK;
    }

    return ngx_svc_fail(&factor->login.sr->error, NGX_SVC_E_LIMIT_EXCEEDED,
                        "There are " ngx_value(NGX_SVC_FACTORS) " second "
                        "factors: remove one.");
}


/* The same write completes a sign-in that has waited for the factor. */

ngx_int_t
ngx_svc_factor_add(ngx_svc_request_t *sr, const ngx_svc_pg_statement_t *store)
{
    ngx_int_t          rc;
    ngx_svc_factor_t  *factor;

    const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_factor_check,
        store,
        &ngx_svc_sql_factor_added,
        &ngx_svc_sql_factor_rotate,
        NULL
    };

    factor = sr->data;
    factor->store = store;

    if (ngx_svc_factor_codes(factor) != NGX_OK
        || ngx_svc_signin_key(&factor->login.session, factor->login.row.tenant)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    sr->op->committed = ngx_svc_factor_committed;
    rc = ngx_svc_login_calls(sr, list);

    if (rc == NGX_OK && factor->enrolling
        && factor->login.stage == NGX_SVC_STAGE_FULL)
    {
        sr->op->committed = ngx_svc_factor_signed_in;
        rc = ngx_svc_login_complete(sr);
    }

    return rc;
}


static void
ngx_svc_factor_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                           ngx_svc_pg_result(results,
                                             &ngx_svc_sql_factor_added));
}


static void
ngx_svc_factor_signed_in(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice(NGX_SVC_MAIL_CHANGED,
                   ngx_svc_pg_result(results, &ngx_svc_sql_factor_added));
    ngx_svc_login_completed(results);
}


ngx_int_t
ngx_svc_factor_added(ngx_svc_request_t *sr)
{
    PGresult               *res;
    ngx_svc_row_t           columns;
    ngx_svc_factor_t       *factor;
    ngx_svc_json_writer_t   w;

    factor = sr->data;

    if (!ngx_svc_factor_checked(sr)) {
        return ngx_svc_factor_ended(sr);
    }

    res = ngx_svc_result(sr, &ngx_svc_sql_factor_added);

    if (PQntuples(res) == 0) {
        factor->refused(sr, ngx_svc_result(sr, factor->store));
        return ngx_svc_send_error(sr);
    }

    ngx_svc_row_init(&columns, res);

    if (ngx_svc_factor_cookies(factor) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool,
                                    512 + ngx_svc_row_size(&columns, 0))
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "factor", '{');
    ngx_svc_row_write(&w, &columns, 0);
    ngx_svc_json_close(&w, '}');

    if (ngx_svc_row_true(res, 0, "_first")) {
        ngx_svc_factor_write_codes(&w, factor);

    } else {
        ngx_svc_json_null(&w, "recoveryCodes");
    }

    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, factor->status, &w, NULL);
}


static ngx_int_t
ngx_svc_factor_cookies(ngx_svc_factor_t *factor)
{
    ngx_svc_login_t  *login;

    login = &factor->login;

    if (ngx_svc_session_set_cookies(login->sr, login->session.key) != NGX_OK
        || ngx_svc_signin_no_store(login->sr) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (factor->enrolling && login->stage == NGX_SVC_STAGE_FULL) {
        ngx_svc_login_give_back(login, 1);
    }

    return factor->enrolling ? ngx_svc_login_set_device(login) : NGX_OK;
}


ngx_int_t
ngx_svc_factor_codes(ngx_svc_factor_t *factor)
{
    u_char           *p, mac[NGX_SVC_SHA256_LEN];
    ngx_uint_t        i;
    ngx_svc_login_t  *login;

    login = &factor->login;

    p = ngx_pnalloc(login->sr->request->pool, NGX_SVC_RECOVERY_CODES
                    * (sizeof("\"\\\\x\",") + 2 * NGX_SVC_SHA256_LEN) + 2);
    if (p == NULL) {
        return NGX_ERROR;
    }

    factor->macs_key.data = (u_char *) ngx_svc_factor_recovery.first->id;
    factor->macs_key.len = ngx_svc_factor_recovery.first->id_len;

    factor->macs.data = p;
    *p++ = '{';

    for (i = 0; i < NGX_SVC_RECOVERY_CODES; i++) {

        if (ngx_svc_recovery_new(factor->codes[i]) != NGX_OK
            || ngx_svc_recovery_mac(ngx_svc_factor_recovery.keys[0],
                                    login->row.tenant, login->row.user,
                                    factor->codes[i], mac)
               != NGX_OK)
        {
            return NGX_ERROR;
        }

        p = ngx_cpymem(p, "\"\\\\x", sizeof("\"\\\\x") - 1);
        p = ngx_hex_dump(p, mac, NGX_SVC_SHA256_LEN);
        *p++ = '"';
        *p++ = ',';
    }

    p[-1] = '}';
    factor->macs.len = p - factor->macs.data;

    return NGX_OK;
}


ngx_int_t
ngx_svc_factor_code_mac(const ngx_svc_login_t *login, ngx_uint_t n,
    const u_char code[NGX_SVC_RECOVERY_LEN], u_char mac[NGX_SVC_SHA256_LEN])
{
    if (n == ngx_svc_factor_recovery.n) {
        return NGX_DONE;
    }

    return ngx_svc_recovery_mac(ngx_svc_factor_recovery.keys[n],
                                login->row.tenant, login->row.user, code, mac);
}


void
ngx_svc_factor_write_codes(ngx_svc_json_writer_t *w, ngx_svc_factor_t *factor)
{
    u_char      text[NGX_SVC_RECOVERY_TEXT_LEN];
    ngx_uint_t  i;

    ngx_svc_json_open(w, "recoveryCodes", '[');

    for (i = 0; i < NGX_SVC_RECOVERY_CODES; i++) {
        (void) ngx_svc_recovery_text(text, factor->codes[i]);
        ngx_svc_json_plain(w, NULL, text, NGX_SVC_RECOVERY_TEXT_LEN);
    }

    ngx_svc_json_close(w, ']');
}


ngx_uint_t
ngx_svc_factor_checked(ngx_svc_request_t *sr)
{
    return !PQgetisnull(ngx_svc_result(sr, &ngx_svc_sql_factor_check), 0, 0);
}


ngx_int_t
ngx_svc_factor_ended(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAUTHENTICATED,
                        "The session has ended: sign in again.");

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_factor_bind_reauth(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_factor_t  *factor;

    factor = sr->data;

    ngx_svc_pg_bind_bool(call, factor->reauth);

    return NGX_OK;
}
