/*
 * What an exchanged token may be for, and which scopes it may have.
 */

#include "ngx_svc_oauth_exchange.h"


static ngx_int_t ngx_svc_oauth_exchange_known(ngx_svc_oauth_t *o);
static ngx_uint_t ngx_svc_oauth_exchange_denied(ngx_svc_oauth_exchange_t *ex);
static ngx_uint_t ngx_svc_oauth_exchange_beyond(ngx_svc_oauth_t *o,
    const char *verdict, ngx_uint_t (*has)(ngx_svc_oauth_t *o,
    const ngx_str_t *scope));
static ngx_uint_t ngx_svc_oauth_exchange_scope_both(ngx_svc_oauth_t *o,
    const ngx_str_t *scope);
static ngx_uint_t ngx_svc_oauth_exchange_scope_below(ngx_svc_oauth_t *o,
    const ngx_str_t *scope);
static ngx_uint_t ngx_svc_oauth_exchange_scope_let(ngx_svc_oauth_t *o,
    const ngx_str_t *scope);


ngx_int_t
ngx_svc_oauth_exchange_judge_target(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (ngx_svc_oauth_client_row_fault(o, NGX_SVC_OAUTH_FAULT_TARGET)) {
        ex->verdict = NGX_SVC_OAUTH_FAULT_TARGET;
        return NGX_OK;
    }

    if (!o->wider && ex->client.allowed_keys.n == 1) {

        /* the one audience is the target, which may be registered */

        o->wider = 1;
        return NGX_AGAIN;
    }

    rc = ngx_svc_oauth_exchange_known(o);

    if (rc == NGX_OK && ex->verdict == NULL
        && ngx_svc_oauth_exchange_denied(ex))
    {
        ex->verdict = "audience";
    }

    return rc;
}


/*
 * Sets the target: the one that is asked for, or the only one that the ceiling
 * allows.  It must be in the ceiling, or be that of an enabled application.
 */

