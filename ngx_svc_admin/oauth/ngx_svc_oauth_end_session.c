/*
 * GET and POST /oauth/logout (OpenID Connect RP-Initiated Logout 1.0).
 *
 * Anybody may send a browser here.  Its session ends at once only if the hint
 * is of that very session, of which only its client has been told; else a page
 * asks the user.
 */

#include "ngx_svc_auth.h"
#include "ngx_svc_oauth_location.h"
#include "ngx_svc_login_url.h"
#include "ngx_svc_oauth_logout.h"
#include "ngx_svc_signin.h"


static ngx_int_t ngx_svc_oauth_end_session_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_end_session_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_end_session_end(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_end_session_ended(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_end_session_over(ngx_svc_oauth_logout_t *lo);
static ngx_int_t ngx_svc_oauth_end_session_ask(ngx_svc_oauth_logout_t *lo);
static ngx_int_t ngx_svc_oauth_end_session_page(ngx_svc_request_t *sr,
    const char *name, const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_end_session_post(ngx_svc_request_t *sr);


#define NGX_SVC_OAUTH_END_SESSION_STAGES                                      \
    (NGX_SVC_ROUTE_PENDING_MFA|NGX_SVC_ROUTE_PENDING_ENROLL                   \
     |NGX_SVC_ROUTE_PENDING_PASSWORD)

const ngx_svc_route_t  ngx_svc_oauth_end_session[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("[/t/*]/logout"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_SESSION
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_PAGE|NGX_SVC_OAUTH_END_SESSION_STAGES,
      .prepare = ngx_svc_oauth_end_session_prepare,
      .reply = ngx_svc_oauth_end_session_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("[/t/*]/logout"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_PAGE,
      .prepare = ngx_svc_oauth_end_session_post },

    ngx_svc_null_route
};


/* A cookie that cannot be one of ours counts as none. */

static ngx_int_t
ngx_svc_oauth_end_session_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_oauth_logout_t  *lo;

    rc = ngx_svc_oauth_logout_parse(sr, &sr->request->args, &lo);
    if (rc != NGX_OK) {
        return rc;
    }

    if (!ngx_svc_oauth_logout_client_is(lo)) {
        return ngx_svc_oauth_end_session_ask(lo);
    }

    rc = ngx_svc_session_credential.take(sr);

    if (rc == NGX_OK) {
        sr->credential = &ngx_svc_session_credential;
        rc = ngx_svc_oauth_bytes(sr, &lo->digest, sr->token_hash,
                                 NGX_SVC_SHA256_LEN);

    } else if (rc == NGX_DONE || rc == NGX_DECLINED) {
        sr->error.kind = NGX_SVC_E_NONE;
        rc = NGX_OK;
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_auth_call(sr);
    }

    return rc == NGX_OK ? ngx_svc_oauth_logout_calls(lo) : rc;
}


static ngx_int_t
ngx_svc_oauth_end_session_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_oauth_logout_t  *lo;

    lo = sr->data;

    rc = ngx_svc_oauth_logout_judge(lo);

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (lo->same && sr->request->method == NGX_HTTP_GET) {
        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_oauth_end_session_end,
                                     ngx_svc_oauth_end_session_ended);
    }

    return lo->valid && !lo->session ? ngx_svc_oauth_end_session_over(lo)
                                     : ngx_svc_oauth_end_session_ask(lo);
}


static ngx_int_t
ngx_svc_oauth_end_session_end(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_signin_logout, NULL);
}


static ngx_int_t
ngx_svc_oauth_end_session_ended(ngx_svc_request_t *sr)
{
    return ngx_svc_session_delete_cookies(sr) == NGX_OK
           ? ngx_svc_oauth_end_session_over(sr->data)
           : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


/* Answers when the browser has no session of the client's any more. */

static ngx_int_t
ngx_svc_oauth_end_session_over(ngx_svc_oauth_logout_t *lo)
{
    ngx_str_t  location;

    static const ngx_str_t  yes = ngx_string("1");

    if (ngx_svc_oauth_logout_target(lo, 0, &location) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return location.data
           ? ngx_svc_send_see_other(lo->oauth.sr, &location)
           : ngx_svc_oauth_end_session_page(lo->oauth.sr, "signed_out", &yes);
}


static ngx_int_t
ngx_svc_oauth_end_session_ask(ngx_svc_oauth_logout_t *lo)
{
    ngx_str_t  query;

    return ngx_svc_oauth_logout_query(lo, &query) == NGX_OK
           ? ngx_svc_oauth_end_session_page(lo->oauth.sr, "logout", &query)
           : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


/* Redirects to the page, with one parameter. */

static ngx_int_t
ngx_svc_oauth_end_session_page(ngx_svc_request_t *sr, const char *name,
    const ngx_str_t *value)
{
    u_char     *p;
    ngx_str_t   url, location;

    url = ngx_svc_login_url(sr->request);

    p = ngx_pnalloc(sr->request->pool,
                    url.len + sizeof("?=") + ngx_strlen(name)
                    + 3 * value->len);
    if (p == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    location.data = p;
    p = ngx_cpymem(p, url.data, url.len);
    p = ngx_svc_oauth_location_separator(p, &url, '?');
    p = ngx_sprintf(p, "%s=", name);
    p = (u_char *) ngx_escape_uri(p, value->data, value->len,
                                  NGX_ESCAPE_URI_COMPONENT);
    location.len = p - location.data;

    if (!ngx_svc_oauth_location_fits(sr, &location)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "The request is too long for the address of the "
                            "page that signs people out: shorten 'state'.");
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_send_see_other(sr, &location);
}


/*
 * A browser sends no session cookie with another site's POST (SameSite): it is
 * redirected to a GET, which has the cookie.
 */

static ngx_int_t
ngx_svc_oauth_end_session_post(ngx_svc_request_t *sr)
{
    u_char                  *p;
    ngx_int_t                rc;
    ngx_str_t                query, location;
    ngx_svc_oauth_logout_t  *lo;

    lo = NULL;

    rc = ngx_svc_oauth_type(sr);

    if (rc == NGX_OK && sr->request->args.len) {
        rc = ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                          "Parameters of a POST belong into the body.");
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_logout_parse(sr, &sr->body, &lo);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_oauth_logout_query(lo, &query) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    p = ngx_pnalloc(sr->request->pool,
                    3 * sr->request->uri.len + 1 + query.len);
    if (p == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    location.data = p;
    p = (u_char *) ngx_escape_uri(p, sr->request->uri.data,
                                  sr->request->uri.len, NGX_ESCAPE_URI);
    p = ngx_sprintf(p, "?%V", &query);
    location.len = p - location.data;

    return ngx_svc_send_see_other(sr, &location);
}
