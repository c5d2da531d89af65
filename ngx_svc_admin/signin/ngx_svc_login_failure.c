/*
 * What a sign-in that fails, or is denied, writes.
 */

#include "ngx_svc_login_failure.h"
#include "ngx_svc_limit_then.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_notice.h"


static ngx_int_t ngx_svc_login_bar_write(ngx_svc_request_t *sr);
static void ngx_svc_login_reason(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_login_signals(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_login_failure_told(ngx_svc_request_t *sr);


#include "ngx_svc_login_failure.sql.h"


/* A failure is counted by one of these. */

static const ngx_svc_pg_statement_t *const  ngx_svc_login_counts[] = {
    &ngx_svc_sql_signin_failure,
    &ngx_svc_sql_mfa_failure,
    NULL
};

static const char *const  ngx_svc_login_reasons[] = {
    "unknown", "wrong", "inactive", "no_password", "blocked", "policy", "risk"
};


ngx_int_t
ngx_svc_login_failed_again(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_login_reason(login);

    return ngx_svc_login_failed_by(sr, &ngx_svc_sql_signin_failure);
}


ngx_int_t
ngx_svc_login_failed_by(ngx_svc_request_t *sr, const ngx_svc_pg_statement_t *s)
{
    const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_failed_user,
        s,
        NULL
    };

    sr->op->committed = ngx_svc_login_failed;

    return ngx_svc_login_calls(sr, list);
}


/* The user gets a mail when a failure has locked the account. */

void
ngx_svc_login_failed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_request_committed(results);
    ngx_svc_notice(NGX_SVC_MAIL_LOCKED,
                   ngx_svc_pg_result_of(results, ngx_svc_login_counts));
}


ngx_int_t
ngx_svc_login_failure(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    static const ngx_svc_pg_statement_t *const  wrong[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_signin_failure,
        NULL
    };

    login = sr->data;

    ngx_svc_login_reason(login);

    if (login->reason < NGX_SVC_LOGIN_BLOCKED
        && !(login->method && login->method->unguessed))
    {
        sr->op->committed = ngx_svc_login_failed;
        return ngx_svc_login_calls(sr, wrong);
    }

    return ngx_svc_login_failure_right(sr);
}


ngx_int_t
ngx_svc_login_failure_right(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_signin_denied,
        NULL
    };

    login = sr->data;

    ngx_svc_login_reason(login);

    return ngx_svc_login_signals(login) == NGX_OK
           ? ngx_svc_login_calls(sr, list) : NGX_ERROR;
}


ngx_int_t
ngx_svc_login_unread(ngx_svc_request_t *sr, ngx_int_t rc)
{
    if (rc != NGX_DECLINED) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return sr->error.kind == NGX_SVC_E_ACCESS_DENIED ? ngx_svc_login_bar(sr)
                                                     : ngx_svc_send_error(sr);
}


ngx_int_t
ngx_svc_login_bar(ngx_svc_request_t *sr)
{
    sr->error.kind = NGX_SVC_E_NONE;

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE, ngx_svc_login_bar_write,
                                 ngx_svc_login_failure_reply);
}


static ngx_int_t
ngx_svc_login_bar_write(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_failed_user,
        &ngx_svc_sql_signin_denied,
        NULL
    };

    login = sr->data;

    ngx_svc_login_reason(login);

    return ngx_svc_login_signals(login) == NGX_OK
           ? ngx_svc_login_calls(sr, list) : NGX_ERROR;
}


static void
ngx_svc_login_reason(ngx_svc_login_t *login)
{
    ngx_str_t  *reason;

    reason = &login->written.reason;

    if (reason->len == 0) {
        reason->data = (u_char *) ngx_svc_login_reasons[login->reason];
        reason->len = ngx_strlen(reason->data);
    }
}


static ngx_int_t
ngx_svc_login_signals(ngx_svc_login_t *login)
{
    u_char  *p;

    p = ngx_pnalloc(login->sr->request->pool, NGX_SVC_RISK_TEXT);
    if (p == NULL) {
        return NGX_ERROR;
    }

    login->risk.signals.data = p;
    login->risk.signals.len = ngx_svc_risk_text(p, &login->risk.found) - p;

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_failure_reply(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    login = sr->data;

    if (login->reason >= NGX_SVC_LOGIN_BLOCKED
        && login->reason <= NGX_SVC_LOGIN_RISK)
    {
        (void) ngx_svc_login_barred(sr);
        return ngx_svc_login_refused(login);
    }

    rc = (login->method && login->method->unguessed)
         ? NGX_DECLINED
         : ngx_svc_login_failure_locks(login, ngx_svc_login_failure_told);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    (void) ngx_svc_login_wrong(sr);

    return ngx_svc_login_refused(login);
}


static ngx_int_t
ngx_svc_login_failure_told(ngx_svc_request_t *sr)
{
    return ngx_svc_login_refused(sr->data);
}


/* Without a row, another request has locked the account in the meantime. */

ngx_int_t
ngx_svc_login_failure_locks(ngx_svc_login_t *login,
    ngx_int_t (*next)(ngx_svc_request_t *sr))
{
    PGresult           *res;
    ngx_int_t           seconds;
    ngx_str_t           locked;
    ngx_svc_request_t  *sr;

    sr = login->sr;
    res = ngx_svc_result_of(sr, ngx_svc_login_counts);

    if (PQntuples(res) == 0) {
        (void) ngx_svc_login_locked(sr,
                         ngx_svc_setting(NGX_SVC_SET_LOGIN_LOCKOUT_DURATION));
        return next(sr);
    }

    locked = ngx_svc_row_value(res, 0, "locked");
    seconds = locked.len ? ngx_atoi(locked.data, locked.len) : 0;

    if (seconds <= 0) {
        return NGX_DECLINED;
    }

    (void) ngx_svc_login_locked(sr, seconds);

    return ngx_svc_limit_lock_then(sr, login->asked.mac.data,
                                   (ngx_msec_t) seconds * 1000, next);
}
