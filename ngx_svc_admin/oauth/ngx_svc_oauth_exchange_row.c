/*
 * What a token exchange has read.
 */

#include "ngx_svc_oauth_exchange_sql.h"


static int ngx_svc_oauth_exchange_row(ngx_svc_oauth_t *o, PGresult *res);
static ngx_int_t ngx_svc_oauth_exchange_take_token(ngx_svc_oauth_t *o,
    PGresult *res, const ngx_svc_oauth_bearer_t *bearer,
    ngx_svc_oauth_lives_t *lives);
static ngx_int_t ngx_svc_oauth_exchange_take_client(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_array(ngx_svc_oauth_t *o,
    ngx_uint_t column, ngx_svc_pg_array_t *array);


ngx_int_t
ngx_svc_oauth_exchange_take(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    ex->res = res;
    ex->row = ngx_svc_oauth_exchange_row(o, res);

    if (ex->row == NGX_ERROR) {
        return NGX_DECLINED;
    }

    if (ngx_svc_oauth_exchange_take_token(o, res, &o->token, &ex->subject)
        != NGX_OK
        || (ex->acts
            && ngx_svc_oauth_exchange_take_token(o,
                                           o->sr->op->results[ex->acting_call],
                                           &ex->actor, &ex->acting)
               != NGX_OK)
        || ngx_svc_oauth_exchange_take_client(o) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_exchange_chain(o);
}


/* The row of who asks; NGX_ERROR: there is none. */

static int
ngx_svc_oauth_exchange_row(ngx_svc_oauth_t *o, PGresult *res)
{
    int        row;
    ngx_str_t  id;

    for (row = 0; row < PQntuples(res); row++) {
        id = ngx_svc_pg_value(res, row, NGX_SVC_OAUTH_LIVES_A_ID);

        if (ngx_svc_same(&id, &o->client.id)) {
            return row;
        }
    }

    return NGX_ERROR;
}


/* What says that it is another tenant's is none of this one's. */

static ngx_int_t
ngx_svc_oauth_exchange_take_token(ngx_svc_oauth_t *o, PGresult *res,
    const ngx_svc_oauth_bearer_t *bearer, ngx_svc_oauth_lives_t *lives)
{
    if (ngx_svc_oauth_lives_read(o->sr->request->pool, res, bearer, &o->issuer,
                                 lives)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (bearer->tenant.data
        && ngx_memcmp(bearer->tenant.data, o->tenant.data, NGX_SVC_UUID_LEN)
           != 0)
    {
        lives->found = 0;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_exchange_take_client(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t            *ex;
    ngx_svc_oauth_client_row_t          *client;
    const ngx_svc_oauth_lives_client_t  *asks;

    static const ngx_str_t  none = ngx_string("none");

    ex = o->data;
    client = &ex->client;

    asks = ngx_svc_oauth_lives_client(&ex->subject, &o->client.id);
    ex->asks = asks;

    client->scopes = asks->scopes;
    client->allowed_scopes = asks->allowed_scopes;
    client->allowed_keys = asks->allowed_keys;
    client->scope_ceiling = asks->scope_ceiling;
    client->audience_ceiling = asks->audience_ceiling;
    client->slug = asks->slug;
    client->public = ngx_svc_same(&asks->auth_method, &none);
    client->suspended = asks->suspended;
    client->dpop = ngx_svc_oauth_exchange_true(ex,
                                               NGX_SVC_OAUTH_EXCHANGE_DPOP);
    client->state = !asks->enabled ? "disabled"
                    : asks->expired ? "expired"
                    : asks->orphaned ? "orphaned" : NULL;

    ngx_str_null(&client->refused);

    if (ngx_svc_oauth_exchange_array(o, NGX_SVC_OAUTH_EXCHANGE_GRANTS,
                                     &client->grants)
        != NGX_OK
        || ngx_svc_oauth_exchange_array(o, NGX_SVC_OAUTH_EXCHANGE_ALLOWED,
                                        &client->allowed)
           != NGX_OK
        || ngx_svc_pg_array_read(o->sr->request->pool, &o->scopes, &ex->asked)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_exchange_array(o, NGX_SVC_OAUTH_EXCHANGE_CONSENT,
                                        &ex->consent);
}


static ngx_int_t
ngx_svc_oauth_exchange_array(ngx_svc_oauth_t *o, ngx_uint_t column,
    ngx_svc_pg_array_t *array)
{
    ngx_str_t                  text;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    text = ngx_svc_pg_value(ex->res, ex->row, column);

    return ngx_svc_pg_array_read(o->sr->request->pool, &text, array) == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


ngx_uint_t
ngx_svc_oauth_exchange_true(ngx_svc_oauth_exchange_t *ex, ngx_uint_t column)
{
    return ngx_svc_pg_true(ex->res, ex->row, column);
}


/* Who exchanges its own token once more only narrows what it has. */

ngx_int_t
ngx_svc_oauth_exchange_chain(ngx_svc_oauth_t *o)
{
    ngx_str_t                 *id;
    ngx_uint_t                 i;
    ngx_svc_oauth_lives_t     *subject;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;
    subject = &ex->subject;

    ex->chain.n = 0;
    ex->principals.n = 0;
    ex->chain.elts = ngx_palloc(o->sr->request->pool,
                                (2 * subject->chain.n + subject->principals.n
                                 + 2) * sizeof(ngx_str_t));
    if (ex->chain.elts == NULL) {
        return NGX_ERROR;
    }

    if (!subject->found || subject->chain.n == 0
        || !ngx_svc_same(&subject->chain.elts[0], &o->client.id))
    {
        ex->chain.elts[ex->chain.n++] = o->client.id;
    }

    for (i = 0; subject->found && i < subject->chain.n; i++) {
        ex->chain.elts[ex->chain.n++] = subject->chain.elts[i];
    }

    ex->principals.elts = ex->chain.elts + ex->chain.n;

    for (i = 0; i < ex->chain.n; i++) {
        ex->principals.elts[ex->principals.n++] = ex->chain.elts[i];
    }

    for (i = 0; subject->found && i < subject->principals.n; i++) {
        id = &subject->principals.elts[i];

        if (!ngx_svc_pg_array_has(&ex->chain, id)) {
            ex->principals.elts[ex->principals.n++] = *id;
        }
    }

    return NGX_OK;
}