static ngx_int_t
ngx_svc_oauth_exchange_known(ngx_svc_oauth_t *o)
{
    ngx_int_t                  issuer;
    ngx_str_t                  key, uri;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    ngx_str_null(&key);
    ngx_str_null(&uri);

    if (o->wider) {
        key = ex->asking.target_key;
        uri = ex->asking.target_uri;
    }

    ex->key = key;
    ngx_str_null(&ex->uri);

    if (key.data == NULL) {
        ex->verdict = ex->audience.data ? "target" : NULL;
        return NGX_OK;
    }

    issuer = ngx_svc_oauth_client_row_issuer(o, &ex->client, &key);

    if (issuer == 0
        && !ngx_svc_pg_array_has(&ex->client.allowed_keys, &key)
        && !ex->asking.target_enabled)
    {
        ex->verdict = "target";
    }

    if (uri.data == NULL) {
        uri = o->resource_key.data ? o->resource : ex->client.allowed.elts[0];
    }

    if (issuer == 0) {
        ex->uri = uri;
    }

    return issuer == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/*
 * Returns 1 if the ceiling of an actor excludes the target, or the issuer if
 * there is no target.
 */

static ngx_uint_t
ngx_svc_oauth_exchange_denied(ngx_svc_oauth_exchange_t *ex)
{
    ngx_uint_t                     i;
    const ngx_str_t               *key;
    ngx_svc_oauth_lives_client_t  *client;

    if (ex->key.data == NULL && ex->client.audience_ceiling) {
        return 1;
    }

    key = ex->key.data ? &ex->key : &ex->subject.issuer;

    for (i = 0; i < ex->subject.nclients; i++) {
        client = &ex->subject.clients[i];

        if (client->audience_ceiling
            && ngx_svc_pg_array_has(&ex->chain, &client->client_id)
            && !ngx_svc_pg_array_has(&client->allowed_keys, key))
        {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_svc_oauth_exchange_judge_scopes(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (ngx_svc_oauth_client_row_fault(o, NGX_SVC_OAUTH_FAULT_SCOPE)) {
        ex->verdict = NGX_SVC_OAUTH_FAULT_SCOPE;
        return NGX_OK;
    }

    ex->scopes = ex->today.scopes;

    if (ngx_svc_oauth_exchange_beyond(o, "scope_subject",
                                      ngx_svc_oauth_exchange_scope_both)
        || ngx_svc_oauth_exchange_beyond(o, "scope_ceiling",
                                         ngx_svc_oauth_exchange_scope_below)
        || ngx_svc_oauth_exchange_beyond(o, "consent",
                                         ngx_svc_oauth_exchange_scope_let))
    {
        return NGX_OK;
    }

    if (o->scopes.data) {
        ex->scopes = ex->asked;
    }

    rc = ngx_svc_oauth_client_row_scope(o, &ex->scopes, &ex->token.scope);

    if (rc == NGX_DECLINED) {
        ex->verdict = "scope_long";
    }

    return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/*
 * Leaves in ex->scopes those that the step allows.  Returns 1, with the
 * verdict set, if a scope that is asked for is not among them, or if none is
 * left.
 */

static ngx_uint_t
ngx_svc_oauth_exchange_beyond(ngx_svc_oauth_t *o, const char *verdict,
    ngx_uint_t (*has)(ngx_svc_oauth_t *o, const ngx_str_t *scope))
{
    ngx_uint_t                 i, n;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    for (i = 0, n = 0; i < ex->scopes.n; i++) {
        if (has(o, &ex->scopes.elts[i])) {
            ex->scopes.elts[n++] = ex->scopes.elts[i];
        }
    }

    ex->scopes.n = n;

    for (i = 0; i < ex->asked.n; i++) {
        if (!ngx_svc_pg_array_has(&ex->scopes, &ex->asked.elts[i])) {
            ex->client.refused = ex->asked.elts[i];
            break;
        }
    }

    if (n == 0 || i < ex->asked.n || (o->scopes.data && ex->asked.n == 0)) {
        ex->verdict = verdict;
    }

    return ex->verdict != NULL;
}


static ngx_uint_t
ngx_svc_oauth_exchange_scope_both(ngx_svc_oauth_t *o, const ngx_str_t *scope)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    return ngx_svc_pg_array_has(&ex->client.scopes, scope)
           && !ngx_svc_oauth_client_row_of_users(scope);
}


/* Returns 1 if the ceilings of all actors allow the scope. */

static ngx_uint_t
ngx_svc_oauth_exchange_scope_below(ngx_svc_oauth_t *o, const ngx_str_t *scope)
{
    ngx_uint_t                     i;
    ngx_svc_oauth_exchange_t      *ex;
    ngx_svc_oauth_lives_client_t  *client;

    ex = o->data;

    for (i = 0; i < ex->subject.nclients; i++) {
        client = &ex->subject.clients[i];

        if (client->scope_ceiling
            && ngx_svc_pg_array_has(&ex->chain, &client->client_id)
            && !ngx_svc_pg_array_has(&client->allowed_scopes, scope))
        {
            return 0;
        }
    }

    return 1;
}


/*
 * Returns 1 if the user lets the client have the scope.  Each consent is
 * "<key> <scope>"; the key of the issuer is empty.
 */

static ngx_uint_t
ngx_svc_oauth_exchange_scope_let(ngx_svc_oauth_t *o, const ngx_str_t *scope)
{
    ngx_str_t                  key;
    ngx_uint_t                 i;
    const ngx_str_t           *let;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (ex->subject.user_id.data == NULL
        || !ex->asking.exchange_client.require_consent)
    {
        return 1;
    }

    ngx_str_null(&key);

    if (ex->uri.data) {
        key = ex->key;
    }

    for (i = 0; i < ex->consent.n; i++) {
        let = &ex->consent.elts[i];

        if (let->len == key.len + 1 + scope->len
            && ngx_memcmp(let->data + key.len + 1, scope->data, scope->len)
               == 0
            && let->data[key.len] == ' '
            && (key.len == 0
                || ngx_memcmp(let->data, key.data, key.len) == 0))
        {
            return 1;
        }
    }

    return 0;
}
