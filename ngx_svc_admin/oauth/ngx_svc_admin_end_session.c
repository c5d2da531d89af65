/*
 * POST /v1/oauth/logout: signs out a user whom the page has asked.
 */

#include "ngx_svc_auth.h"
#include "ngx_svc_oauth_logout.h"
#include "ngx_svc_signin.h"


typedef struct {
    ngx_svc_value_t  request;
} ngx_svc_admin_end_session_t;


static ngx_int_t ngx_svc_admin_end_session_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_end_session_known(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_end_session_end(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_end_session_ended(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_end_session_send(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_end_session_members[] = {

    { .name = ngx_string("request"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .offset = offsetof(ngx_svc_admin_end_session_t, request) },

    ngx_svc_null_member
};

const ngx_svc_route_t  ngx_svc_admin_end_session[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/oauth/logout"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_JSON
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_PENDING_MFA
               |NGX_SVC_ROUTE_PENDING_ENROLL|NGX_SVC_ROUTE_PENDING_PASSWORD,
      .members = ngx_svc_admin_end_session_members,
      .body_size = sizeof(ngx_svc_admin_end_session_t),
      .prepare = ngx_svc_admin_end_session_prepare },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_end_session_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                     rc;
    ngx_svc_oauth_logout_t       *lo;
    ngx_svc_admin_end_session_t   body;

    lo = NULL;
    ngx_memzero(&body, sizeof(body));

    rc = ngx_svc_schema_object(sr->route->members, 0, sr->json, &body,
                               &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_logout_parse(sr, &body.request.str, &lo);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_oauth_logout_client_is(lo)) {
        sr->reply = ngx_svc_admin_end_session_known;
        return ngx_svc_oauth_logout_calls(lo);
    }

    rc = ngx_svc_session_credential.take(sr);

    if (rc == NGX_DONE || rc == NGX_DECLINED) {
        return ngx_svc_admin_end_session_send(sr);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    sr->credential = &ngx_svc_session_credential;
    sr->op->kind = NGX_SVC_PG_WRITE;
    sr->op->committed = ngx_svc_request_committed;
    sr->reply = ngx_svc_admin_end_session_ended;

    rc = ngx_svc_auth_call(sr);

    return rc == NGX_OK ? ngx_svc_admin_end_session_end(sr) : rc;
}


/* Answers what is wrong with the request before any session ends. */

static ngx_int_t
ngx_svc_admin_end_session_known(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_logout_judge(sr->data);

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_session_credential.take(sr);
    }

    if (rc == NGX_DONE || rc == NGX_DECLINED) {
        return ngx_svc_admin_end_session_send(sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sr->credential = &ngx_svc_session_credential;

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_admin_end_session_end,
                                 ngx_svc_admin_end_session_ended);
}


/*
 * Ends the session, but not if the CSRF token is wrong: the reply refuses
 * that, if the session is live.
 */

static ngx_int_t
ngx_svc_admin_end_session_end(ngx_svc_request_t *sr)
{
    ngx_svc_session_t  *session;

    session = sr->session;
    sr->error.kind = NGX_SVC_E_NONE;

    if (session->csrf_failed) {
        sr->op->committed = NULL;
        return NGX_OK;
    }

    return ngx_svc_route_call(sr, &ngx_svc_sql_signin_logout, NULL);
}


static ngx_int_t
ngx_svc_admin_end_session_ended(ngx_svc_request_t *sr)
{
    ngx_svc_session_t  *session;

    session = sr->session;

    if (session->csrf_failed && ngx_svc_auth_tenant(sr->op->results).data) {
        sr->error.kind = NGX_SVC_E_CSRF;
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_admin_end_session_send(sr);
}


static ngx_int_t
ngx_svc_admin_end_session_send(ngx_svc_request_t *sr)
{
    ngx_str_t              location;
    ngx_svc_json_writer_t  w;

    sr->error.kind = NGX_SVC_E_NONE;

    if (ngx_svc_oauth_logout_target(sr->data, 1, &location) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 64 + location.len)
           != NGX_OK
        || ngx_svc_session_delete_cookies(sr) != NGX_OK
        || ngx_svc_signin_no_store(sr) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    if (location.data) {
        ngx_svc_json_string(&w, "redirectTo", location.data, location.len);

    } else {
        ngx_svc_json_null(&w, "redirectTo");
    }

    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}
