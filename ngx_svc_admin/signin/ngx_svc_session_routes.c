/*
 * /v1/auth/session, /v1/auth/sessions, /v1/auth/logout: a user's own sessions.
 */

#include "ngx_svc_signin.h"


#define NGX_SVC_ADMIN_NO_SESSION  "There is no session of yours with this id."


static ngx_int_t ngx_svc_session_routes_session_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_session_routes_revoke_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_session_routes_revoke_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_session_routes_logout_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_session_routes_logout_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_session_routes_logged_out(ngx_svc_request_t *sr);


#include "ngx_svc_session_routes.sql.h"


const ngx_svc_route_t  ngx_svc_session_routes[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/auth/session"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_FORGET,
      .statements = { &ngx_svc_sql_signin_session },
      .reply = ngx_svc_session_routes_session_reply },

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
      .check = ngx_svc_session_routes_revoke_check,
      .statements = { &ngx_svc_sql_admin_sessions_lock,
                      &ngx_svc_sql_admin_sessions_revoke,
                      &ngx_svc_sql_signin_rotate },
      .reply = ngx_svc_session_routes_revoke_reply },

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
      .prepare = ngx_svc_session_routes_logout_prepare,
      .reply = ngx_svc_session_routes_logout_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_session_routes_session_reply(ngx_svc_request_t *sr)
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
ngx_svc_session_routes_revoke_check(ngx_svc_request_t *sr, void *body)
{
    return ngx_svc_signin_new_key(sr);
}


static ngx_int_t
ngx_svc_session_routes_revoke_reply(ngx_svc_request_t *sr)
{
    PGresult                             *res;
    ngx_svc_signin_key_t                 *key;
    ngx_svc_row_admin_sessions_revoke_t   row;

    key = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_admin_sessions_revoke);
    ngx_svc_row_admin_sessions_revoke(&row, res, 0);

    if (row.revoked_sessions.data == NULL) {
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
 * A logout succeeds without a session, and with one that has ended, too.  It is
 * refused when a live session's request fails the CSRF check.
 */

static ngx_int_t
ngx_svc_session_routes_logout_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_svc_session_t  *session;

    sr->credential = &ngx_svc_session_credential;

    rc = sr->credential->take(sr);

    if (rc == NGX_DONE || rc == NGX_DECLINED) {
        return ngx_svc_session_routes_logged_out(sr);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    session = sr->session;
    sr->op->kind = NGX_SVC_PG_WRITE;

    rc = ngx_svc_auth_call(sr);

    /* the reply refuses the request, if the session is alive */

    sr->error.kind = NGX_SVC_E_NONE;

    if (rc == NGX_OK && !session->csrf_failed) {
        sr->op->committed = ngx_svc_request_committed;
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_logout, NULL);
    }

    return rc;
}


static ngx_int_t
ngx_svc_session_routes_logout_reply(ngx_svc_request_t *sr)
{
    ngx_svc_session_t  *session;

    session = sr->session;

    if (session->csrf_failed && ngx_svc_auth_tenant(sr->op->results).data) {
        sr->error.kind = NGX_SVC_E_CSRF;
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_session_routes_logged_out(sr);
}


static ngx_int_t
ngx_svc_session_routes_logged_out(ngx_svc_request_t *sr)
{
    if (ngx_svc_session_delete_cookies(sr) != NGX_OK
        || ngx_svc_signin_no_store(sr) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}
