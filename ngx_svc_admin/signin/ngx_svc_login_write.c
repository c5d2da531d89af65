/*
 * What a sign-in writes that succeeds.
 */

#include "ngx_svc_login.h"
#include "ngx_svc_notice.h"


static void ngx_svc_login_committed(PGresult **results);
static ngx_int_t ngx_svc_login_pending(ngx_svc_login_t *login);


#define NGX_SVC_LOGIN_CHECK  2          /* of a success: the verdict's result */


/*
 * The tenant once more, and who acts: nobody yet.  The first column is what
 * ngx_svc_committed_tenant() reads.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_tenant_write = {
    .name = "signin_tenant_write",
    .text =
        "SELECT set_config('svc.tenant', t.id::text, true),"
            " set_config('svc.actor_type', 'anonymous', true)"
            " || set_config('svc.ip', coalesce($3, ''), true)"
            " || set_config('svc.user_agent', $4, true)"
            " || set_config('svc.request_id', $5, true) IS NULL"
        " FROM svc.sign_in_tenant($1, $2) t WHERE NOT t.suspended",
    NGX_SVC_PARAMS(ngx_svc_login_param(host),
                   ngx_svc_login_param(slug),
                   ngx_svc_login_param(client.ip),
                   ngx_svc_login_param(client.user_agent),
                   ngx_svc_login_param(request_id))
};

/*
 * A success: the user's lock; then, with what others have committed until they
 * let go of it, whether all is still as it was when the hash was begun, without
 * which there is no tenant for the rest.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_lock = {
    .name = "signin_lock",
    .text =
        "SELECT FROM svc.user_account"
        " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1 FOR NO KEY UPDATE",
    NGX_SVC_PARAMS(ngx_svc_login_param(user))
};

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_check = {
    .name = "signin_check",
    .text = NGX_SVC_LOGIN_VERDICT("true"),
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_login_param(version))
};

/* The newest 50 sessions of a user stay, and that of the cookie ends. */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_new = {
    .name = "signin_session_new",
    .text =
        "WITH l AS ("
            "UPDATE svc.session s SET ended_at = now()"
            " WHERE s.tenant_id = " NGX_SVC_TENANT
                " AND s.user_id = ANY (ARRAY[$2, ("
                    NGX_SVC_SESSION_ROW("k.user_id", "$11") ")])"
                " AND s.id = ANY (ARRAY("
                    "SELECT o.id FROM ("
                        NGX_SVC_SESSION_ROW("k.id, k.ended_at", "$11")
                    ") o WHERE o.ended_at IS NULL"
                ") || ARRAY("
                    "SELECT o.id FROM ("
                        NGX_SVC_SESSIONS_OF("k.id, k.created_at", "$2")
                    ") o ORDER BY o.created_at DESC OFFSET 49))"
        ") "
        NGX_SVC_SIGNIN_INSERT
        " SELECT t.id, $1::uuid, $2, $3::bytea, $1::uuid, $4,"
            " $13::text::text[],"
            " CASE $4 WHEN 'full' THEN clock_timestamp() END,"
            " now() + make_interval(secs => CASE $4 WHEN 'full'"
                " THEN $5::int4 ELSE $6::int4 END),"
            " CASE WHEN $14 THEN clock_timestamp() END,"
            " CASE WHEN NOT $14 THEN clock_timestamp() END,"
            " $7::text::inet, $8, $9, $10::int4, $12::text::text[]"
        " FROM svc.tenant t WHERE t.id = " NGX_SVC_TENANT,
    NGX_SVC_PARAMS(ngx_svc_param_new_id(),
                   ngx_svc_login_param(user),
                   ngx_svc_param_new_session(),
                   ngx_svc_login_param(stage_name),
                   ngx_svc_param_setting(NGX_SVC_SET_SESSION_ABSOLUTE),
                   ngx_svc_param_setting(NGX_SVC_SET_SESSION_PENDING),
                   ngx_svc_login_param(client.ip),
                   ngx_svc_login_param(client.country),
                   ngx_svc_login_param(client.user_agent),
                   ngx_svc_param_call(ngx_svc_login_bind_score),
                   ngx_svc_login_param(old_session),
                   ngx_svc_login_param(signals),
                   ngx_svc_login_param(methods),
                   ngx_svc_param_call(ngx_svc_login_bind_trusted))
};

