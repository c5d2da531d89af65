/*
 * GET and POST /oauth/authorize: the code flow (RFC 6749, 4.1).
 *
 * One round trip finds the session and the client, decides, and stores a grant
 * and its code; before it, another one reads a request that was pushed.
 * Errors go to the redirect URI once that is known to be the client's; earlier
 * ones are answered to the browser.
 */

#include "ngx_svc_login_policy.h"
#include "ngx_svc_oauth_fragments.row.h"
#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_oauth_request.h"
#include "ngx_svc_session.h"
#include "ngx_svc_oauth_decided.h"
#include "ngx_svc_oauth_outcome.h"
#include "ngx_svc_oauth_pushed.h"


static ngx_int_t ngx_svc_oauth_authorize_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_authorize_pushed(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_authorize_begin(ngx_svc_oauth_request_t *ar,
    ngx_str_t *slug);
static ngx_int_t ngx_svc_oauth_authorize_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_authorize_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_authorize_page(ngx_svc_oauth_request_t *ar,
    PGresult *res, ngx_svc_oauth_outcome_e outcome);
static ngx_int_t ngx_svc_oauth_authorize_client(ngx_svc_oauth_request_t *ar,
    PGresult *res);
static ngx_int_t ngx_svc_oauth_authorize_spent(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_authorize_post(ngx_svc_request_t *sr);


#include "ngx_svc_oauth_authorize.sql.h"


const ngx_svc_route_t  ngx_svc_oauth_authorize[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("[/t/*]/authorize"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_SESSION
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_PAGE,
      .prepare = ngx_svc_oauth_authorize_prepare,
      .reply = ngx_svc_oauth_authorize_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("[/t/*]/authorize"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_PAGE,
      .prepare = ngx_svc_oauth_authorize_post },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_oauth_authorize_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_str_t                 slug;
    ngx_svc_oauth_request_t  *ar;

    rc = ngx_svc_oauth_request_parse(sr, &sr->request->args, &ar);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ar->pushed.data) {
        return ngx_svc_oauth_pushed(ar, 1, ngx_svc_oauth_authorize_pushed);
    }

    rc = ngx_svc_oauth_authorize_begin(ar, &slug);

    if (rc == NGX_OK) {
        return ngx_svc_oauth_response(ar, &slug);
    }

    return rc == NGX_DECLINED ? ngx_svc_oauth_authorize_calls(sr) : rc;
}


/* Goes on with a pushed request, whose parameters have been read. */

static ngx_int_t
ngx_svc_oauth_authorize_pushed(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t   rc;
    ngx_str_t   slug;

    rc = ngx_svc_oauth_authorize_begin(ar, &slug);

    if (rc == NGX_OK) {
        return ngx_svc_oauth_response(ar, &slug);
    }

    if (rc != NGX_DECLINED) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ar->spent ? ngx_svc_oauth_pushed_refuse(ar)
                     : ngx_svc_request_again(ar->oauth.sr, NGX_SVC_PG_WRITE,
                                             ngx_svc_oauth_authorize_calls,
                                             ngx_svc_oauth_authorize_reply);
}


/*
 * Takes the session, and its user's decision on the page, with the tenant's
 * slug.  Returns NGX_OK: it can be answered; NGX_DECLINED: there is no
 * decision; NGX_ERROR.
 */

static ngx_int_t
ngx_svc_oauth_authorize_begin(ngx_svc_oauth_request_t *ar, ngx_str_t *slug)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_request_session(ar);

    return rc == NGX_OK ? ngx_svc_oauth_decided(ar, slug) : NGX_ERROR;
}


static ngx_int_t
ngx_svc_oauth_authorize_calls(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_oauth_request_t  *ar;

    ar = sr->data;

    ar->login = NGX_SVC_OAUTH_LOGIN_ASYNC;
    ar->statement = (ar->prompt & NGX_SVC_OAUTH_PROMPT_CREATE)
                    ? &ngx_svc_sql_oauth_authorize_create
                    : ar->pushed.data ? &ngx_svc_sql_oauth_authorize_pushed
                                      : &ngx_svc_sql_oauth_authorize;

    rc = ngx_svc_oauth_request_code(ar);

    return rc == NGX_OK ? ngx_svc_oauth_outcome_calls(ar) : rc;
}


static ngx_int_t
ngx_svc_oauth_authorize_reply(ngx_svc_request_t *sr)
{
    PGresult                 *login, *res;
    ngx_svc_oauth_outcome_e   outcome;
    ngx_svc_oauth_request_t  *ar;

    ar = sr->data;
    login = ngx_svc_oauth_client_result(&ar->oauth);
    res = ngx_svc_result(sr, ar->statement);

    ngx_svc_oauth_request_seen(ar);

    outcome = ngx_svc_oauth_outcome(ar, login, res);

    switch (outcome) {

    case NGX_SVC_OAUTH_FAILED:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;

    case NGX_SVC_OAUTH_REFUSED:
        return ngx_svc_send_error(sr);

    case NGX_SVC_OAUTH_JUDGED:
        return ngx_svc_oauth_outcome_again(sr->data);

    case NGX_SVC_OAUTH_NO_SESSION:
    case NGX_SVC_OAUTH_AGAIN:
    case NGX_SVC_OAUTH_ASK:
        return ngx_svc_oauth_authorize_page(sr->data, res, outcome);

    default: /* NGX_SVC_OAUTH_WRONG, NGX_SVC_OAUTH_DONE */
        return ngx_svc_oauth_authorize_client(sr->data, res);
    }
}


/*
 * Redirects to the page.  If that is to sign the user in anew, the address
 * says since when, in place of what has asked for it: a new sign-in is not
 * asked for twice.
 */

static ngx_int_t
ngx_svc_oauth_authorize_page(ngx_svc_oauth_request_t *ar, PGresult *res,
    ngx_svc_oauth_outcome_e outcome)
{
    ngx_str_t                 since, location;
    ngx_svc_row_authorized_t  row;

    if (ar->prompt & NGX_SVC_OAUTH_PROMPT_NONE) {
        return ngx_svc_oauth_authorize_client(ar, res);
    }

    ngx_str_null(&since);

    if (outcome != NGX_SVC_OAUTH_ASK && ngx_svc_oauth_request_fresh(ar)) {
        ngx_svc_row_authorized(&row, res, 0, 0);
        since = row.now;
    }

    if (ngx_svc_oauth_location_page(ar, &since,
                                    outcome == NGX_SVC_OAUTH_ASK, &location)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!ngx_svc_oauth_location_fits(ar->oauth.sr, &location)) {
        ar->oauth.sr->error.kind = NGX_SVC_E_NONE;

        (void) ngx_svc_fail(&ar->oauth.sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "The request is too long for the address of the "
                            "page that signs people in: shorten \"state\".");

        return ngx_svc_oauth_authorize_client(ar, res);
    }

    return ngx_svc_send_see_other(ar->oauth.sr, &location);
}


static ngx_int_t
ngx_svc_oauth_authorize_client(ngx_svc_oauth_request_t *ar, PGresult *res)
{
    ngx_svc_row_authorized_t  row;

    ngx_svc_row_authorized(&row, res, 0, 0);

    /* the statement has spent a pushed request that gets a code */

    return ar->pushed.data && ar->oauth.sr->error.kind != NGX_SVC_E_NONE
           ? ngx_svc_oauth_pushed_spend(ar, &row.slug,
                                        ngx_svc_oauth_authorize_spent)
           : ngx_svc_oauth_response(ar, &row.slug);
}


static ngx_int_t
ngx_svc_oauth_authorize_spent(ngx_svc_oauth_request_t *ar)
{
    return ngx_svc_oauth_response(ar, &ar->slug);
}


/*
 * A browser sends no session cookie with another site's POST (SameSite): it is
 * redirected to a GET, which has the cookie.
 */

static ngx_int_t
ngx_svc_oauth_authorize_post(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_str_t                 location;
    ngx_svc_oauth_request_t  *ar;

    ar = NULL;

    rc = ngx_svc_oauth_type(sr);

    if (rc == NGX_OK && sr->request->args.len) {
        rc = ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                          "Parameters of a POST belong into the body.");
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_request_parse(sr, &sr->body, &ar);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_oauth_location_again(ar, &location) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_see_other(sr, &location);
}
