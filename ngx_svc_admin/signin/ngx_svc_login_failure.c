/*
 * What a sign-in writes that fails, or is denied.
 */

#include "ngx_svc_login.h"
#include "ngx_svc_limit_then.h"
#include "ngx_svc_notice.h"


static ngx_int_t ngx_svc_login_bind_tenant(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_login_bar_write(ngx_svc_request_t *sr);
static void ngx_svc_login_reason(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_login_signals(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_login_failure_told(ngx_svc_request_t *sr);
static void ngx_svc_login_failed(const ngx_svc_pg_results_t *results);


/*
 * A failure counts for the user, or for the address that is nobody's: so many
 * in a window that begins with the first one lock it, which ends what waits for
 * a second factor: who unlocks it lets nobody guess on without the password.
 * While it is locked nothing counts, and no row comes of it.
 */

#define NGX_SVC_LOGIN_COUNTS(t)                                               \
    "(" t ".failed_since > now() - make_interval(secs => $7::int4)"           \
        " AND " t ".locked_until IS NULL)"

#define NGX_SVC_LOGIN_FAILED(t, failed)                                       \
    "CASE WHEN " NGX_SVC_LOGIN_COUNTS(t) " THEN " failed " + 1 ELSE 1 END"

#define NGX_SVC_LOGIN_SINCE(t)                                                \
    "CASE WHEN " NGX_SVC_LOGIN_COUNTS(t) " THEN " t ".failed_since"           \
    " ELSE now() END"

#define NGX_SVC_LOGIN_LOCK(failed)                                            \
    "CASE WHEN $6::int4 > 0 AND " failed " >= $6::int4"                       \
    " THEN now() + make_interval(secs => $8::int4) END"

#define NGX_SVC_LOGIN_FREE(t)                                                 \
    "coalesce(" t ".locked_until <= now(), true)"

/* This failure has locked an account, and not an address that is nobody's. */
#define NGX_SVC_LOGIN_LOCKED                                                  \
    "(x.locked_until IS NOT NULL AND $1::uuid IS NOT NULL)"

#define NGX_SVC_LOGIN_FAILURE(action, why, event)                             \
    "WITH u AS ("                                                             \
        "UPDATE svc.user_account a SET"                                       \
            " failed_logins = " NGX_SVC_LOGIN_FAILED("a",                     \
                                                "a.failed_logins") ","        \
            " failed_since = " NGX_SVC_LOGIN_SINCE("a") ","                   \
            " locked_until = "                                                \
                NGX_SVC_LOGIN_LOCK("(" NGX_SVC_LOGIN_FAILED("a",              \
                                            "a.failed_logins") ")")           \
        " WHERE a.tenant_id = " NGX_SVC_TENANT                                \
            " AND a.id = $1 AND " NGX_SVC_LOGIN_FREE("a")                     \
        " RETURNING a.locked_until"                                           \
    "), p AS ("                                                               \
        "INSERT INTO svc.login_phantom AS f (tenant_id, email_mac, failed,"   \
            " failed_since, locked_until)"                                    \
        " SELECT t.id, $2::bytea, 1, now(), " NGX_SVC_LOGIN_LOCK("1")         \
        " FROM svc.tenant t"                                                  \
        " WHERE t.id = " NGX_SVC_TENANT " AND $1::uuid IS NULL"               \
        " ON CONFLICT (tenant_id, email_mac) DO UPDATE SET"                   \
            " failed = " NGX_SVC_LOGIN_FAILED("f", "f.failed") ","            \
            " failed_since = " NGX_SVC_LOGIN_SINCE("f") ","                   \
            " locked_until = "                                                \
                NGX_SVC_LOGIN_LOCK("(" NGX_SVC_LOGIN_FAILED("f",              \
                                                    "f.failed") ")")          \
        " WHERE " NGX_SVC_LOGIN_FREE("f")                                     \
        " RETURNING f.locked_until"                                           \
    "), x AS ("                                                               \
        "SELECT locked_until FROM u UNION ALL SELECT locked_until FROM p"     \
    "), w AS ("                                                               \
        NGX_SVC_SIGNIN_LOCK_PENDING("$1",                                     \
            " AND EXISTS (SELECT FROM x WHERE x.locked_until IS NOT NULL)")   \
    "), i AS ("                                                               \
        "INSERT INTO svc.sign_in (tenant_id, at, user_id, ip, country,"       \
            " outcome, email_mac, locked)"                                    \
        " SELECT t.id, now(), $1, $3::text::inet, $4, 'failure', $2,"         \
            " nullif(" NGX_SVC_LOGIN_LOCKED ", false)"                        \
        " FROM svc.tenant t, x"                                               \
        " WHERE t.id = " NGX_SVC_TENANT " AND $3 IS NOT NULL"                 \
    "), n AS ("                                                               \
        "INSERT INTO svc.sign_in_event (tenant_id, at, kind, reason,"         \
            " user_id, ip, country, locked)"                                  \
        " SELECT t.id, now(), 'failure', " event ", $1, $3::text::inet, $4, " \
            NGX_SVC_LOGIN_LOCKED                                              \
        " FROM svc.tenant t, x WHERE t.id = " NGX_SVC_TENANT                  \
    "), e AS ("                                                               \
        NGX_SVC_AUDIT_FAILURE(action, "$1::text",                             \
            NGX_SVC_LOGIN_NAME,                                               \
            "jsonb_build_object('" why "', $5::text)", "FROM x")              \
        " UNION ALL"                                                          \
        " SELECT 'success', " NGX_SVC_A_USER_LOCKED(NGX_SVC_AUDIT_BOTH)       \
            ", $1::text, " NGX_SVC_LOGIN_NAME ", '{}'::jsonb FROM x"          \
        " WHERE " NGX_SVC_LOGIN_LOCKED                                        \
    ")"                                                                       \
    " SELECT " NGX_SVC_LOGIN_LEFT("x.locked_until") " AS locked,"             \
        " $4 AS _country, " NGX_SVC_NOTICE_IP ", m.*"                         \
    " FROM x LEFT JOIN LATERAL ("                                             \
        NGX_SVC_NOTICE("$1", "$9", "x.locked_until IS NOT NULL")              \
    ") m ON true"

#define NGX_SVC_LOGIN_FAILURE_PARAMS                                          \
    NGX_SVC_PARAMS(ngx_svc_login_param(user),                                 \
                   ngx_svc_login_param(mac),                                  \
                   ngx_svc_login_param(client.ip),                            \
                   ngx_svc_login_param(client.country),                       \
                   ngx_svc_login_param(reason_name),                          \
                   ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_MAX),      \
                   ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW),   \
                   ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_DURATION), \
                   ngx_svc_param_notice())

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_failure = {
    .name = "signin_failure",
    .text = NGX_SVC_LOGIN_FAILURE(NGX_SVC_A_USER_LOGIN_FAILED, "reason",
                                  "$5::text"),
    NGX_SVC_LOGIN_FAILURE_PARAMS
};

