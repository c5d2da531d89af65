/*
 * Decides whether one token may be exchanged for another.
 */

#include "ngx_svc_oauth_exchange.h"
#include "ngx_svc_oauth_presented.h"


typedef ngx_int_t (*ngx_svc_oauth_exchange_judge_pt)(ngx_svc_oauth_t *o);


static ngx_int_t ngx_svc_oauth_exchange_judge_client(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_judge_verify(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_verify(ngx_svc_oauth_t *o,
    ngx_svc_oauth_bearer_t *bearer, ngx_svc_oauth_lives_t *lives);
static ngx_int_t ngx_svc_oauth_exchange_judge_subject(ngx_svc_oauth_t *o);
static ngx_uint_t ngx_svc_oauth_exchange_other(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_ttl(ngx_svc_oauth_exchange_t *ex);
static ngx_int_t ngx_svc_oauth_exchange_judge_actor(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_judge_for_it(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_judge_chain(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_judge_group(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_judge_key(ngx_svc_oauth_t *o);


/* The order of the verdicts. */

static const ngx_svc_oauth_exchange_judge_pt
    ngx_svc_oauth_exchange_judges[] =
{
    ngx_svc_oauth_exchange_judge_client,
    ngx_svc_oauth_exchange_judge_verify,
    ngx_svc_oauth_exchange_judge_subject,
    ngx_svc_oauth_exchange_judge_actor,
    ngx_svc_oauth_exchange_judge_for_it,
    ngx_svc_oauth_exchange_judge_chain,
    ngx_svc_oauth_exchange_judge_group,
    ngx_svc_oauth_exchange_judge_target,
    ngx_svc_oauth_exchange_judge_scopes,
    ngx_svc_oauth_exchange_judge_key,
    NULL
};


ngx_int_t
ngx_svc_oauth_exchange_judge(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_uint_t                 i;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    rc = NGX_OK;
    ex->verdict = NULL;

    for (i = 0; ngx_svc_oauth_exchange_judges[i]; i++) {
        rc = ngx_svc_oauth_exchange_judges[i](o);

        if (rc != NGX_OK || ex->verdict) {
            break;
        }
    }

    /* a token that is not verified must not tell the journal anything */

    if (rc == NGX_OK && ex->verdict && *o->token.unverified.data) {
        ex->subject.found = 0;
        rc = ngx_svc_oauth_exchange_chain(o);
    }

    return rc;
}


static ngx_int_t
ngx_svc_oauth_exchange_judge_client(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (ex->asks->unread) {
        o->wider = 1;
        return NGX_AGAIN;
    }

    ex->verdict = ngx_svc_oauth_client_row_judge(o, &ex->client);

    return NGX_OK;
}


/* Verifies both tokens.  One that does not verify counts as not found. */

static ngx_int_t
ngx_svc_oauth_exchange_judge_verify(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    rc = ngx_svc_oauth_exchange_verify(o, &o->token, &ex->subject);

    if (rc == NGX_OK && ex->acts) {
        rc = ngx_svc_oauth_exchange_verify(o, &ex->actor, &ex->acting);
    }

    return rc == NGX_OK ? ngx_svc_oauth_exchange_chain(o) : rc;
}


/*
 * Verifies a token.  Returns NGX_AGAIN for a client's own token that is good:
 * its row has to be stored, and all is read again.
 */

static ngx_int_t
ngx_svc_oauth_exchange_verify(ngx_svc_oauth_t *o,
    ngx_svc_oauth_bearer_t *bearer, ngx_svc_oauth_lives_t *lives)
{
    ngx_int_t  rc;

    if (*bearer->unverified.data == 0) {
        return NGX_OK;
    }

    rc = ngx_svc_oauth_presented_verify(o, bearer, &lives->jwk);

    if (rc == NGX_DECLINED) {
        ngx_svc_oauth_presented_forget(bearer);
        lives->found = 0;
        return NGX_OK;
    }

    return rc == NGX_OK && bearer->own ? NGX_AGAIN : rc;
}


/*
 * Judges the subject's token.  It is dead if its user is not active, for which
 * there is a verdict of its own.
 */

static ngx_int_t
ngx_svc_oauth_exchange_judge_subject(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_lives_t     *subject;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;
    subject = &ex->subject;

    if (!subject->found) {
        ex->verdict = ngx_svc_oauth_exchange_other(o) ? "other_tenant"
                                                      : "subject";
        return NGX_OK;
    }

    if (subject->revoked
        || subject->ms + (int64_t) subject->ttl * 1000 <= subject->now)
    {
        ex->verdict = "subject";
        return NGX_OK;
    }

    rc = ngx_svc_oauth_lives(o->sr->request->pool, subject, &ex->today);

    if (rc == NGX_AGAIN) {
        o->wider = 1;
    }

    if (rc == NGX_DECLINED) {
        ex->verdict = subject->user_id.data && subject->user_inactive
                      ? "subject_inactive" : "subject";
        return NGX_OK;
    }

    if (rc == NGX_OK && ngx_svc_oauth_exchange_ttl(ex) < 1) {
        ex->verdict = "subject";
    }

    return rc;
}


/* Returns 1 if a token that was not found says that it is another tenant's. */

static ngx_uint_t
ngx_svc_oauth_exchange_other(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (o->token.tenant.data
        && ngx_memcmp(o->token.tenant.data, o->tenant.data, NGX_SVC_UUID_LEN)
           != 0)
    {
        return 1;
    }

    return ex->issuer.data && !ngx_svc_same(&ex->issuer, &ex->client.slug);
}


/*
 * Sets the life of the new token, in seconds, and returns it: that of the
 * client's tokens, cut by the ceilings of all actors, by the expiry of agents,
 * and by the subject's token.
 */

static ngx_int_t
ngx_svc_oauth_exchange_ttl(ngx_svc_oauth_exchange_t *ex)
{
    ngx_int_t                      ttl;
    ngx_uint_t                     i;
    ngx_svc_oauth_lives_client_t  *client;

    ttl = ngx_min(ex->asks->ttl,
                  (ex->today.ends - ex->subject.now) / 1000);

    for (i = 0; i < ex->nrows; i++) {
        ttl = ngx_min(ttl, ex->rows[i].ttl_left);
    }

    for (i = 0; i < ex->subject.nclients; i++) {
        client = &ex->subject.clients[i];

        if (client->max_ttl != NGX_ERROR
            && ngx_svc_pg_array_has(&ex->chain, &client->client_id))
        {
            ttl = ngx_min(ttl, client->max_ttl);
        }
    }

    ex->ttl = ttl;

    return ttl;
}


/* The actor's token must be a live one of the client's own. */

static ngx_int_t
ngx_svc_oauth_exchange_judge_actor(ngx_svc_oauth_t *o)
{
    ngx_int_t                     rc;
    ngx_svc_oauth_lives_t        *acting;
    ngx_svc_oauth_exchange_t     *ex;
    ngx_svc_oauth_lives_today_t   today;

    ex = o->data;
    acting = &ex->acting;

    if (!ex->acts) {
        return NGX_OK;
    }

    rc = ngx_svc_oauth_lives(o->sr->request->pool, acting, &today);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc != NGX_OK || acting->user_id.data || acting->chain.n
        || !ngx_svc_same(&acting->client_id, &o->client.id))
    {
        ex->verdict = "actor";
    }

    return NGX_OK;
}


/*
 * The subject's token must be issued to the client, or be for its resource;
 * and it must not be the client's own.
 */

static ngx_int_t
ngx_svc_oauth_exchange_judge_for_it(ngx_svc_oauth_t *o)
{
    ngx_str_t                 *last;
    ngx_svc_oauth_lives_t     *subject;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;
    subject = &ex->subject;

    last = &subject->principals.elts[subject->principals.n - 1];

    if (subject->user_id.data == NULL && ngx_svc_same(last, &o->client.id)) {
        ex->verdict = "subject_actor";
        return NGX_OK;
    }

    if (!ngx_svc_same(&subject->client_id, &o->client.id)
        && (subject->audience_key.data == NULL
            || !ngx_svc_same(&subject->audience_key, &ex->asks->resource_key)))
    {
        ex->verdict = "subject_actor";
    }

    return NGX_OK;
}


/*
 * Judges the chain.  One actor is allowed in each tenant; for more of them the
 * tenant's limit has to be read.
 */

static ngx_int_t
ngx_svc_oauth_exchange_judge_chain(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_lives_t     *subject;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;
    subject = &ex->subject;

    if (ngx_svc_pg_array_has(&subject->chain, &o->client.id)
        && !ngx_svc_same(&subject->chain.elts[0], &o->client.id))
    {
        ex->verdict = "chain_cycle";
        return NGX_OK;
    }

    if (ex->chain.n == 1) {
        return NGX_OK;
    }

    if (!o->wider) {
        o->wider = 1;
        return NGX_AGAIN;
    }

    if ((ngx_int_t) ex->chain.n > ex->asking.max_delegation_depth) {
        ex->verdict = "chain_long";
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_exchange_judge_group(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (ex->subject.user_id.data == NULL
        || ex->asking.exchange_client.assigned)
    {
        return NGX_OK;
    }

    if (!o->wider) {
        o->wider = 1;
        return NGX_AGAIN;
    }

    ex->verdict = "group";

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_exchange_judge_key(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t             *ex;
    const ngx_svc_row_exchange_client_t  *row;

    ex = o->data;
    row = &ex->asking.exchange_client;

    if (*row->access_token_format.data == 'j' && row->signing_kid.data == NULL)
    {
        ex->verdict = NGX_SVC_OAUTH_EXCHANGE_KEY;
    }

    return NGX_OK;
}
