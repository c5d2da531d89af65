/*
 * The grant type token-exchange: its round trips.
 */

#include "ngx_svc_oauth_exchange.h"
#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_oauth_grant.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_refusal.h"


/* A text of a client's row. */
#define ngx_svc_oauth_exchange_text(ex, i, offset)                            \
    ((ngx_str_t *) ((u_char *) &(ex)->rows[i] + (offset)))


static ngx_int_t ngx_svc_oauth_exchange_refuse(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_give(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_keep(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_keep_token(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_keep_client(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_token(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_sign(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_versions(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_column(ngx_svc_oauth_t *o,
    size_t offset, ngx_str_t *array);
static ngx_int_t ngx_svc_oauth_exchange_give_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_exchange_given(ngx_svc_request_t *sr);


#include "ngx_svc_oauth_exchange_give.sql.h"


ngx_int_t
ngx_svc_oauth_exchange_decide(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    ngx_svc_oauth_once_take(o);

    rc = ngx_svc_oauth_exchange_take(o, res);

    if (rc == NGX_DECLINED) {
        return ngx_svc_oauth_refuse_client(o, ngx_svc_oauth_client_result(o));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_exchange_judge(o);
    }

    if (rc == NGX_AGAIN) {
        return ngx_svc_oauth_grant_again(o);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ex->verdict == NULL) {
        return ngx_svc_oauth_exchange_give(o);
    }

    return ngx_strcmp(ex->verdict, NGX_SVC_OAUTH_EXCHANGE_KEY) == 0
           ? ngx_svc_oauth_grant_key(o) : ngx_svc_oauth_exchange_refuse(o);
}


/* Refuses, and gives the journal what is known of the exchange. */

static ngx_int_t
ngx_svc_oauth_exchange_refuse(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (ngx_svc_oauth_exchange_keep(o) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ex->refused.user_id = ex->user_id;
    ex->refused.subject = ex->token.subject;
    ex->refused.chain = ex->token.chain;
    ex->refused.parent_jti = ex->parent_jti;
    ex->refused.root_jti = ex->root_jti;
    ex->refused.audience = ex->audience.data ? ex->audience : o->resource;

    return ngx_svc_oauth_client_row_refuse(o, &ex->client, ex->verdict);
}


/* --- what is given --- */

static ngx_int_t
ngx_svc_oauth_exchange_give(ngx_svc_oauth_t *o)
{
    if (ngx_svc_oauth_exchange_keep(o) != NGX_OK
        || ngx_svc_oauth_exchange_token(o) != NGX_OK
        || ngx_svc_oauth_exchange_sign(o) != NGX_OK
        || ngx_svc_oauth_exchange_versions(o) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(o->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_oauth_exchange_give_calls,
                                 ngx_svc_oauth_exchange_given);
}


/* Copies what is used when the results are gone. */

static ngx_int_t
ngx_svc_oauth_exchange_keep(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_lives_t     *subject;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;
    subject = &ex->subject;

    if (ngx_svc_oauth_exchange_keep_token(o) != NGX_OK
        || ngx_svc_oauth_exchange_keep_client(o) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ex->token.subject = ex->user_id;

    if (subject->found && ex->user_id.data == NULL) {
        ex->token.subject = subject->principals.elts[subject->principals.n - 1];
    }

    return ngx_svc_pg_array_join(o->sr->request->pool, &ex->chain,
                                 &ex->token.chain);
}


static ngx_int_t
ngx_svc_oauth_exchange_keep_token(ngx_svc_oauth_t *o)
{
    ngx_uint_t                           i;
    ngx_svc_oauth_exchange_t            *ex;
    const ngx_svc_row_exchange_token_t  *row;

    static const ngx_str_t  none = ngx_null_string;

    ex = o->data;
    row = &ex->read.exchange_token;

    const struct {
        const ngx_str_t  *text;
        ngx_str_t        *copy;
    } texts[] = {
        { &row->user_id, &ex->user_id },
        { &row->grant_id, &ex->grant_id },
        { &row->jti, &ex->parent_jti },
        { &row->root_jti, &ex->root_jti },
        { &row->now, &ex->ms }
    };

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (ngx_svc_oauth_copy(o->sr, texts[i].copy,
                               ex->subject.found ? texts[i].text : &none)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    ex->token.acr = ngx_svc_oauth_acr(&ex->methods);

    return ngx_svc_oauth_copy(o->sr, &ex->token.auth_time, &ex->signed_in);
}


static ngx_int_t
ngx_svc_oauth_exchange_keep_client(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t             *ex;
    const ngx_svc_row_exchange_client_t  *row;

    ex = o->data;
    row = &ex->asking.exchange_client;

    if (ngx_svc_oauth_copy(o->sr, &ex->token.slug,
                           &row->lives_client.tenant_slug)
        != NGX_OK
        || ngx_svc_oauth_copy(o->sr, &ex->name, &row->name) != NGX_OK
        || ngx_svc_oauth_copy(o->sr, &ex->token.format,
                              &row->access_token_format)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_copy(o->sr, &ex->token.kid, &row->signing_kid);
}


static ngx_int_t
ngx_svc_oauth_exchange_token(ngx_svc_oauth_t *o)
{
    u_char                    *p;
    ngx_pool_t                *pool;
    ngx_svc_oauth_issued_t    *token;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;
    token = &ex->token;
    pool = o->sr->request->pool;

    token->ms = ngx_atotm(ex->ms.data, ex->ms.len);
    token->ttl = ex->ttl;
    token->client_id = o->client.id;

    ngx_str_null(&token->audience);
    ngx_str_null(&token->sealed);

    if (ex->uri.data == NULL) {
        ngx_str_null(&ex->key);
        ex->target = ngx_svc_oauth_issuer(o->sr, &token->slug);

    } else if (ngx_svc_oauth_bytes(o->sr, &token->audience, ex->uri.data,
                                   ex->uri.len)
               != NGX_OK
               || ngx_svc_oauth_bytes(o->sr, &ex->key, ex->key.data,
                                      ex->key.len)
                  != NGX_OK)
    {
        return NGX_ERROR;

    } else {
        ex->target = token->audience;
    }

    p = ngx_pnalloc(pool, NGX_INT_T_LEN);

    if (p == NULL || ex->target.data == NULL
        || ngx_svc_pg_array_join(pool, &ex->principals, &ex->principals_text)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ex->ttl_text.data = p;
    ex->ttl_text.len = ngx_sprintf(p, "%i", token->ttl) - p;

    return ngx_svc_oauth_issue_jti_at(o, token->ms, &token->jti);
}


/*
 * Makes the secret of an opaque token.  For a JWT, sets o->kid if the worker
 * lacks its private key.
 */

static ngx_int_t
ngx_svc_oauth_exchange_sign(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    ngx_str_null(&o->kid);
    ngx_str_null(&ex->secret_hash);

    if (ex->token.format.len != sizeof("opaque") - 1) {

        if (!ngx_svc_oauth_key_held(&ex->token.kid)) {
            o->kid = ex->token.kid;
        }

        return NGX_OK;
    }

    if (ngx_svc_oauth_issue_secret(o) != NGX_OK) {
        return NGX_ERROR;
    }

    ex->secret_hash = o->secret_hash;
    ngx_str_null(&ex->token.kid);

    return NGX_OK;
}


/* Sets the arrays of the rows of all clients that the new token depends on. */

static ngx_int_t
ngx_svc_oauth_exchange_versions(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (ngx_svc_oauth_exchange_column(o,
            offsetof(ngx_svc_row_exchange_client_t, lives_client.client_id),
            &ex->clients)
        != NGX_OK
        || ngx_svc_oauth_exchange_column(o,
               offsetof(ngx_svc_row_exchange_client_t, ctid), &ex->places)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_exchange_column(o,
               offsetof(ngx_svc_row_exchange_client_t, xmin), &ex->versions);
}


/* Writes an array of one column of all rows. */

static ngx_int_t
ngx_svc_oauth_exchange_column(ngx_svc_oauth_t *o, size_t offset,
    ngx_str_t *array)
{
    u_char                    *p;
    size_t                     len;
    ngx_uint_t                 i;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    len = sizeof("{}");

    for (i = 0; i < ex->nrows; i++) {
        len += ngx_svc_pg_array_len(ngx_svc_oauth_exchange_text(ex, i,
                                                                offset));
    }

    p = ngx_pnalloc(o->sr->request->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    array->data = p;
    *p++ = '{';

    for (i = 0; i < ex->nrows; i++) {
        p = ngx_svc_pg_array_add(p, ngx_svc_oauth_exchange_text(ex, i, offset));
    }

    *p++ = '}';
    array->len = p - array->data;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_exchange_give_calls(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_grant_give(sr->data, &ngx_svc_sql_oauth_exchange);
}


static ngx_int_t
ngx_svc_oauth_exchange_given(ngx_svc_request_t *sr)
{
    PGresult                  *res;
    ngx_svc_oauth_t           *o;
    ngx_svc_oauth_exchange_t  *ex;

    o = sr->data;
    ex = o->data;

    res = ngx_svc_result(sr, &ngx_svc_sql_oauth_exchange);

    return PQcmdTuples(res)[0] == '1'
           ? ngx_svc_oauth_grant_given(o, &ex->token)
           : ngx_svc_oauth_grant_again(o);
}
