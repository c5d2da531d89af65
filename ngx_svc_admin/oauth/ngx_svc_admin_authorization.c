/*
 * GET /v1/oauth/authorization: tells the page what a request asks for.
 */

#include "ngx_svc_login_policy.h"
#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_oauth_request.h"
#include "ngx_svc_session.h"
#include "ngx_svc_oauth_outcome.h"
#include "ngx_svc_oauth_pushed.h"
#include "ngx_svc_url.h"


static ngx_int_t ngx_svc_admin_authorization_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_authorization_pushed(
    ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_admin_authorization_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_authorization_reply(ngx_svc_request_t *sr);
static void ngx_svc_admin_authorization_more(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


#include "ngx_svc_admin_authorization.sql.h"


const ngx_svc_route_t  ngx_svc_admin_authorization[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/oauth/authorization"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_SESSION
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_CALLER,
      .prepare = ngx_svc_admin_authorization_prepare,
      .more = ngx_svc_admin_authorization_more,
      .reply = ngx_svc_admin_authorization_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_authorization_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_oauth_request_t  *ar;

    rc = ngx_svc_oauth_request_parse(sr, &sr->request->args, &ar);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ar->pushed.data) {
        return ngx_svc_oauth_pushed(ar, 0, ngx_svc_admin_authorization_pushed);
    }

    rc = ngx_svc_oauth_request_session(ar);

    return rc == NGX_OK ? ngx_svc_admin_authorization_calls(sr) : rc;
}


static ngx_int_t
ngx_svc_admin_authorization_pushed(ngx_svc_oauth_request_t *ar)
{
    return ngx_svc_oauth_request_session(ar) == NGX_OK
           ? ngx_svc_request_again(ar->oauth.sr, NGX_SVC_PG_READ,
                                   ngx_svc_admin_authorization_calls,
                                   ngx_svc_admin_authorization_reply)
           : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_svc_admin_authorization_calls(ngx_svc_request_t *sr)
{
    ngx_svc_oauth_request_t  *ar;

    ar = sr->data;

    ar->login = NGX_SVC_OAUTH_LOGIN_SYNC;
    ar->statement = &ngx_svc_sql_admin_authorization;

    return ngx_svc_oauth_outcome_calls(ar);
}


static ngx_int_t
ngx_svc_admin_authorization_reply(ngx_svc_request_t *sr)
{
    PGresult                 *login, *res;
    ngx_svc_oauth_request_t  *ar;

    static ngx_str_t          no_store = ngx_string("no-store");

    ar = sr->data;
    login = ngx_svc_oauth_client_result(&ar->oauth);
    res = ngx_svc_result(sr, ar->statement);

    ngx_svc_oauth_request_seen(ar);

    switch (ngx_svc_oauth_outcome(ar, login, res)) {

    case NGX_SVC_OAUTH_FAILED:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;

    case NGX_SVC_OAUTH_REFUSED:
    case NGX_SVC_OAUTH_WRONG:
        return ngx_svc_send_error(sr);

    case NGX_SVC_OAUTH_JUDGED:
        return ngx_svc_oauth_outcome_again(sr->data);

    default:
        break;
    }

    if (ngx_svc_add_header(sr->request, "Cache-Control", &no_store) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_route_row(sr, res);
}


/* Adds members.  The redirect URI is one of the client's, so it is a URL. */

static void
ngx_svc_admin_authorization_more(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr)
{
    ngx_str_t                 hint;
    ngx_svc_url_t             url;
    ngx_svc_oauth_request_t  *ar;

    ar = sr->data;

    if (ngx_svc_url_split(&ar->redirect_uri, &url) != NGX_OK) {
        w->failed = 1;
        return;
    }

    ngx_svc_json_string(w, "redirectHost", url.host.data, url.host.len);

    /* the page cannot read it in the address if the request was pushed */

    if (ngx_svc_form_nth(&ar->oauth.form, "login_hint", 0, &hint) == NGX_OK) {
        ngx_svc_json_string(w, "loginHint", hint.data, hint.len);
    }
}
