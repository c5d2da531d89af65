/*
 * Whether a token with a row lives: that depends on all clients that it lives
 * by, its user, its grant and its key.
 */

#include "ngx_svc_oauth_lives.h"


static ngx_uint_t ngx_svc_oauth_lives_token(
    const ngx_svc_oauth_lives_t *lives);
static ngx_int_t ngx_svc_oauth_lives_principal(
    const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_client_t *client);
static ngx_uint_t ngx_svc_oauth_lives_acts(const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_client_t *client);
static ngx_uint_t ngx_svc_oauth_lives_current(
    const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_client_t *client);
static int64_t ngx_svc_oauth_lives_ends(const ngx_svc_oauth_lives_t *lives);
static ngx_int_t ngx_svc_oauth_lives_scopes(ngx_pool_t *pool,
    const ngx_svc_oauth_lives_t *lives, ngx_svc_pg_array_t *left);
static ngx_uint_t ngx_svc_oauth_lives_others(const ngx_svc_pg_array_t *scopes);


/* This scope comes with a refresh token, and no client has it among its own. */
static const ngx_str_t  ngx_svc_oauth_lives_offline =
    ngx_string("offline_access");


ngx_int_t
ngx_svc_oauth_lives(ngx_pool_t *pool, const ngx_svc_oauth_lives_t *lives,
    ngx_svc_oauth_lives_today_t *today)
{
    ngx_int_t                            rc, again;
    ngx_uint_t                           i;
    const ngx_svc_oauth_lives_client_t  *client;

    again = NGX_OK;

    if (!ngx_svc_oauth_lives_token(lives)) {
        return NGX_DECLINED;
    }

    for (i = 0; i < lives->principals.n; i++) {
        client = ngx_svc_oauth_lives_client(lives, &lives->principals.elts[i]);

        rc = client ? ngx_svc_oauth_lives_principal(lives, client)
                    : NGX_DECLINED;

        if (rc == NGX_DECLINED) {
            return rc;
        }

        if (rc == NGX_AGAIN) {
            again = rc;
        }
    }

    today->ends = ngx_svc_oauth_lives_ends(lives);

    if (today->ends <= lives->now) {
        return NGX_DECLINED;
    }

    rc = ngx_svc_oauth_lives_scopes(pool, lives, &today->scopes);

    return rc == NGX_OK ? again : rc;
}


/* Returns 1 if nothing but the clients can be a reason for it to be dead. */

static ngx_uint_t
ngx_svc_oauth_lives_token(const ngx_svc_oauth_lives_t *lives)
{
    if (!lives->found || lives->revoked || lives->keyless
        || !lives->grant_good || lives->principals.n == 0)
    {
        return 0;
    }

    return lives->user_id.data == NULL
           || (lives->user_active && !lives->user_stale);
}


static ngx_int_t
ngx_svc_oauth_lives_principal(const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_client_t *client)
{
    const ngx_str_t  *key;

    key = lives->audience_key.data ? &lives->audience_key : &lives->issuer;

    if (client->stale || client->refused
        || (client->audience_ceiling
            && ngx_svc_oauth_lives_acts(lives, client)
            && !ngx_svc_pg_array_has(&client->allowed_keys, key)))
    {
        return NGX_DECLINED;
    }

    return ngx_svc_oauth_lives_state(client);
}


ngx_int_t
ngx_svc_oauth_lives_state(const ngx_svc_oauth_lives_client_t *client)
{
    if (client->suspended || !client->enabled || client->expired
        || client->orphaned)
    {
        return NGX_DECLINED;
    }

    return client->unread ? NGX_AGAIN : NGX_OK;
}


const ngx_svc_oauth_lives_client_t *
ngx_svc_oauth_lives_client(const ngx_svc_oauth_lives_t *lives,
    const ngx_str_t *id)
{
    ngx_uint_t                           i;
    const ngx_svc_oauth_lives_client_t  *client;

    for (i = 0; i < lives->nclients; i++) {
        client = &lives->clients[i];

        if (client->client_id.len == id->len
            && ngx_memcmp(client->client_id.data, id->data, id->len) == 0)
        {
            return client;
        }
    }

    return NULL;
}


