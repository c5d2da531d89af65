/*
 * Rows of a token, and of the clients that it lives by.
 */

#include "ngx_svc_oauth_lives_row.h"


static ngx_int_t ngx_svc_oauth_lives_read_token(ngx_pool_t *pool,
    PGresult *res, const ngx_svc_oauth_bearer_t *token,
    ngx_svc_oauth_lives_t *lives);
static ngx_int_t ngx_svc_oauth_lives_read_client(ngx_pool_t *pool,
    const ngx_svc_oauth_lives_rows_t *rows, int row,
    ngx_svc_oauth_lives_client_t *client);
static void ngx_svc_oauth_lives_read_limits(
    const ngx_svc_oauth_lives_rows_t *rows, int row,
    ngx_svc_oauth_lives_client_t *client);
static void ngx_svc_oauth_lives_read_state(
    const ngx_svc_oauth_lives_rows_t *rows, int row,
    ngx_svc_oauth_lives_client_t *client);
static ngx_int_t ngx_svc_oauth_lives_issuer(ngx_pool_t *pool,
    const ngx_str_t *issuer, ngx_svc_oauth_lives_t *lives);
static ngx_int_t ngx_svc_oauth_lives_array(ngx_pool_t *pool, PGresult *res,
    int row, int column, ngx_svc_pg_array_t *array);
static ngx_int_t ngx_svc_oauth_lives_number(PGresult *res, int row,
    int column);
static ngx_uint_t ngx_svc_oauth_lives_is(PGresult *res, int row, int column,
    char first);


ngx_int_t
ngx_svc_oauth_lives_read(ngx_pool_t *pool, PGresult *res,
    const ngx_svc_oauth_bearer_t *token, const ngx_str_t *issuer,
    ngx_svc_oauth_lives_t *lives)
{
    ngx_svc_oauth_lives_rows_t  rows;

    rows.res = res;
    rows.shift = 0;

    if (ngx_svc_oauth_lives_clients(pool, &rows, issuer, lives) != NGX_OK) {
        return NGX_ERROR;
    }

    return PQntuples(res)
           ? ngx_svc_oauth_lives_read_token(pool, res, token, lives) : NGX_OK;
}


