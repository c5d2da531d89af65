/*
 * What a sign-in writes that succeeds.
 */

#include "ngx_svc_login.h"
#include "ngx_svc_notice.h"


typedef const ngx_svc_pg_statement_t *const  ngx_svc_login_list_t[];


static ngx_int_t ngx_svc_login_bind_tenant(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_login_success_full(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_login_first(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_login_pending(ngx_svc_login_t *login);


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
 * The same of a tenant that has just been found, $1: whether it is still there.
 * Nothing is seen of it otherwise.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_signin_tenant_again = {
    .name = "signin_tenant_again",
    .text =
        "SELECT o.id AS _id, t.id AS \"tenant.id\","
            " t.slug AS \"tenant.slug\", t.name AS \"tenant.name\","
            " set_config('svc.tenant', CASE WHEN t.id IS NOT NULL THEN o.id"
                " ELSE '' END, true)"
            " || set_config('svc.actor_type', 'anonymous', true)"
            " || set_config('svc.ip', coalesce($2, ''), true)"
            " || set_config('svc.user_agent', $3, true)"
            " || set_config('svc.request_id', $4, true) IS NULL AS _set"
        " FROM (SELECT set_config('svc.tenant', $1::uuid::text, true) AS id) o"
        " LEFT JOIN (SELECT t.id, t.slug, t.name FROM svc.tenant t"
            " WHERE t.id = " NGX_SVC_TENANT " AND t.suspended_at IS NULL"
            " OFFSET 0) t ON true",
    NGX_SVC_PARAMS(ngx_svc_param_call(ngx_svc_login_bind_tenant),
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

/* The lock, and of a complete sign-in what is said of its user. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_signin_lock_user = {
    .name = "signin_lock_user",
    .text =
        "SELECT u.id AS \"user.id\", u.user_name AS \"user.email\","
            " u.display_name AS \"user.displayName\", u.role,"
            " array_to_json("
            NGX_SVC_ROLE_PERMISSIONS("u.role",
                "(SELECT r.permissions FROM svc.role r"
                " WHERE r.tenant_id = " NGX_SVC_TENANT " AND r.key = u.role)")
            ") AS permissions"
        " FROM svc.user_account u"
        " WHERE u.tenant_id = " NGX_SVC_TENANT " AND u.id = $1"
        " FOR NO KEY UPDATE OF u",
    NGX_SVC_PARAMS(ngx_svc_login_param(user))
};

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_check = {
    .name = "signin_check",
    .text = NGX_SVC_LOGIN_VERDICT("true"),
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_login_param(version))
};

/* SQL: the new session, and its parameters. */

#define NGX_SVC_LOGIN_SESSION_NEW                                             \
    NGX_SVC_SIGNIN_INSERT                                                     \
    " SELECT " NGX_SVC_TENANT_OR_NULL " AS tenant_id, $1::uuid, $2,"          \
        " $3::bytea, $1::uuid, $4, $12::text::text[],"                        \
        " CASE $4 WHEN 'full' THEN clock_timestamp() END,"                    \
        " now() + make_interval(secs => CASE $4 WHEN 'full'"                  \
            " THEN $5::int4 ELSE $6::int4 END),"                              \
        " CASE WHEN $13 THEN clock_timestamp() END,"                          \
        " CASE WHEN NOT $13 THEN clock_timestamp() END,"                      \
        " $7::text::inet, $8, $9, $10::int4, $11::text::text[]"               \
    " WHERE " NGX_SVC_TENANT_OR_NULL " IS NOT NULL"

#define NGX_SVC_LOGIN_SESSION_PARAMS                                          \
    ngx_svc_param_new_id(),                                                   \
    ngx_svc_login_param(user),                                                \
    ngx_svc_param_new_session(),                                              \
    ngx_svc_login_param(stage_name),                                          \
    ngx_svc_param_setting(NGX_SVC_SET_SESSION_ABSOLUTE),                      \
    ngx_svc_param_setting(NGX_SVC_SET_SESSION_PENDING),                       \
    ngx_svc_login_param(client.ip),                                           \
    ngx_svc_login_param(client.country),                                      \
    ngx_svc_login_param(client.user_agent),                                   \
    ngx_svc_param_call(ngx_svc_login_bind_score),                             \
    ngx_svc_login_param(signals),                                             \
    ngx_svc_login_param(methods),                                             \
    ngx_svc_param_call(ngx_svc_login_bind_trusted)

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_new = {
    .name = "signin_session_new",
    .text = NGX_SVC_LOGIN_SESSION_NEW,
    NGX_SVC_PARAMS(NGX_SVC_LOGIN_SESSION_PARAMS)
};

/* Likewise, and what is said of a complete one of who has no second factor. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_first = {
    .name = "signin_session_first",
    .text =
        NGX_SVC_LOGIN_SESSION_NEW
        " RETURNING false AS \"mfa.enrolled\", '[]'::json AS \"mfa.methods\","
            " mfa_at AS \"mfa.verifiedAt\", expires_at AS \"expiresAt\"",
    NGX_SVC_PARAMS(NGX_SVC_LOGIN_SESSION_PARAMS)
};

/* Then: that of the cookie ends, whoever's it is. */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session_old = {
    .name = "signin_session_old",
    .text =
        "UPDATE svc.session SET ended_at = now()"
        " WHERE tenant_id = " NGX_SVC_TENANT
            " AND (user_id, id) = ("
                NGX_SVC_SESSION_ROW("k.user_id, k.id", "$1") ")"
            " AND ended_at IS NULL",
    NGX_SVC_PARAMS(ngx_svc_login_param(old_session))
};

/* And the newest 50 of the user stay. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_signin_sessions = {
    .name = "signin_sessions",
    .text =
        "UPDATE svc.session s SET ended_at = now()"
        " WHERE s.tenant_id = " NGX_SVC_TENANT " AND s.user_id = $1"
            " AND s.id = ANY (ARRAY("
                "SELECT o.id FROM ("
                    NGX_SVC_SESSIONS_OF("k.id, k.created_at", "$1")
                ") o WHERE o.id <> $2::uuid"
                " ORDER BY o.created_at DESC OFFSET 49))",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_param_new_id())
};

/* Likewise, when there is nothing to take back; and a lock is no passkey's. */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_user_kept = {
    .name = "signin_user_kept",
    .text =
        "UPDATE svc.user_account SET " NGX_SVC_LOGIN_USER_DONE
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
        "UPDATE svc.user_account a SET " NGX_SVC_LOGIN_USER_DONE ","
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

/* methods: those of the session, an expression. */

#define NGX_SVC_LOGIN_DONE(methods)                                           \
    "WITH e AS ("                                                             \
        NGX_SVC_AUDIT(NGX_SVC_A_USER_LOGIN, "$1::uuid::text", "NULL",         \
            "jsonb_build_object('score', $2::int4,"                           \
                " 'signals', to_jsonb($3::text::text[]),"                     \
                " 'methods', " methods ")",                                   \
            "WHERE " NGX_SVC_TENANT_OR_NULL " IS NOT NULL")                   \
        " RETURNING target_id, id, created_at"                                \
    ")"                                                                       \
    " SELECT target_id AS _user, id AS _number, created_at AS _at, "          \
        NGX_SVC_EVENT_SUBSCRIBERS("user.login") " AS _subscribers FROM e"

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_done = {
    .name = "signin_done",
    .text =
        NGX_SVC_LOGIN_DONE("("
            NGX_SVC_SESSION_ROW("to_jsonb(" NGX_SVC_SIGNIN_SEEN("k.methods")
                                ")", "$4") ")"),
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_param_call(ngx_svc_login_bind_score),
                   ngx_svc_login_param(signals),
                   ngx_svc_param_new_session())
};

/* Of a session whose methods are those of the first step alone. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_signin_done_first = {
    .name = "signin_done_first",
    .text =
        NGX_SVC_LOGIN_DONE("to_jsonb("
            NGX_SVC_SIGNIN_SEEN("$4::text::text[]") ")"),
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_param_call(ngx_svc_login_bind_score),
                   ngx_svc_login_param(signals),
                   ngx_svc_login_param(methods))
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


ngx_int_t
ngx_svc_login_bind_score(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    return ngx_svc_pg_bind_int(sr->op, call, login->risk.score);
}


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
ngx_svc_login_complete(ngx_svc_request_t *sr)
{
    return ngx_svc_login_calls(sr, (ngx_svc_login_list_t) {
        &ngx_svc_sql_signin_seen,
        ngx_svc_login_notice(sr),
        &ngx_svc_sql_signin_user_done,
        &ngx_svc_sql_signin_done,
        &ngx_svc_sql_signin_device,
        &ngx_svc_sql_signin_devices,
        NULL
    });
}


ngx_int_t
ngx_svc_login_success(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_uint_t        first;
    ngx_svc_login_t  *login;

    login = sr->data;

    if (ngx_svc_login_begin(login) != NGX_OK) {
        return NGX_ERROR;
    }

    first = login->stage == NGX_SVC_STAGE_FULL && !login->enrolled;

    rc = ngx_svc_login_calls(sr, (ngx_svc_login_list_t) {
        &ngx_svc_sql_signin_tenant_again,
        first ? &ngx_svc_sql_signin_lock_user : &ngx_svc_sql_signin_lock,
        login->method->check,
        first ? &ngx_svc_sql_signin_session_first
              : &ngx_svc_sql_signin_session_new,
        NULL
    });

    if (rc == NGX_OK && login->stage == NGX_SVC_STAGE_FULL) {
        rc = ngx_svc_login_success_full(sr);
    }

    if (rc == NGX_OK && (login->stage == NGX_SVC_STAGE_ENROLL
                         || login->stage == NGX_SVC_STAGE_PASSWORD))
    {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_waits, NULL);
    }

    if (rc == NGX_OK && login->old_session.len) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_session_old, NULL);
    }

    if (rc == NGX_OK && !login->few) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_sessions, NULL);
    }

    if (rc == NGX_OK && (login->method->factor || login->rehash.data)) {
        rc = ngx_svc_route_call(sr, login->method->shown, NULL);
    }

    return rc;
}


static ngx_int_t
ngx_svc_login_success_full(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    login = sr->data;

    sr->op->committed = ngx_svc_login_completed;

    rc = ngx_svc_login_calls(sr, (ngx_svc_login_list_t) {
        &ngx_svc_sql_signin_seen,
        ngx_svc_login_notice(sr),
        login->unfailed ? &ngx_svc_sql_signin_user_kept
                        : login->method->user_done,
        &ngx_svc_sql_signin_done_first,
        &ngx_svc_sql_signin_device,
        NULL
    });

    if (rc == NGX_OK && login->enrolled) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_session_made, NULL);
    }

    if (rc == NGX_OK && !login->few_devices) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_devices, NULL);
    }

    return rc;
}


void
ngx_svc_login_completed(const ngx_svc_pg_results_t *results)
{
    static const ngx_svc_pg_statement_t *const  done[] = {
        &ngx_svc_sql_signin_done_first,
        &ngx_svc_sql_signin_done,
        NULL
    };

    ngx_svc_request_committed(results);

    ngx_svc_login_emit(ngx_svc_pg_result_first(results),
                       ngx_svc_pg_result_of(results, done));
    ngx_svc_notice(NGX_SVC_MAIL_NEW_DEVICE,
                   ngx_svc_pg_result(results, &ngx_svc_sql_signin_notice));
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
    res = ngx_svc_result(sr, login->method->check);

    if (PQgetisnull(res, 0, 0) || PQgetvalue(res, 0, 0)[0] != 'g') {
        return ngx_svc_login_lost(sr, res);
    }

    return ngx_svc_login_end(login);
}


ngx_int_t
ngx_svc_login_end(ngx_svc_login_t *login)
{
    PGresult           *made;
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

    made = ngx_svc_result(sr, &ngx_svc_sql_signin_session_made);

    return made ? ngx_svc_signin_session(sr, made, login->session.key)
                : ngx_svc_login_first(login);
}


/* What is said of it is in the results of what was written anyway. */

static ngx_int_t
ngx_svc_login_first(ngx_svc_login_t *login)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    return ngx_svc_signin_session_of(sr, (PGresult *[]) {
        ngx_svc_result(sr, &ngx_svc_sql_signin_lock_user),
        ngx_svc_result(sr, &ngx_svc_sql_signin_tenant_again),
        ngx_svc_result(sr, &ngx_svc_sql_signin_session_first)
    }, 3, login->session.key);
}


static ngx_int_t
ngx_svc_login_pending(ngx_svc_login_t *login)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    (void) ngx_svc_session_pending(sr, login->stage);

    return ngx_svc_send_error(sr);
}
