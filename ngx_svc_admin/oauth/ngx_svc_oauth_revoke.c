/*
 * POST /oauth/revoke (RFC 7009): of an access token itself and all that was
 * exchanged from it, of what refreshes its grant.
 *
 * A JWT whose key the worker does not know takes a round trip before.  What is
 * revoked is marked in its row: of a client's own token that is stored first.
 *
 * Whoever is asked about a token looks at its parent and its root, too, and an
 * exchange waits for nobody.  Of one that was exchanged itself all that comes of
 * it is looked for again, when what was marked is committed, until nothing more
 * is found: what is exchanged later has a parent that is marked, and what comes
 * of that is refused.
 */

#include "ngx_svc_oauth_asserted.h"
#include "ngx_svc_oauth_kept.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_shown.h"


/* Who goes on exchanging meanwhile may keep a revocation busy so often. */

#define NGX_SVC_OAUTH_REVOKE_WALKS  16


static ngx_int_t ngx_svc_oauth_revoke_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_revoke_shown(ngx_svc_request_t *sr);
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

    /* who revokes a token, and leaves, has revoked all that is of it */

    sr->goes_on = 1;

    rc = ngx_svc_oauth_shown_take(sr, &o);

    return rc == NGX_OK
           ? ngx_svc_oauth_asserted_calls(o, ngx_svc_oauth_revoke_shown) : rc;
}


static ngx_int_t
ngx_svc_oauth_revoke_shown(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_shown(sr->data, ngx_svc_oauth_revoke_calls,
                               ngx_svc_oauth_revoke_reply);
}


/* Of what is forged, or nothing of ours, no token is looked for. */

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

    return ngx_svc_oauth_shown_answer(sr->data,
                                      ngx_svc_result_of(sr, statements),
                                      ngx_svc_oauth_revoke_sent);
}


static ngx_int_t
ngx_svc_oauth_revoke_sent(ngx_svc_oauth_t *o, PGresult *res)
{
    PGresult           *walked;
    ngx_svc_request_t  *sr;

    sr = o->sr;
    /* of a refresh token there is no walk */

    walked = ngx_svc_result(sr, &ngx_svc_sql_oauth_revoke_children);

    return PQntuples(walked) && ngx_svc_pg_true(walked, 0, 0)
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
    PGresult         *walked;
    ngx_svc_oauth_t  *o;

    o = sr->data;
    walked = ngx_svc_result(sr, &ngx_svc_sql_oauth_revoke_children);

    if (PQntuples(walked) == 0 || !ngx_svc_pg_true(walked, 0, 1)) {
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

    /* there is no body, and some clients want to be told of what */

    r->headers_out.content_type = sr->surface->content_type;
    r->headers_out.content_type_len = sr->surface->content_type.len;

    return ngx_svc_send_empty(sr, NGX_HTTP_OK);
}
