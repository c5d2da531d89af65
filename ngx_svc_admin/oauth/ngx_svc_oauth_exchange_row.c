/*
 * Takes what a token exchange has read.
 */

#include "ngx_svc_oauth_exchange.h"
#include "ngx_svc_oauth_lives_row.h"


static ngx_int_t ngx_svc_oauth_exchange_take_rows(ngx_svc_oauth_t *o,
    PGresult *res);
static void ngx_svc_oauth_exchange_take_read(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_take_subject(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_take_clients(ngx_svc_oauth_t *o);
static void ngx_svc_oauth_exchange_take_token(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_take_arrays(ngx_svc_oauth_t *o);
static void ngx_svc_oauth_exchange_take_user(ngx_svc_oauth_t *o);
static int64_t ngx_svc_oauth_exchange_time(ngx_str_t *text);
static ngx_str_t ngx_svc_oauth_exchange_word(ngx_str_t *text);
static void ngx_svc_oauth_exchange_take_unread(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_take_actor(ngx_svc_oauth_t *o);
static ngx_uint_t ngx_svc_oauth_exchange_other_tenant(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_bearer_t *bearer);
static ngx_int_t ngx_svc_oauth_exchange_take_client(ngx_svc_oauth_t *o);


ngx_int_t
ngx_svc_oauth_exchange_take(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    rc = ngx_svc_oauth_exchange_take_rows(o, res);

    if (rc != NGX_OK) {
        return rc;
    }

    ngx_svc_oauth_exchange_take_read(o);

    if (ngx_svc_oauth_exchange_take_subject(o) != NGX_OK
        || (ex->acts && ngx_svc_oauth_exchange_take_actor(o) != NGX_OK)
        || ngx_svc_oauth_exchange_take_client(o) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_exchange_chain(o);
}


/* Returns NGX_DECLINED if there is no row of the requesting client. */

static ngx_int_t
ngx_svc_oauth_exchange_take_rows(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_int_t                       rc;
    ngx_uint_t                      i;
    ngx_svc_oauth_exchange_t       *ex;
    ngx_svc_row_exchange_client_t  *row;

    ex = o->data;
    rc = NGX_DECLINED;

    ex->nrows = PQntuples(res);
    ex->rows = ngx_palloc(o->sr->request->pool,
                          (ex->nrows + 1)
                          * sizeof(ngx_svc_row_exchange_client_t));
    if (ex->rows == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < ex->nrows; i++) {
        row = &ex->rows[i];
        ngx_svc_row_exchange_client(row, res, i, 0);

        if (!ngx_svc_same(&row->lives_client.client_id, &o->client.id)) {
            continue;
        }

        if (o->wider) {
            ngx_svc_row_oauth_exchange_read_wider(&ex->asking, res, i);

        } else {
            ex->asking.exchange_client = *row;
        }

        rc = NGX_OK;
    }

    return rc;
}


static void
ngx_svc_oauth_exchange_take_read(ngx_svc_oauth_t *o)
{
    PGresult                  *res;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;
    res = ngx_svc_result(o->sr, o->first);

    if (o->first == o->grant->jwt) {
        ngx_svc_row_oauth_exchange_token_jwt(&ex->read, res, 0);

    } else {
        ngx_svc_row_exchange_token(&ex->read.exchange_token, res, 0, 0);
        ngx_str_null(&ex->read.public);
    }
}


static ngx_int_t
ngx_svc_oauth_exchange_take_subject(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    rc = ngx_svc_oauth_exchange_take_clients(o);

    ex->subject.jwk = ex->read.public;

    ngx_str_null(&ex->signed_in);
    ngx_str_null(&ex->methods);
    ex->consent.n = 0;

    if (rc != NGX_OK || ex->read.exchange_token.jti.data == NULL
        || ngx_svc_oauth_exchange_other_tenant(o, &o->token))
    {
        return rc;
    }

    ngx_svc_oauth_exchange_take_token(o);
    ngx_svc_oauth_exchange_take_user(o);

    rc = ngx_svc_oauth_exchange_take_arrays(o);

    if (!o->wider && rc == NGX_OK) {
        ngx_svc_oauth_exchange_take_unread(o);
    }

    return rc;
}


static ngx_int_t
ngx_svc_oauth_exchange_take_clients(ngx_svc_oauth_t *o)
{
    ngx_pool_t                *pool;
    ngx_uint_t                 i;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;
    pool = o->sr->request->pool;

    if (ngx_svc_oauth_lives_begin(pool, ex->nrows, &ex->subject) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < ex->nrows; i++) {
        if (ngx_svc_oauth_lives_add(pool, &ex->rows[i].lives_client,
                                    &ex->subject)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_svc_oauth_lives_issuer(pool, &o->issuer, &ex->subject);
}


static void
ngx_svc_oauth_exchange_take_token(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_lives_t               *lives;
    ngx_svc_oauth_exchange_t            *ex;
    const ngx_svc_row_exchange_token_t  *row;

    ex = o->data;
    row = &ex->read.exchange_token;
    lives = &ex->subject;

    lives->found = 1;
    lives->now = ngx_atotm(row->now.data, row->now.len);
    lives->ms = ngx_atotm(o->token.ms.data, o->token.ms.len);
    lives->ttl = row->ttl;
    lives->revoked = row->revoked;
    lives->keyless = o->token.kid.data && ex->read.public.data == NULL;
    lives->user_id = row->user_id;
    lives->client_id = row->client_id;
    lives->audience = row->audience;
    lives->audience_key = row->audience_key;
    lives->jkt = row->jkt;
}


static ngx_int_t
ngx_svc_oauth_exchange_take_arrays(ngx_svc_oauth_t *o)
{
    ngx_pool_t                          *pool;
    ngx_svc_oauth_lives_t               *lives;
    ngx_svc_oauth_exchange_t            *ex;
    const ngx_svc_row_exchange_token_t  *row;

    ex = o->data;
    row = &ex->read.exchange_token;
    lives = &ex->subject;
    pool = o->sr->request->pool;

    if (ngx_svc_pg_array_read(pool, &row->chain, &lives->chain) != NGX_OK
        || ngx_svc_pg_array_read(pool, &row->principals, &lives->principals)
           != NGX_OK
        || ngx_svc_pg_array_read(pool, &row->scopes, &lives->scopes) != NGX_OK
        || ngx_svc_pg_array_read(pool, &row->allowed, &ex->consent) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * Takes the user, and the grant: its session must not be older than the user's
 * cut-off.
 */

static void
ngx_svc_oauth_exchange_take_user(ngx_svc_oauth_t *o)
{
    int64_t                    valid_after, session_at;
    ngx_str_t                  user, grant, status;
    ngx_svc_oauth_lives_t     *lives;
    ngx_svc_oauth_exchange_t  *ex;

    static const ngx_str_t  active = ngx_string("active");

    ex = o->data;
    lives = &ex->subject;

    user = ex->read.exchange_token.owner;
    grant = ex->read.exchange_token.granted;

    status = ngx_svc_oauth_exchange_word(&user);

    lives->user_active = ngx_svc_same(&status, &active);
    lives->user_inactive = (status.len && !lives->user_active);

    valid_after = ngx_svc_oauth_exchange_time(&user);
    session_at = ngx_svc_oauth_exchange_time(&grant);

    ex->signed_in = ngx_svc_oauth_exchange_word(&grant);
    ex->methods = ngx_svc_oauth_exchange_word(&grant);

    lives->user_stale = (valid_after == NGX_ERROR
                         || lives->ms * 1000 < valid_after);
    lives->grant_good = ex->read.exchange_token.grant_id.data == NULL
                        || (ex->signed_in.data && session_at >= valid_after);
}


/*
 * Takes the first word off the text, seconds with up to six digits after the
 * point, and returns it in microseconds; 0, which is before all times, if
 * there is no word; or NGX_ERROR.
 */

static int64_t
ngx_svc_oauth_exchange_time(ngx_str_t *text)
{
    ngx_str_t  word;

    word = ngx_svc_oauth_exchange_word(text);

    return word.len ? ngx_atofp(word.data, word.len, 6) : 0;
}


/* Takes the first word off the text, and the space after it. */

static ngx_str_t
ngx_svc_oauth_exchange_word(ngx_str_t *text)
{
    u_char     *p, *last;
    ngx_str_t   word;

    word = *text;
    ngx_str_null(text);

    if (word.len == 0) {
        ngx_str_null(&word);
        return word;
    }

    last = word.data + word.len;
    p = ngx_strlchr(word.data, last, ' ');

    if (p) {
        word.len = p - word.data;

        text->data = p + 1;
        text->len = last - text->data;
    }

    return word;
}


/*
 * Marks the clients that the token depends on for which it may matter what its
 * user lets them do.
 */

static void
ngx_svc_oauth_exchange_take_unread(ngx_svc_oauth_t *o)
{
    ngx_uint_t                            i;
    ngx_str_t                            *root;
    ngx_svc_oauth_lives_t                *lives;
    ngx_svc_oauth_exchange_t             *ex;
    ngx_svc_oauth_lives_client_t         *client;
    const ngx_svc_row_exchange_client_t  *row;

    ex = o->data;
    lives = &ex->subject;

    if (lives->user_id.data == NULL || lives->principals.n == 0) {
        return;
    }

    root = &lives->principals.elts[lives->principals.n - 1];

    for (i = 0; i < ex->nrows; i++) {
        row = &ex->rows[i];
        client = &lives->clients[i];

        if (!ngx_svc_pg_array_has(&lives->principals, &client->client_id)) {
            continue;
        }

        if (!row->assigned
            || (row->require_consent
                && !ngx_svc_same(root, &client->client_id)))
        {
            client->unread = 1;
        }
    }
}


static ngx_int_t
ngx_svc_oauth_exchange_take_actor(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (ngx_svc_oauth_lives_read(o->sr->request->pool,
                                 ngx_svc_result(o->sr, ex->acts_by),
                                 &ex->actor, &o->issuer, &ex->acting)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_svc_oauth_exchange_other_tenant(o, &ex->actor)) {
        ex->acting.found = 0;
    }

    return NGX_OK;
}


/*
 * Returns 1 if a token says that it is another tenant's: then it is none here.
 */

static ngx_uint_t
ngx_svc_oauth_exchange_other_tenant(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_bearer_t *bearer)
{
    return bearer->tenant.data
           && ngx_memcmp(bearer->tenant.data, o->tenant.data, NGX_SVC_UUID_LEN)
              != 0;
}


static ngx_int_t
ngx_svc_oauth_exchange_take_client(ngx_svc_oauth_t *o)
{
    ngx_pool_t                           *pool;
    ngx_svc_oauth_exchange_t             *ex;
    ngx_svc_oauth_client_row_t           *client;
    const ngx_svc_oauth_lives_client_t   *asks;
    const ngx_svc_row_exchange_client_t  *row;

    static const ngx_str_t  none = ngx_string("none");

    ex = o->data;
    client = &ex->client;
    row = &ex->asking.exchange_client;
    pool = o->sr->request->pool;

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
    client->dpop = row->require_dpop;
    client->state = !asks->enabled ? "disabled"
                    : asks->expired ? "expired"
                    : asks->orphaned ? "orphaned" : NULL;

    ngx_str_null(&client->refused);

    if (ngx_svc_pg_array_read(pool, &row->grant_types, &client->grants)
        != NGX_OK
        || ngx_svc_pg_array_read(pool, &row->allowed_audiences,
                                 &client->allowed)
           != NGX_OK
        || ngx_svc_pg_array_read(pool, &o->scopes, &ex->asked) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * A client that acts already, and exchanges its own token once more, only
 * narrows it: the chain stays as it is.
 */

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
