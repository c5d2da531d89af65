/*
 * POST /oauth/introspect (RFC 7662).
 *
 * Each request asks PostgreSQL whether the token lives, in one round trip.  It
 * also brings the key of a JWT whose signature the worker has not verified yet.
 * A client's own token says all else about itself; another one has a row.
 */

#include "ngx_svc_oauth_introspected.h"
#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_oauth_asserted.h"
#include "ngx_svc_oauth_lives_row.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_own_live.h"
#include "ngx_svc_oauth_refusal.h"
#include "ngx_svc_oauth_presented.h"


static ngx_int_t ngx_svc_oauth_introspect_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_introspect_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_introspect_owners(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_introspect_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_introspect_tell(ngx_svc_oauth_t *o,
    PGresult *res);
static ngx_int_t ngx_svc_oauth_introspect_own(ngx_svc_oauth_t *o,
    PGresult *res, ngx_svc_oauth_introspected_t *token);
static ngx_int_t ngx_svc_oauth_introspect_row(ngx_svc_oauth_t *o,
    PGresult *res, ngx_svc_oauth_introspected_t *token);
static ngx_int_t ngx_svc_oauth_introspect_refresh(ngx_svc_oauth_t *o,
    PGresult *res, ngx_svc_oauth_introspected_t *token);
static ngx_int_t ngx_svc_oauth_introspect_asks(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_lives_client_t *asks);
static ngx_uint_t ngx_svc_oauth_introspect_sees(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_client_t *asks);
static void ngx_svc_oauth_introspect_signed_in(PGresult *res,
    ngx_svc_oauth_introspected_t *token);
static ngx_int_t ngx_svc_oauth_introspect_lives(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_today_t *today,
    ngx_svc_oauth_introspected_t *token);


#include "ngx_svc_oauth_introspect.sql.h"


const ngx_svc_route_t  ngx_svc_oauth_introspect[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("[/t/*]/introspect"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_oauth_own_opaque,
                      &ngx_svc_sql_oauth_own_jwt,
                      &ngx_svc_sql_oauth_own_agent,
                      &ngx_svc_sql_oauth_introspect_opaque,
                      &ngx_svc_sql_oauth_introspect_jwt,
                      &ngx_svc_sql_oauth_introspect_owners,
                      &ngx_svc_sql_oauth_introspect_none,
                      &ngx_svc_sql_oauth_introspect_refresh },
      .prepare = ngx_svc_oauth_introspect_prepare,
      .reply = ngx_svc_oauth_introspect_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_oauth_introspect_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    rc = ngx_svc_oauth_presented_take(sr, &o);

    return rc == NGX_OK
           ? ngx_svc_oauth_asserted_calls(o, ngx_svc_oauth_introspect_calls)
           : rc;
}


static ngx_int_t
ngx_svc_oauth_introspect_calls(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    static const ngx_svc_pg_statement_t *const  statements[] = {
        [NGX_SVC_OAUTH_BEARER_NONE] = &ngx_svc_sql_oauth_introspect_none,
        [NGX_SVC_OAUTH_BEARER_JWT] = &ngx_svc_sql_oauth_introspect_jwt,
        [NGX_SVC_OAUTH_BEARER_OPAQUE] = &ngx_svc_sql_oauth_introspect_opaque,
        [NGX_SVC_OAUTH_BEARER_REFRESH] = &ngx_svc_sql_oauth_introspect_refresh
    };

    o = sr->data;

    rc = ngx_svc_oauth_client_call(o, NGX_SVC_OAUTH_LOGIN_SYNC);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_once_call_only(o);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (o->token.own) {
        return ngx_svc_oauth_own_live_call(o);
    }

    o->statement = statements[o->token.kind];

    return ngx_svc_route_call(sr, o->statement, NULL);
}


/* Asks once more, by a statement that looks at the owners of agents, too. */

static ngx_int_t
ngx_svc_oauth_introspect_owners(ngx_svc_request_t *sr)
{
    ngx_svc_oauth_t  *o;

    o = sr->data;
    o->statement = &ngx_svc_sql_oauth_introspect_owners;

    return ngx_svc_oauth_client_call_then(o, o->statement);
}


static ngx_int_t
ngx_svc_oauth_introspect_reply(ngx_svc_request_t *sr)
{
    ngx_svc_oauth_t  *o;

    o = sr->data;

    return ngx_svc_oauth_presented_answer(o, ngx_svc_result(sr, o->statement),
                                          ngx_svc_oauth_introspect_tell);
}


static ngx_int_t
ngx_svc_oauth_introspect_tell(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_int_t                     rc;
    ngx_svc_oauth_introspected_t  token;

    ngx_memzero(&token, sizeof(ngx_svc_oauth_introspected_t));

    if (o->token.own) {
        rc = ngx_svc_oauth_introspect_own(o, res, &token);

    } else if (o->token.kind == NGX_SVC_OAUTH_BEARER_NONE) {
        rc = NGX_DECLINED;

    } else if (o->token.kind == NGX_SVC_OAUTH_BEARER_REFRESH) {
        rc = ngx_svc_oauth_introspect_refresh(o, res, &token);

    } else {
        rc = ngx_svc_oauth_introspect_row(o, res, &token);
    }

    if (rc == NGX_AGAIN) {
        return ngx_svc_request_again(o->sr, NGX_SVC_PG_READ,
                                     ngx_svc_oauth_introspect_owners,
                                     ngx_svc_oauth_introspect_reply);
    }

    if (rc == NGX_ABORT) {
        return ngx_svc_oauth_refuse_client(o, ngx_svc_oauth_client_result(o));
    }

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_oauth_introspected_send(o, rc == NGX_OK ? &token : NULL);
}


/*
 * Fills token in for a client's own token.  Returns NGX_OK; NGX_DECLINED: it is
 * dead, or the client that asks may not see it; or NGX_ERROR.
 */

static ngx_int_t
ngx_svc_oauth_introspect_own(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_introspected_t *token)
{
    ngx_int_t                   rc;
    ngx_svc_oauth_own_t        *own;
    ngx_svc_oauth_own_today_t   today;

    own = o->token.own;

    rc = ngx_svc_oauth_own_presented(o, res)
         ? ngx_svc_oauth_own_live(o, res, &today) : NGX_DECLINED;

    if (rc != NGX_OK) {
        return rc;
    }

    token->access = 1;
    token->sub = own->client_id;
    token->client_id = own->client_id;
    token->scope = today.scope;
    token->jkt = own->jkt;

    token->iss = ngx_svc_oauth_issuer(o->sr, &today.slug);
    token->aud = own->audience.data ? own->audience : token->iss;

    return token->iss.data
           ? ngx_svc_oauth_introspected_times(o, own->ms, today.ends, own->jti,
                                              token)
           : NGX_ERROR;
}


static ngx_int_t
ngx_svc_oauth_introspect_refresh(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_introspected_t *token)
{
    ngx_svc_row_oauth_introspect_refresh_t  row;

    ngx_svc_row_oauth_introspect_refresh(&row, res, 0);

    token->client_id = row.client_id;
    token->sub = row.sub;
    token->scope = row.scope;
    token->exp = row.exp;

    return token->client_id.data ? NGX_OK : NGX_DECLINED;
}


/*
 * Fills token in for a token with a row.  Returns what _own() does; NGX_ABORT:
 * the client that asks is refused; or NGX_AGAIN: owners of agents must be
 * looked at first.
 */

static ngx_int_t
ngx_svc_oauth_introspect_row(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_introspected_t *token)
{
    ngx_int_t                            rc;
    ngx_pool_t                          *pool;
    ngx_svc_oauth_lives_t                lives;
    ngx_svc_oauth_lives_today_t          today;
    const ngx_svc_oauth_lives_client_t  *asks;

    pool = o->sr->request->pool;

    if (ngx_svc_oauth_lives_read(pool, res, &o->token, &o->issuer, &lives)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    asks = ngx_svc_oauth_lives_client(&lives, &o->client.id);

    rc = ngx_svc_oauth_introspect_asks(o, asks);

    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_oauth_introspect_sees(o, &lives, asks)
         ? ngx_svc_oauth_lives(pool, &lives, &today) : NGX_DECLINED;

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_presented_verify(o, &o->token, &lives.jwk);
    }

    if (rc == NGX_OK) {
        ngx_svc_oauth_introspect_signed_in(res, token);
    }

    return rc == NGX_OK
           ? ngx_svc_oauth_introspect_lives(o, &lives, &today, token) : rc;
}


/*
 * Tells whether the client that asks is a confidential one, and may act today.
 * Returns NGX_OK, NGX_ABORT or NGX_AGAIN as above.
 */

static ngx_int_t
ngx_svc_oauth_introspect_asks(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_lives_client_t *asks)
{
    ngx_int_t  rc;

    static const ngx_str_t  none = ngx_string("none");

    if (asks == NULL || *o->client.public.data
        || (asks->auth_method.len == none.len
            && ngx_memcmp(asks->auth_method.data, none.data, none.len) == 0))
    {
        return NGX_ABORT;
    }

    rc = ngx_svc_oauth_lives_state(asks);

    return rc == NGX_DECLINED ? NGX_ABORT : rc;
}


/*
 * Returns 1 if the client that asks may see the token: it was issued to that
 * client, or is for that client's resource, or is for the issuer.
 */

static ngx_uint_t
ngx_svc_oauth_introspect_sees(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_client_t *asks)
{
    if (o->token.tenant.data
        && ngx_memcmp(o->token.tenant.data, o->tenant.data, NGX_SVC_UUID_LEN)
           != 0)
    {
        return 0;
    }

    return lives->audience.data == NULL
           || (lives->client_id.len == asks->client_id.len
               && ngx_memcmp(lives->client_id.data, asks->client_id.data,
                             asks->client_id.len)
                  == 0)
           || (asks->resource_key.data
               && lives->audience_key.len == asks->resource_key.len
               && ngx_memcmp(lives->audience_key.data,
                             asks->resource_key.data, asks->resource_key.len)
                  == 0);
}


/* Sets auth_time, without the fraction that PostgreSQL tells, and acr. */

static void
ngx_svc_oauth_introspect_signed_in(PGresult *res,
    ngx_svc_oauth_introspected_t *token)
{
    u_char     *point;
    ngx_str_t   time, methods;

    time = ngx_svc_row_value(res, 0, "auth_time");
    methods = ngx_svc_row_value(res, 0, "methods");

    if (time.data == NULL) {
        return;
    }

    point = ngx_strlchr(time.data, time.data + time.len, '.');

    if (point) {
        time.len = point - time.data;
    }

    token->auth_time = time;
    token->acr = ngx_svc_oauth_acr(&methods);
}


static ngx_int_t
ngx_svc_oauth_introspect_lives(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_today_t *today,
    ngx_svc_oauth_introspected_t *token)
{
    ngx_pool_t  *pool;

    pool = o->sr->request->pool;

    token->access = 1;
    token->client_id = lives->client_id;
    token->sub = lives->user_id.data
                 ? lives->user_id
                 : lives->principals.elts[lives->principals.n - 1];
    token->iss = lives->issuer;
    token->aud = lives->audience.data ? lives->audience : token->iss;

    if (lives->chain.n
        && ngx_svc_pg_array_join(pool, &lives->chain, &token->chain) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_svc_pg_array_join(pool, &today->scopes, &token->scope) != NGX_OK
        || ngx_svc_oauth_introspected_times(o, lives->ms, today->ends,
                                            o->token.jti.data, token)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_introspected_jkt(o, &lives->jkt, &token->jkt);
}
