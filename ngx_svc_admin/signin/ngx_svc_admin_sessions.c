/*
 * /v1/auth/session, /v1/auth/sessions, /v1/auth/logout: the caller's own.
 */

#include "ngx_svc_signin.h"


#define NGX_SVC_ADMIN_NO_SESSION  "There is no session of yours with this id."


static ngx_int_t ngx_svc_admin_session_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_revoke_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_revoke_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_logout_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_logout_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_logged_out(ngx_svc_request_t *sr);


/* SQL: the caller's session, and those that are alive of the same user. */

#define NGX_SVC_ADMIN_SESSION_OWN                                             \
    "(" NGX_SVC_SESSION_ROW("k.id, k.user_id", "$1") ")"

#define NGX_SVC_ADMIN_SESSION_LIVE                                            \
    " FROM " NGX_SVC_ADMIN_SESSION_OWN " o CROSS JOIN LATERAL ("              \
        NGX_SVC_ROW("k.valid_after", "svc.user_account", "o.user_id") ") u"   \
    " CROSS JOIN LATERAL (" NGX_SVC_SESSIONS_OF("k.*", "o.user_id") ") s"     \
    " WHERE s.expires_at > now() AND s.stage = 'full'"                        \
        " AND s.last_seen_at > now() - make_interval(secs => $2::int4)"       \
        " AND s.created_at >= coalesce(u.valid_after, '-infinity')"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_sessions_total = {
    .name = "admin_sessions_total",
    .text = "SELECT count(*)" NGX_SVC_ADMIN_SESSION_LIVE,
    NGX_SVC_PARAMS(ngx_svc_param_session(),
                   ngx_svc_param_setting(NGX_SVC_SET_SESSION_IDLE))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_sessions_list = {
    .name = "admin_sessions_list",
    .text =
        "SELECT s.id, s.id = o.id AS current, s.created_at AS \"createdAt\","
            " s.last_seen_at AS \"lastSeenAt\","
            " s.expires_at AS \"expiresAt\", host(s.ip) AS ip, s.country,"
            " s.user_agent AS \"userAgent\","
            " array_to_json(" NGX_SVC_SIGNIN_SEEN("s.methods") ") AS methods"
        NGX_SVC_ADMIN_SESSION_LIVE
        " ORDER BY s.created_at DESC, s.id DESC"
        " LIMIT $3::int4 OFFSET $4::int4",
    NGX_SVC_PARAMS(ngx_svc_param_session(),
                   ngx_svc_param_setting(NGX_SVC_SET_SESSION_IDLE),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

/* A session that has ended is not there any more, but was the caller's own. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_session_end = {
    .name = "admin_session_end",
    .text =
        "WITH o AS ("
            "SELECT s.id, s.user_id, s.ended_at"
            " FROM " NGX_SVC_ADMIN_SESSION_OWN " c CROSS JOIN LATERAL ("
                NGX_SVC_ROW("k.id, k.user_id, k.ended_at", "svc.session",
                            "$2")
                " FOR UPDATE) s WHERE s.user_id = c.user_id"
        "), u AS ("
            "UPDATE svc.session SET ended_at = now()"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND (user_id, id) = ("
                "SELECT o.user_id, o.id FROM o WHERE o.ended_at IS NULL)"
            " RETURNING id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_SESSION_REVOKED, "u.id::text", "NULL",
                          "'{}'", "FROM u")
        ")"
        " SELECT id FROM o",
    NGX_SVC_PARAMS(ngx_svc_param_session(),
                   ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_SESSION)),
    .missing = NGX_SVC_ADMIN_NO_SESSION
};

/*
 * All that began before now are over: the caller's goes on as another one.  It
 * is now when the lock is had: a sign-in that held it has begun before.
 * Whoever else has ended the caller's in the meantime is seen behind the lock,
 * and then there is no tenant for what would make another one of it.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_sessions_lock = {
    .name = "admin_sessions_lock",
    .text =
        "SELECT FROM " NGX_SVC_ADMIN_SESSION_OWN " o"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ROW("k.id", "svc.user_account", "o.user_id")
            " FOR NO KEY UPDATE) u",
    NGX_SVC_PARAMS(ngx_svc_param_session())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_sessions_revoke = {
    .name = "admin_sessions_revoke",
    .text =
        "WITH n AS ("
            "SELECT o.user_id, count(*) - 1 AS n" NGX_SVC_ADMIN_SESSION_LIVE
            " GROUP BY o.user_id HAVING bool_or(s.id = o.id)"
        "), u AS ("
            "UPDATE svc.user_account a SET valid_after = clock_timestamp()"
            " WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = (SELECT n.user_id FROM n)"
            " RETURNING a.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_SESSION_REVOKED, "NULL", "NULL",
                          "jsonb_build_object('revokedSessions', n.n)",
                          "FROM n, u")
        ")"
        " SELECT n.n AS \"revokedSessions\", CASE WHEN n.n IS NULL"
            " THEN set_config('svc.tenant', '', true) END AS _ended"
        " FROM (VALUES (1)) o LEFT JOIN n ON true",
    NGX_SVC_PARAMS(ngx_svc_param_session(),
                   ngx_svc_param_setting(NGX_SVC_SET_SESSION_IDLE))
};


const ngx_svc_route_t  ngx_svc_admin_sessions[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/auth/session"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_FORGET,
      .statements = { &ngx_svc_sql_signin_session },
      .reply = ngx_svc_admin_session_reply },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/auth/sessions"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_admin_sessions_total,
                      &ngx_svc_sql_admin_sessions_list },
      .list = "sessions",
      .total = &ngx_svc_sql_admin_sessions_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/sessions/revoke-others"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_NO_STORE,
      .check = ngx_svc_admin_revoke_check,
      .statements = { &ngx_svc_sql_admin_sessions_lock,
                      &ngx_svc_sql_admin_sessions_revoke,
                      &ngx_svc_sql_signin_rotate },
      .reply = ngx_svc_admin_revoke_reply },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/auth/sessions/*"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_admin_session_end },
      .status = NGX_HTTP_NO_CONTENT },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/logout"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_PENDING_MFA|NGX_SVC_ROUTE_PENDING_ENROLL
               |NGX_SVC_ROUTE_PENDING_PASSWORD,
      .prepare = ngx_svc_admin_logout_prepare,
      .reply = ngx_svc_admin_logout_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_session_reply(ngx_svc_request_t *sr)
{
    ngx_svc_session_t  *session;

    session = sr->session;

    if (ngx_svc_session_renew_csrf(sr, session->key) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_signin_session(sr,
                             ngx_svc_result(sr, &ngx_svc_sql_signin_session),
                             session->key);
}


static ngx_int_t
ngx_svc_admin_revoke_check(ngx_svc_request_t *sr, void *body)
{
    return ngx_svc_signin_new_key(sr);
}


static ngx_int_t
ngx_svc_admin_revoke_reply(ngx_svc_request_t *sr)
{
    PGresult              *res;
    ngx_svc_signin_key_t  *key;

    key = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_admin_sessions_revoke);

    if (PQgetisnull(res, 0, 0)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAUTHENTICATED,
                            "The session has ended: sign in again.");
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_session_set_cookies(sr, key->key) != NGX_OK
        || ngx_svc_signin_no_store(sr) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_route_row(sr, res);
}


/*
 * Whoever wants to be gone is gone: without a session, or with a dead one, too.
 * Of a live one that a page of another origin wants to end it is refused.
 */

static ngx_int_t
ngx_svc_admin_logout_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_svc_session_t  *session;

    sr->credential = &ngx_svc_session_credential;

    rc = sr->credential->take(sr);

    if (rc == NGX_DONE || rc == NGX_DECLINED) {
        return ngx_svc_admin_logged_out(sr);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    session = sr->session;
    sr->op->kind = NGX_SVC_PG_WRITE;

    rc = ngx_svc_auth_call(sr);

    /* the reply says it, if the session is alive */

    sr->error.kind = NGX_SVC_E_NONE;

    if (rc == NGX_OK && !session->csrf_failed) {
        sr->op->committed = ngx_svc_request_committed;
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_logout, NULL);
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_logout_reply(ngx_svc_request_t *sr)
{
    PGresult           *res;
    ngx_svc_session_t  *session;

    res = ngx_svc_auth_result(sr);
    session = sr->session;

    if (session->csrf_failed && PQntuples(res)
        && !PQgetisnull(res, 0, 0))
    {
        sr->error.kind = NGX_SVC_E_CSRF;
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_admin_logged_out(sr);
}


static ngx_int_t
ngx_svc_admin_logged_out(ngx_svc_request_t *sr)
{
    if (ngx_svc_session_delete_cookies(sr) != NGX_OK
        || ngx_svc_signin_no_store(sr) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}