/* The same of a second factor, or of what is shown in its place. */

const ngx_svc_pg_statement_t  ngx_svc_sql_mfa_failure = {
    .name = "mfa_failure",
    .text = NGX_SVC_LOGIN_FAILURE(NGX_SVC_A_MFA_CHALLENGE_FAILED, "method",
                                  "'mfa'"),
    NGX_SVC_LOGIN_FAILURE_PARAMS
};

/*
 * Refused whatever the password: by a block, a policy, or the risk; and what is
 * wrong of a passkey, which locks nothing.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_denied = {
    .name = "signin_denied",
    .text =
        "WITH n AS ("
            "INSERT INTO svc.sign_in_event (tenant_id, at, kind, reason,"
                " user_id, ip, country, signals)"
            " SELECT t.id, now(), CASE WHEN $2::text = ANY"
                    " ('{blocked,policy,risk}') THEN 'denied'"
                    " ELSE 'failure' END,"
                " $2, $1::uuid, $5::text::inet, $6, $4::text::text[]"
            " FROM svc.tenant t WHERE t.id = " NGX_SVC_TENANT
        ") "
        NGX_SVC_AUDIT_FAILURE(NGX_SVC_A_USER_LOGIN_FAILED, "$1::uuid::text",
            NGX_SVC_LOGIN_NAME,
            "jsonb_build_object('reason', $2::text, 'score', $3::int4,"
                " 'signals', to_jsonb($4::text::text[]))",
            "FROM svc.tenant t WHERE t.id = " NGX_SVC_TENANT),
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_login_param(reason_name),
                   ngx_svc_param_call(ngx_svc_login_bind_score),
                   ngx_svc_login_param(signals),
                   ngx_svc_login_param(client.ip),
                   ngx_svc_login_param(client.country))
};


/*
 * Of a session that has been found, and may have ended since: who ends it while
 * he guesses has guessed all the same.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_failed_user = {
    .name = "signin_failed_user",
    .text =
        "SELECT set_config('svc.tenant', $1::uuid::text, true)"
            " || set_config('svc.actor_type', 'user', true)"
            " || set_config('svc.actor_id', $2::uuid::text, true) IS NULL",
    NGX_SVC_PARAMS(ngx_svc_param_call(ngx_svc_login_bind_tenant),
                   ngx_svc_login_param(user))
};


/* A failure is counted by one of these. */

static const ngx_svc_pg_statement_t *const  ngx_svc_login_counts[] = {
    &ngx_svc_sql_signin_failure,
    &ngx_svc_sql_mfa_failure,
    NULL
};

static const char *const  ngx_svc_login_reasons[] = {
    "unknown", "wrong", "inactive", "no_password", "blocked", "policy", "risk",
    "passkey_cloned"
};


static ngx_int_t
ngx_svc_login_bind_tenant(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_pg_bind(call, login->row.tenant, NGX_SVC_UUID_LEN);

    return NGX_OK;
}


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


/* Who is locked hears of it, once. */

static void
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

    static const ngx_svc_pg_statement_t *const  denied[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_signin_denied,
        NULL
    };

    login = sr->data;

    ngx_svc_login_reason(login);

    if (login->reason < NGX_SVC_LOGIN_BLOCKED && !login->method->factor) {
        sr->op->committed = ngx_svc_login_failed;
        return ngx_svc_login_calls(sr, wrong);
    }

    return ngx_svc_login_signals(login) == NGX_OK
           ? ngx_svc_login_calls(sr, denied) : NGX_ERROR;
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
    login->reason_name.data = (u_char *) ngx_svc_login_reasons[login->reason];
    login->reason_name.len = ngx_strlen(login->reason_name.data);
}


static ngx_int_t
ngx_svc_login_signals(ngx_svc_login_t *login)
{
    u_char  *p;

    p = ngx_pnalloc(login->sr->request->pool, NGX_SVC_RISK_TEXT);
    if (p == NULL) {
        return NGX_ERROR;
    }

    login->signals.data = p;
    login->signals.len = ngx_svc_risk_text(p, &login->risk) - p;

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

    rc = (login->method && login->method->factor)
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


/* Without a row somebody else has locked it in the meantime. */

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

    return ngx_svc_limit_lock_then(sr, login->mac.data,
                                   (ngx_msec_t) seconds * 1000, next);
}
