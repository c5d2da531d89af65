/*
 * Rows of a token, and of the clients that it lives by.
 */

#include "ngx_svc_oauth_lives_row.h"


static ngx_int_t ngx_svc_oauth_lives_read_token(ngx_pool_t *pool,
    const ngx_svc_row_lives_read_t *row, const ngx_svc_oauth_bearer_t *token,
    ngx_svc_oauth_lives_t *lives);
static void ngx_svc_oauth_lives_read_user(const ngx_svc_row_lives_read_t *row,
    ngx_svc_oauth_lives_t *lives);
static void ngx_svc_oauth_lives_read_state(
    const ngx_svc_row_lives_client_t *row,
    ngx_svc_oauth_lives_client_t *client);


/* An opaque token has no key, and its statement may have no columns of one. */

ngx_int_t
ngx_svc_oauth_lives_read(ngx_pool_t *pool, PGresult *res,
    const ngx_svc_oauth_bearer_t *token, const ngx_str_t *issuer,
    ngx_svc_oauth_lives_t *lives)
{
    int                         i, n;
    ngx_svc_row_lives_jwt_t     jwt;
    ngx_svc_row_lives_read_t   *row;

    row = &jwt.lives_read;
    n = PQntuples(res);

    if (ngx_svc_oauth_lives_begin(pool, n, lives) != NGX_OK) {
        return NGX_ERROR;
    }

    if (token->kid.data) {
        ngx_svc_row_lives_jwt(&jwt, res, 0, 0);

        lives->jwk = jwt.public;
        lives->keyless = (jwt.kid.data == NULL);

    } else {
        ngx_svc_row_lives_read(row, res, 0, 0);
    }

    for (i = 0; i < n; i++) {

        if (i > 0) {
            ngx_svc_row_lives_client(&row->lives_client, res, i, 0);
        }

        if (ngx_svc_oauth_lives_add(pool, &row->lives_client, lives)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_svc_oauth_lives_issuer(pool, issuer, lives) == NGX_OK
           ? ngx_svc_oauth_lives_read_token(pool, row, token, lives)
           : NGX_ERROR;
}


static ngx_int_t
ngx_svc_oauth_lives_read_token(ngx_pool_t *pool,
    const ngx_svc_row_lives_read_t *row, const ngx_svc_oauth_bearer_t *token,
    ngx_svc_oauth_lives_t *lives)
{
    if (row->jti.data == NULL) {
        return NGX_OK;
    }

    lives->found = 1;
    lives->now = row->now;
    lives->ms = ngx_atotm(token->ms.data, token->ms.len);
    lives->ttl = row->ttl;
    lives->client_id = row->client_id;
    lives->audience = row->audience;
    lives->audience_key = row->audience_key;
    lives->jkt = row->jkt;
    lives->revoked = row->revoked;

    ngx_svc_oauth_lives_read_user(row, lives);

    if (ngx_svc_pg_array_read(pool, &row->chain, &lives->chain) != NGX_OK
        || ngx_svc_pg_array_read(pool, &row->principals, &lives->principals)
           != NGX_OK
        || ngx_svc_pg_array_read(pool, &row->scopes, &lives->scopes)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_svc_oauth_lives_read_user(const ngx_svc_row_lives_read_t *row,
    ngx_svc_oauth_lives_t *lives)
{
    static const ngx_str_t  active = ngx_string("active");

    lives->user_id = row->user_id;
    lives->user_active = ngx_svc_same(&row->user_status, &active);
    lives->user_inactive = row->user_status.data && !lives->user_active;
    lives->user_stale = row->user_stale;
    lives->grant_good = row->grant_good;
}


ngx_int_t
ngx_svc_oauth_lives_begin(ngx_pool_t *pool, ngx_uint_t n,
    ngx_svc_oauth_lives_t *lives)
{
    ngx_memzero(lives, sizeof(ngx_svc_oauth_lives_t));

    lives->clients = ngx_pcalloc(pool, (n + 1)
                                       * sizeof(ngx_svc_oauth_lives_client_t));

    return lives->clients ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_oauth_lives_add(ngx_pool_t *pool,
    const ngx_svc_row_lives_client_t *row, ngx_svc_oauth_lives_t *lives)
{
    ngx_svc_oauth_lives_client_t  *client;

    if (row->client_id.data == NULL) {
        return NGX_OK;
    }

    client = &lives->clients[lives->nclients++];

    client->client_id = row->client_id;
    client->auth_method = row->auth_method;
    client->slug = row->tenant_slug;
    client->resource_key = row->resource_key;
    client->ttl = row->access_token_ttl;
    client->max_ttl = row->max_token_ttl;
    client->scope_ceiling = (row->allowed_scopes.data != NULL);
    client->audience_ceiling = (row->allowed_audience_keys.data != NULL);

    ngx_svc_oauth_lives_read_state(row, client);

    if (ngx_svc_pg_array_read(pool, &row->scopes, &client->scopes) != NGX_OK
        || ngx_svc_pg_array_read(pool, &row->allowed_scopes,
                                 &client->allowed_scopes)
           != NGX_OK
        || ngx_svc_pg_array_read(pool, &row->allowed_audience_keys,
                                 &client->allowed_keys)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * row->state says why the client may not act; a statement that does not look at
 * owners has the tenant's orphanAction there, which may be 'disable'.
 */

static void
ngx_svc_oauth_lives_read_state(const ngx_svc_row_lives_client_t *row,
    ngx_svc_oauth_lives_client_t *client)
{
    static const ngx_str_t  disable = ngx_string("disable");
    static const ngx_str_t  orphaned = ngx_string("orphaned");

    client->suspended = row->suspended;
    client->enabled = row->enabled;
    client->expired = row->expired;
    client->stale = row->stale;
    client->refused = row->lets.data && *row->lets.data == 'f';
    client->orphaned = ngx_svc_same(&row->state, &orphaned);
    client->unread = ngx_svc_oauth_agent(&client->client_id)
                     && ngx_svc_same(&row->state, &disable);
}


ngx_int_t
ngx_svc_oauth_lives_issuer(ngx_pool_t *pool, const ngx_str_t *issuer,
    ngx_svc_oauth_lives_t *lives)
{
    ngx_str_t  *slug;

    if (lives->nclients == 0) {
        return NGX_OK;
    }

    slug = &lives->clients[0].slug;

    lives->issuer.data = ngx_pnalloc(pool, issuer->len + slug->len);
    if (lives->issuer.data == NULL) {
        return NGX_ERROR;
    }

    lives->issuer.len = ngx_sprintf(lives->issuer.data, "%V%V", issuer, slug)
                        - lives->issuer.data;

    return NGX_OK;
}