/* Likewise, when there is nothing to take back; and a lock is no passkey's. */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_user_kept = {
    .name = "signin_user_kept",
    .text =
        "UPDATE svc.user_account SET last_login_at = now()"
        " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1",
    NGX_SVC_PARAMS(ngx_svc_login_param(user))
};

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_rehash = {
    .name = "signin_rehash",
    .text =
        "UPDATE svc.password SET hash = $3"
        " WHERE tenant_id = " NGX_SVC_TENANT " AND user_id = $1"
            " AND version = $2::text::bigint",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_login_param(version),
                   ngx_svc_login_param(rehash))
};

/*
 * When it is complete.  It takes back what has failed from the same address:
 * who guesses elsewhere would see otherwise that somebody has signed in, and so
 * that there is somebody.  A time of svc.sign_in is one of whole ms.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_user_done = {
    .name = "signin_user_done",
    .text =
        "UPDATE svc.user_account a SET last_login_at = now(),"
            " (failed_logins, failed_since, locked_until) = ("
                "SELECT count(*), min(s.at), NULL::timestamptz"
                " FROM svc.sign_in s"
                " WHERE s.tenant_id = " NGX_SVC_TENANT " AND s.user_id = $1"
                    " AND s.outcome = 'failure'"
                    " AND s.at > a.failed_since - interval '1 ms'"
                    " AND a.locked_until IS NULL"
                    " AND s.ip IS DISTINCT FROM $2::text::inet)"
        " WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = $1",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_login_param(client.ip))
};

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_done = {
    .name = "signin_done",
    .text =
        "WITH e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_LOGIN, "$1::uuid::text", "NULL",
                "jsonb_build_object('score', $2::int4,"
                    " 'signals', to_jsonb($3::text::text[]),"
                    " 'methods', ("
                        NGX_SVC_SESSION_ROW(
                            "to_jsonb(" NGX_SVC_SIGNIN_SEEN("k.methods") ")",
                            "$4") "))",
                "FROM svc.tenant t WHERE t.id = " NGX_SVC_TENANT)
            " RETURNING target_id, id, created_at"
        ")"
        " SELECT target_id AS _user, id AS _number, created_at AS _at, "
            NGX_SVC_EVENT_SUBSCRIBERS("user.login") " AS _subscribers FROM e",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_param_call(ngx_svc_login_bind_score),
                   ngx_svc_login_param(signals),
                   ngx_svc_param_new_session())
};

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_made = {
    .name = "signin_session_made",
    .text = NGX_SVC_SIGNIN_SESSION,
    NGX_SVC_PARAMS(ngx_svc_param_new_session())
};

/*
 * What was shown is right, and the sign-in is refused until more is done than
 * to show a factor.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_waits = {
    .name = "signin_waits",
    .text =
        NGX_SVC_AUDIT_FAILURE(NGX_SVC_A_USER_LOGIN_FAILED, "$1::uuid::text",
            NGX_SVC_LOGIN_NAME, "jsonb_build_object('reason', CASE $2::text"
                " WHEN 'enroll' THEN 'mfa_enrollment_required'"
                " ELSE 'password_expired' END)",
            "FROM svc.tenant t WHERE t.id = " NGX_SVC_TENANT),
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_login_param(stage_name))
};

#define NGX_SVC_LOGIN_DONE  6           /* of a complete one: who it was */


const ngx_svc_pg_statement_t *const  ngx_svc_login_complete[] = {
    &ngx_svc_sql_signin_user_done,
    &ngx_svc_sql_signin_seen,
    &ngx_svc_sql_signin_done,
    NULL
};


ngx_int_t
ngx_svc_login_bind_score(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    return ngx_svc_pg_bind_int(sr->op, call, login->risk.score);
}


