/*
 * POST /oauth/revoke (RFC 7009).  It revokes an access token with all tokens
 * that were exchanged from it; or, with a refresh token, its grant.
 *
 * A JWT whose key the worker does not know takes a round trip before.  A
 * revoked token is marked in its row: the row of a client's own token is stored
 * first.
 *
 * Each look at a token also looks at its parent and its root, and so an
 * exchange does not wait for a revocation.  If the token was exchanged itself,
 * the tokens below it are looked for again when the first marks are committed,
 * until no more are found: a token that is exchanged later has a parent that is
 * marked, and is dead.
 */

#include "ngx_svc_oauth_asserted.h"
#include "ngx_svc_oauth_kept.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_presented.h"


/* How often tokens that are exchanged meanwhile are looked for at most. */

#define NGX_SVC_OAUTH_REVOKE_WALKS  16


static ngx_int_t ngx_svc_oauth_revoke_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_presented(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_sent(ngx_svc_oauth_t *o, PGresult *res);
static ngx_int_t ngx_svc_oauth_revoke_again(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_walked(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_send(ngx_svc_request_t *sr);


#include "ngx_svc_oauth_revoke.sql.h"


const ngx_svc_route_t  ngx_svc_oauth_revoke[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("[/t/*]/revoke"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_ANY_ORIGIN,
      .statements = { &ngx_svc_sql_oauth_revoke,
                      &ngx_svc_sql_oauth_revoke_children,
                      &ngx_svc_sql_oauth_revoke_grant },
      .prepare = ngx_svc_oauth_revoke_prepare,
      .reply = ngx_svc_oauth_revoke_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_oauth_revoke_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    /* all is revoked, even if the client closes the connection meanwhile */

    sr->goes_on = 1;

    rc = ngx_svc_oauth_presented_take(sr, &o);

    return rc == NGX_OK
           ? ngx_svc_oauth_asserted_calls(o, ngx_svc_oauth_revoke_presented)
           : rc;
}


static ngx_int_t
ngx_svc_oauth_revoke_presented(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_presented(sr->data, ngx_svc_oauth_revoke_calls,
                                   ngx_svc_oauth_revoke_reply);
}


/*
 * Adds the op's calls.  They find no row for a text that is forged, or that is
 * no token of ours.
 */

static ngx_int_t
ngx_svc_oauth_revoke_calls(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    o = sr->data;

    rc = ngx_svc_oauth_client_call(o, NGX_SVC_OAUTH_LOGIN_SYNC);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_once_call_only(o);
    }

    if (rc == NGX_OK && o->token.kind == NGX_SVC_OAUTH_BEARER_REFRESH) {
        return ngx_svc_route_call(sr, &ngx_svc_sql_oauth_revoke_grant, NULL);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_kept_call(o, &o->token);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_oauth_revoke, NULL);
    }

    return rc == NGX_OK
           ? ngx_svc_route_call(sr, &ngx_svc_sql_oauth_revoke_children, NULL)
           : rc;
}


static ngx_int_t
ngx_svc_oauth_revoke_reply(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  statements[] = {
        &ngx_svc_sql_oauth_revoke,
        &ngx_svc_sql_oauth_revoke_grant,
        NULL
    };

    return ngx_svc_oauth_presented_answer(sr->data,
                                          ngx_svc_result_of(sr, statements),
                                          ngx_svc_oauth_revoke_sent);
}


static ngx_int_t
ngx_svc_oauth_revoke_sent(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_request_t                    *sr;
    ngx_svc_row_oauth_revoke_children_t   walked;

    sr = o->sr;
    /* there is no such result for a refresh token */

    ngx_svc_row_oauth_revoke_children(&walked,
                  ngx_svc_result(sr, &ngx_svc_sql_oauth_revoke_children), 0);

    return walked.exchanged
           ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                   ngx_svc_oauth_revoke_again,
                                   ngx_svc_oauth_revoke_walked)
           : ngx_svc_oauth_revoke_send(sr);
}


static ngx_int_t
ngx_svc_oauth_revoke_again(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_client_tenant(sr->data);

    return rc == NGX_OK
           ? ngx_svc_route_call(sr, &ngx_svc_sql_oauth_revoke_children, NULL)
           : rc;
}


static ngx_int_t
ngx_svc_oauth_revoke_walked(ngx_svc_request_t *sr)
{
    ngx_svc_oauth_t                      *o;
    ngx_svc_row_oauth_revoke_children_t   walked;

    o = sr->data;
    ngx_svc_row_oauth_revoke_children(&walked,
                  ngx_svc_result(sr, &ngx_svc_sql_oauth_revoke_children), 0);

    if (!walked.exists) {
        return ngx_svc_oauth_revoke_send(sr);
    }

    return ++o->walks < NGX_SVC_OAUTH_REVOKE_WALKS
           ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                   ngx_svc_oauth_revoke_again,
                                   ngx_svc_oauth_revoke_walked)
           : ngx_svc_send_busy(sr);
}


static ngx_int_t
ngx_svc_oauth_revoke_send(ngx_svc_request_t *sr)
{
    ngx_http_request_t  *r;

    r = sr->request;

    /* there is no body, but some clients insist on a Content-Type */

    r->headers_out.content_type = sr->surface->content_type;
    r->headers_out.content_type_len = sr->surface->content_type.len;

    return ngx_svc_send_empty(sr, NGX_HTTP_OK);
}