ngx_int_t
ngx_svc_oauth_lives_clients(ngx_pool_t *pool,
    const ngx_svc_oauth_lives_rows_t *rows, const ngx_str_t *issuer,
    ngx_svc_oauth_lives_t *lives)
{
    int                            row, n;
    ngx_svc_oauth_lives_client_t  *client;

    ngx_memzero(lives, sizeof(ngx_svc_oauth_lives_t));

    n = PQntuples(rows->res);

    lives->clients = ngx_pcalloc(pool, (n + 1)
                                       * sizeof(ngx_svc_oauth_lives_client_t));
    if (lives->clients == NULL) {
        return NGX_ERROR;
    }

    for (row = 0; row < n; row++) {

        if (PQgetisnull(rows->res, row,
                        NGX_SVC_OAUTH_LIVES_A_ID - rows->shift))
        {
            continue;
        }

        client = &lives->clients[lives->nclients++];

        if (ngx_svc_oauth_lives_read_client(pool, rows, row, client)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_svc_oauth_lives_issuer(pool, issuer, lives);
}


static ngx_int_t
ngx_svc_oauth_lives_read_token(ngx_pool_t *pool, PGresult *res,
    const ngx_svc_oauth_bearer_t *token, ngx_svc_oauth_lives_t *lives)
{
    ngx_str_t  now;

    if (PQgetisnull(res, 0, NGX_SVC_OAUTH_LIVES_JTI)) {
        return NGX_OK;
    }

    now = ngx_svc_pg_value(res, 0, NGX_SVC_OAUTH_LIVES_NOW);

    lives->found = 1;
    lives->now = ngx_atotm(now.data, now.len);
    lives->ms = ngx_atotm(token->ms.data, token->ms.len);
    lives->ttl = ngx_svc_oauth_lives_number(res, 0, NGX_SVC_OAUTH_LIVES_TTL);

    lives->user_id = ngx_svc_pg_value(res, 0, NGX_SVC_OAUTH_LIVES_USER_ID);
    lives->client_id = ngx_svc_pg_value(res, 0,
                                        NGX_SVC_OAUTH_LIVES_CLIENT_ID);
    lives->audience = ngx_svc_pg_value(res, 0, NGX_SVC_OAUTH_LIVES_AUDIENCE);
    lives->audience_key = ngx_svc_pg_value(res, 0,
                                           NGX_SVC_OAUTH_LIVES_AUDIENCE_KEY);
    lives->jkt = ngx_svc_pg_value(res, 0, NGX_SVC_OAUTH_LIVES_JKT);

    lives->revoked = ngx_svc_pg_true(res, 0, NGX_SVC_OAUTH_LIVES_REVOKED);
    lives->keyless = token->kid.data
                     && PQgetisnull(res, 0, NGX_SVC_OAUTH_LIVES_KID);
    lives->user_active = ngx_svc_oauth_lives_is(res, 0,
                                            NGX_SVC_OAUTH_LIVES_USER_STATUS,
                                            'a');
    lives->user_inactive = !lives->user_active
                           && !PQgetisnull(res, 0,
                                           NGX_SVC_OAUTH_LIVES_USER_STATUS);
    lives->user_stale = ngx_svc_pg_true(res, 0, NGX_SVC_OAUTH_LIVES_USER_STALE);
    lives->grant_good = ngx_svc_pg_true(res, 0, NGX_SVC_OAUTH_LIVES_GRANT);

    if (ngx_svc_oauth_lives_array(pool, res, 0, NGX_SVC_OAUTH_LIVES_CHAIN,
                                  &lives->chain)
        != NGX_OK
        || ngx_svc_oauth_lives_array(pool, res, 0,
                                     NGX_SVC_OAUTH_LIVES_PRINCIPALS,
                                     &lives->principals)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_lives_array(pool, res, 0, NGX_SVC_OAUTH_LIVES_SCOPES,
                                     &lives->scopes);
}


static ngx_int_t
ngx_svc_oauth_lives_read_client(ngx_pool_t *pool,
    const ngx_svc_oauth_lives_rows_t *rows, int row,
    ngx_svc_oauth_lives_client_t *client)
{
    ngx_uint_t  i;

    const struct {
        ngx_svc_oauth_lives_column_e   column;
        ngx_svc_pg_array_t            *array;
    } arrays[] = {
        { NGX_SVC_OAUTH_LIVES_A_SCOPES, &client->scopes },
        { NGX_SVC_OAUTH_LIVES_A_ALLOWED_SCOPES, &client->allowed_scopes },
        { NGX_SVC_OAUTH_LIVES_A_ALLOWED_KEYS, &client->allowed_keys }
    };

    const struct {
        ngx_svc_oauth_lives_column_e   column;
        ngx_str_t                     *value;
    } texts[] = {
        { NGX_SVC_OAUTH_LIVES_A_ID, &client->client_id },
        { NGX_SVC_OAUTH_LIVES_A_METHOD, &client->auth_method },
        { NGX_SVC_OAUTH_LIVES_A_SLUG, &client->slug },
        { NGX_SVC_OAUTH_LIVES_A_RESOURCE, &client->resource_key }
    };

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        *texts[i].value = ngx_svc_pg_value(rows->res, row,
                                           texts[i].column - rows->shift);
    }

    for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        if (ngx_svc_oauth_lives_array(pool, rows->res, row,
                                      arrays[i].column - rows->shift,
                                      arrays[i].array)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    ngx_svc_oauth_lives_read_limits(rows, row, client);
    ngx_svc_oauth_lives_read_state(rows, row, client);

    return NGX_OK;
}


static void
ngx_svc_oauth_lives_read_limits(const ngx_svc_oauth_lives_rows_t *rows,
    int row, ngx_svc_oauth_lives_client_t *client)
{
    int        shift;
    PGresult  *res;

    res = rows->res;
    shift = rows->shift;

    client->ttl = ngx_svc_oauth_lives_number(res, row,
                                          NGX_SVC_OAUTH_LIVES_A_TTL - shift);
    client->max_ttl = ngx_svc_oauth_lives_number(res, row,
                                      NGX_SVC_OAUTH_LIVES_A_MAX_TTL - shift);
    client->scope_ceiling = !PQgetisnull(res, row,
                               NGX_SVC_OAUTH_LIVES_A_ALLOWED_SCOPES - shift);
    client->audience_ceiling = !PQgetisnull(res, row,
                                 NGX_SVC_OAUTH_LIVES_A_ALLOWED_KEYS - shift);
}


/*
 * The column _A_ORPHAN says why the client may not act; a statement that does
 * not look at owners has the tenant's orphanAction there, which may be
 * 'disable'.
 */

static void
ngx_svc_oauth_lives_read_state(const ngx_svc_oauth_lives_rows_t *rows, int row,
    ngx_svc_oauth_lives_client_t *client)
{
    int        shift;
    PGresult  *res;
    ngx_str_t  orphan;

    static const ngx_str_t  disable = ngx_string("disable");
    static const ngx_str_t  orphaned = ngx_string("orphaned");

    res = rows->res;
    shift = rows->shift;

    orphan = ngx_svc_pg_value(res, row, NGX_SVC_OAUTH_LIVES_A_ORPHAN - shift);

    client->suspended = ngx_svc_pg_true(res, row,
                                    NGX_SVC_OAUTH_LIVES_A_SUSPENDED - shift);
    client->enabled = ngx_svc_pg_true(res, row,
                                      NGX_SVC_OAUTH_LIVES_A_ENABLED - shift);
    client->expired = ngx_svc_pg_true(res, row,
                                      NGX_SVC_OAUTH_LIVES_A_EXPIRED - shift);
    client->stale = ngx_svc_pg_true(res, row,
                                    NGX_SVC_OAUTH_LIVES_A_STALE - shift);
    client->refused = ngx_svc_oauth_lives_is(res, row,
                                    NGX_SVC_OAUTH_LIVES_A_LETS - shift, 'f');
    client->orphaned = orphan.len == orphaned.len
                       && ngx_memcmp(orphan.data, orphaned.data, orphan.len)
                          == 0;
    client->unread = ngx_svc_oauth_agent(&client->client_id)
                     && orphan.len == disable.len
                     && ngx_memcmp(orphan.data, disable.data, orphan.len)
                        == 0;
}


/* Sets the issuer: all clients are of one tenant. */

static ngx_int_t
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


static ngx_int_t
ngx_svc_oauth_lives_array(ngx_pool_t *pool, PGresult *res, int row,
    int column, ngx_svc_pg_array_t *array)
{
    ngx_str_t  text;

    text = ngx_svc_pg_value(res, row, column);

    return ngx_svc_pg_array_read(pool, &text, array) == NGX_OK ? NGX_OK
                                                               : NGX_ERROR;
}


/* Returns the number in a column; NGX_ERROR: it is NULL. */

static ngx_int_t
ngx_svc_oauth_lives_number(PGresult *res, int row, int column)
{
    ngx_str_t  text;

    text = ngx_svc_pg_value(res, row, column);

    return text.data ? ngx_atoi(text.data, text.len) : NGX_ERROR;
}


/* Returns 1 if the value of a column begins with this character. */

static ngx_uint_t
ngx_svc_oauth_lives_is(PGresult *res, int row, int column, char first)
{
    return !PQgetisnull(res, row, column)
           && *PQgetvalue(res, row, column) == first;
}