/*
 * Returns 1 if the client's ceilings count: it holds the token, or is an actor.
 * They do not count if it has only passed the token on.
 */

static ngx_uint_t
ngx_svc_oauth_lives_acts(const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_client_t *client)
{
    return ngx_svc_oauth_lives_current(lives, client)
           || ngx_svc_pg_array_has(&lives->chain, &client->client_id);
}


static ngx_uint_t
ngx_svc_oauth_lives_current(const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_client_t *client)
{
    return client->client_id.len == lives->client_id.len
           && ngx_memcmp(client->client_id.data, lives->client_id.data,
                         client->client_id.len)
              == 0;
}


static int64_t
ngx_svc_oauth_lives_ends(const ngx_svc_oauth_lives_t *lives)
{
    ngx_int_t                            ttl;
    ngx_uint_t                           i;
    const ngx_svc_oauth_lives_client_t  *client;

    ttl = lives->ttl;

    for (i = 0; i < lives->principals.n; i++) {
        client = ngx_svc_oauth_lives_client(lives, &lives->principals.elts[i]);

        if (ngx_svc_oauth_lives_current(lives, client)) {
            ttl = ngx_min(ttl, client->ttl);
        }

        if (client->max_ttl != NGX_ERROR
            && ngx_svc_oauth_lives_acts(lives, client))
        {
            ttl = ngx_min(ttl, client->max_ttl);
        }
    }

    return lives->ms + (int64_t) ttl * 1000;
}


/*
 * Sets *left to the scopes that the token has today.  Returns NGX_OK;
 * NGX_DECLINED: it had scopes beside offline_access, and has none any more; or
 * NGX_ERROR.
 */

static ngx_int_t
ngx_svc_oauth_lives_scopes(ngx_pool_t *pool,
    const ngx_svc_oauth_lives_t *lives, ngx_svc_pg_array_t *left)
{
    ngx_str_t   *scope;
    ngx_uint_t   i;

    left->n = 0;
    left->elts = ngx_palloc(pool, (lives->scopes.n + 1) * sizeof(ngx_str_t));

    if (left->elts == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < lives->scopes.n; i++) {
        scope = &lives->scopes.elts[i];

        if (ngx_svc_oauth_lives_keeps(lives, scope)) {
            left->elts[left->n++] = *scope;
        }
    }

    return ngx_svc_oauth_lives_others(left)
           || !ngx_svc_oauth_lives_others(&lives->scopes)
           ? NGX_OK : NGX_DECLINED;
}


ngx_uint_t
ngx_svc_oauth_lives_keeps(const ngx_svc_oauth_lives_t *lives,
    const ngx_str_t *scope)
{
    ngx_uint_t                           i;
    const ngx_svc_oauth_lives_client_t  *client;

    if (scope->len == ngx_svc_oauth_lives_offline.len
        && ngx_memcmp(scope->data, ngx_svc_oauth_lives_offline.data,
                      scope->len)
           == 0)
    {
        return 1;
    }

    for (i = 0; i < lives->principals.n; i++) {
        client = ngx_svc_oauth_lives_client(lives, &lives->principals.elts[i]);

        if (!ngx_svc_pg_array_has(&client->scopes, scope)
            || (client->scope_ceiling
                && ngx_svc_oauth_lives_acts(lives, client)
                && !ngx_svc_pg_array_has(&client->allowed_scopes, scope)))
        {
            return 0;
        }
    }

    return 1;
}


/* Returns 1 if there is another scope than offline_access. */

static ngx_uint_t
ngx_svc_oauth_lives_others(const ngx_svc_pg_array_t *scopes)
{
    ngx_uint_t  i;

    for (i = 0; i < scopes->n; i++) {
        if (scopes->elts[i].len != ngx_svc_oauth_lives_offline.len
            || ngx_memcmp(scopes->elts[i].data,
                          ngx_svc_oauth_lives_offline.data,
                          scopes->elts[i].len)
               != 0)
        {
            return 1;
        }
    }

    return 0;
}