ngx_int_t
ngx_svc_login_calls(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *const *list)
{
    ngx_int_t  rc;

    for ( /* void */ ; *list; list++) {
        rc = ngx_svc_route_call(sr, *list, NULL);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_begin(ngx_svc_login_t *login)
{
    u_char  *p;

    p = ngx_pnalloc(login->sr->request->pool, NGX_SVC_RISK_TEXT);

    if (p == NULL
        || ngx_svc_signin_key(&login->session, login->row.tenant) != NGX_OK)
    {
        return NGX_ERROR;
    }

    login->signals.data = p;
    login->signals.len = ngx_svc_risk_text(p, &login->risk) - p;
    login->stage_name = ngx_svc_stages[login->stage];

    if (login->methods.data == NULL) {
        login->methods = login->method->methods;
    }

    login->trusted = login->method->factor;

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_success(ngx_svc_request_t *sr)
{
    typedef const ngx_svc_pg_statement_t *const  statements[];

    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    login = sr->data;

    if (ngx_svc_login_begin(login) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_login_calls(sr, (statements) {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_signin_lock,
        login->method->check,
        &ngx_svc_sql_signin_session_new,
        NULL
    });

    if (rc == NGX_OK && login->stage == NGX_SVC_STAGE_FULL) {
        sr->op->committed = ngx_svc_login_committed;

        login->made = NGX_SVC_LOGIN_DONE + 1;

        rc = ngx_svc_login_calls(sr, (statements) {
            login->unfailed ? &ngx_svc_sql_signin_user_kept
                            : login->method->user_done,
            &ngx_svc_sql_signin_seen,
            &ngx_svc_sql_signin_done,
            &ngx_svc_sql_signin_session_made,
            NULL
        });
    }

    if (rc == NGX_OK && (login->stage == NGX_SVC_STAGE_ENROLL
                         || login->stage == NGX_SVC_STAGE_PASSWORD))
    {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_waits, NULL);
    }

    if (rc == NGX_OK && (login->method->factor || login->rehash.data)) {
        rc = ngx_svc_route_call(sr, login->method->shown, NULL);
    }

    return rc;
}


static void
ngx_svc_login_committed(PGresult **results)
{
    ngx_svc_login_completed(results, NGX_SVC_LOGIN_DONE);
}


void
ngx_svc_login_completed(PGresult **results, ngx_uint_t done)
{
    ngx_svc_request_committed(results);

    if (results) {
        ngx_svc_login_emit(results[0], results[done]);
        ngx_svc_notice(NGX_SVC_MAIL_NEW_DEVICE, results[done - 1]);
    }
}


void
ngx_svc_login_emit(PGresult *tenant, PGresult *done)
{
    ngx_svc_event_t  event;

    if (PQntuples(done) == 0) {
        return;
    }

    event.kind = NGX_SVC_EVENT_USER_LOGIN;
    event.tenant = ngx_svc_pg_value(tenant, 0, 0);
    event.user = ngx_svc_row_value(done, 0, "_user");
    event.subscribers = ngx_svc_row_value(done, 0, "_subscribers");
    event.number = ngx_svc_row_value(done, 0, "_number");
    event.at = ngx_svc_row_value(done, 0, "_at");
    ngx_str_null(&event.email);

    ngx_svc_event_emit(&event);
}


ngx_int_t
ngx_svc_login_success_reply(ngx_svc_request_t *sr)
{
    PGresult         *res;
    ngx_svc_login_t  *login;

    login = sr->data;
    res = sr->op->results[NGX_SVC_LOGIN_CHECK];

    if (PQgetisnull(res, 0, 0) || PQgetvalue(res, 0, 0)[0] != 'g') {
        return ngx_svc_login_lost(sr, res);
    }

    return ngx_svc_login_end(login);
}


ngx_int_t
ngx_svc_login_end(ngx_svc_login_t *login)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    if (ngx_svc_session_set_cookies(sr, login->session.key) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (login->stage != NGX_SVC_STAGE_FULL) {
        return ngx_svc_login_pending(login);
    }

    if (login->limit.family == NGX_SVC_LIMIT_LOGIN) {
        ngx_svc_limit_give_back(&login->limit);
    }

    ngx_svc_login_give_back(login, 1);

    if (ngx_svc_login_set_device(login) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_signin_session(sr, sr->op->results[login->made],
                                  login->session.key);
}


static ngx_int_t
ngx_svc_login_pending(ngx_svc_login_t *login)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    (void) ngx_svc_session_pending(sr, login->stage);

    return ngx_svc_send_error(sr);
}
