/*
 * Tokens of what a user has granted: the round trips.
 */

#include "ngx_svc_oauth_granted.h"
#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_oauth_claims_kept.h"
#include "ngx_svc_oauth_grant.h"
#include "ngx_svc_oauth_granted_judge.h"
#include "ngx_svc_oauth_granted_refuse.h"
#include "ngx_svc_oauth_id_token.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_sign.h"


static ngx_int_t ngx_svc_oauth_granted_give(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_granted_token(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_granted_sign(ngx_svc_oauth_t *o);
static void ngx_svc_oauth_granted_refresh(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_granted_claims(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_granted_give_calls(ngx_svc_request_t *sr);
static const ngx_svc_pg_statement_t *ngx_svc_oauth_granted_statement(
    ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_granted_given(ngx_svc_request_t *sr);


#include "ngx_svc_oauth_granted.sql.h"


ngx_svc_oauth_granted_t *
ngx_svc_oauth_granted_new(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_granted_type_t *type)
{
    ngx_pool_t               *pool;
    ngx_svc_oauth_granted_t  *granted;

    pool = o->sr->request->pool;

    granted = ngx_pcalloc(pool, sizeof(ngx_svc_oauth_granted_t));

    if (granted == NULL
        || ngx_svc_wipe_later(pool, (u_char *) &granted->tokens,
                              sizeof(granted->tokens))
           != NGX_OK)
    {
        return NULL;
    }

    granted->digest.data = ngx_pnalloc(pool, NGX_SVC_SHA256_LEN);
    if (granted->digest.data == NULL) {
        return NULL;
    }

    /* a code presented again ends its grant although the client leaves */

    o->sr->goes_on = 1;

    granted->digest.len = NGX_SVC_SHA256_LEN;
    granted->type = type;
    granted->replayed = type->replayed;
    o->data = granted;

    return granted;
}


ngx_int_t
ngx_svc_oauth_granted_presented(ngx_svc_oauth_t *o, const char *name,
    ngx_str_t *value)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_needed(o, name, value);

    if (rc == NGX_OK && value->len > NGX_SVC_OAUTH_PRESENTED_MAX) {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "The parameter '%s' has more than %d bytes.", name,
                            NGX_SVC_OAUTH_PRESENTED_MAX);
    }

    return rc;
}


ngx_int_t
ngx_svc_oauth_granted_decide(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_int_t                 rc;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    ngx_svc_oauth_once_take(o);

    if (ngx_svc_oauth_granted_take(o, res) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_svc_oauth_granted_judge(o);

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (rc == NGX_DECLINED) {
        o->wider = 1;
        return ngx_svc_oauth_grant_read(o);
    }

    if (granted->verdict == NULL) {
        return ngx_svc_oauth_granted_give(o);
    }

    return ngx_strcmp(granted->verdict, NGX_SVC_OAUTH_GRANTED_KEY) == 0
           ? ngx_svc_oauth_grant_key(o) : ngx_svc_oauth_granted_refuse(o);
}


/* --- what is given --- */

static ngx_int_t
ngx_svc_oauth_granted_give(ngx_svc_oauth_t *o)
{
    if (ngx_svc_oauth_granted_token(o) != NGX_OK
        || ngx_svc_oauth_granted_sign(o) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_oauth_granted_refresh(o);

    if (ngx_svc_oauth_granted_claims(o) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(o->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_oauth_granted_give_calls,
                                 ngx_svc_oauth_granted_given);
}


/* An agent that has a user's token is an actor (RFC 8693, 4.1). */

static ngx_int_t
ngx_svc_oauth_granted_token(ngx_svc_oauth_t *o)
{
    u_char                   *p;
    ngx_svc_oauth_issued_t   *token;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;
    token = &granted->token;

    token->ms = ngx_atotm(granted->ms.data, granted->ms.len);
    token->ttl = granted->client.ttl;
    token->client_id = o->client.id;
    token->subject = granted->user_id;
    token->acr = ngx_svc_oauth_acr(&granted->methods);

    if (ngx_svc_oauth_agent(&o->client.id)) {
        token->chain = o->client.id;
    }

    p = ngx_pnalloc(o->sr->request->pool, NGX_INT_T_LEN);

    if (p == NULL
        || ngx_svc_oauth_issue_jti_at(o, token->ms, &token->jti) != NGX_OK)
    {
        return NGX_ERROR;
    }

    granted->ttl.data = p;
    granted->ttl.len = ngx_sprintf(p, "%i", token->ttl) - p;
    granted->issuer = ngx_svc_oauth_issuer(o->sr, &token->slug);

    return granted->issuer.data ? NGX_OK : NGX_ERROR;
}


/*
 * Sets the secret of an opaque token, or the kid of a JWT; and o->kid if the
 * worker lacks the private key.
 */

static ngx_int_t
ngx_svc_oauth_granted_sign(ngx_svc_oauth_t *o)
{
    ngx_uint_t                opaque;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;
    opaque = (granted->token.format.len == sizeof("opaque") - 1);

    ngx_str_null(&granted->token.kid);
    ngx_str_null(&granted->token.sealed);
    ngx_str_null(&granted->secret_hash);
    ngx_str_null(&o->kid);

    if (opaque && ngx_svc_oauth_issue_secret(o) != NGX_OK) {
        return NGX_ERROR;
    }

    if (opaque) {
        granted->secret_hash = o->secret_hash;

    } else {
        granted->token.kid = granted->kid;
    }

    if ((!opaque || granted->openid) && !ngx_svc_oauth_key_held(&granted->kid))
    {
        o->kid = granted->kid;
    }

    return NGX_OK;
}


/*
 * Sets the refresh token of the answer: the successor of the one that is
 * presented, unless that stays; for a code a new one, if the user has granted
 * that, or the client always gets one.
 */

static void
ngx_svc_oauth_granted_refresh(ngx_svc_oauth_t *o)
{
    ngx_uint_t                i;
    ngx_svc_oauth_granted_t  *granted;

    static const ngx_str_t  refresh = ngx_string("refresh_token");

    granted = o->data;

    ngx_str_null(&granted->refresh);
    ngx_str_null(&granted->refresh_jkt);

    if (granted->type->refreshes && granted->stays && !granted->again) {
        return;
    }

    if (!granted->type->refreshes
        && (!ngx_svc_oauth_granted_refreshes(granted)
            || !ngx_svc_pg_array_has(&granted->client.grants, &refresh)))
    {
        return;
    }

    i = granted->again ? granted->again - 1 : 0;

    granted->refresh.data = granted->tokens.digests[i];
    granted->refresh.len = NGX_SVC_SHA256_LEN;

    if (*o->client.public.data) {
        granted->refresh_jkt = o->jkt;
    }
}


/*
 * Sets the claims of the ID token: those of the scopes whose claims the client
 * wants there, and those that it has asked for by name, if it may still have
 * their scopes.
 */

static ngx_int_t
ngx_svc_oauth_granted_claims(ngx_svc_oauth_t *o)
{
    ngx_str_t                 scope;
    ngx_uint_t                i, bit;
    ngx_svc_pg_array_t        scopes;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;
    granted->claims.wanted = 0;

    if (!granted->openid) {
        return NGX_OK;
    }

    for (i = 0; i < granted->id_token_claims.n; i++) {
        scopes.elts = &granted->id_token_claims.elts[i];
        scopes.n = 1;

        if (ngx_svc_pg_array_has(&granted->given, scopes.elts)) {
            granted->claims.wanted |= ngx_svc_oauth_claims_of(&scopes);
        }
    }

    for (i = 0; i < granted->named.n; i++) {
        bit = ngx_svc_oauth_claims_kept(&granted->named.elts[i],
                                        NGX_SVC_OAUTH_IN_ID_TOKEN, &scope);

        if (bit && ngx_svc_oauth_granted_may(o, &scope)) {
            granted->claims.wanted |= bit;
        }
    }

    return granted->claims.wanted
           ? ngx_svc_oauth_claims_about(o, &granted->user_id) : NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_granted_give_calls(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_oauth_t          *o;
    ngx_svc_oauth_granted_t  *granted;

    o = sr->data;
    granted = o->data;

    granted->gives = ngx_svc_oauth_granted_statement(o);
    rc = ngx_svc_oauth_grant_give(o, granted->gives);

    if (rc != NGX_OK) {
        return rc;
    }

    granted->claims.tells = granted->gives == granted->type->told
                            ? granted->gives : NULL;

    return ngx_svc_oauth_claims_calls(o, &granted->claims);
}


/*
 * Returns the statement.  Tokens that are given again, refresh tokens that
 * stay, and agents are too rare for one that also tells claims.
 */

static const ngx_svc_pg_statement_t *
ngx_svc_oauth_granted_statement(ngx_svc_oauth_t *o)
{
    ngx_uint_t                           agent;
    ngx_svc_oauth_granted_t             *granted;
    const ngx_svc_oauth_granted_type_t  *type;

    granted = o->data;
    type = granted->type;

    agent = ngx_svc_oauth_agent(&o->client.id);

    if (granted->again) {
        return type->again[agent];
    }

    if (type->refreshes && granted->refresh.data == NULL) {
        return type->kept[agent];
    }

    return !agent && ngx_svc_oauth_claims_of_row(&granted->claims)
           ? type->told : type->give[agent];
}


static ngx_int_t
ngx_svc_oauth_granted_given(ngx_svc_request_t *sr)
{
    ngx_svc_oauth_t          *o;
    ngx_svc_oauth_granted_t  *granted;

    o = sr->data;
    granted = o->data;

    if (PQntuples(ngx_svc_result(sr, granted->gives)) == 0) {
        return ngx_svc_oauth_granted_again(o);
    }

    ngx_svc_oauth_claims_take(o, &granted->claims);

    return ngx_svc_oauth_grant_given(o, &granted->token);
}


ngx_int_t
ngx_svc_oauth_granted_id_token(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_id_token_t  id;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    if (!granted->openid) {
        return NGX_OK;
    }

    /* also beside an opaque token, which has no key */

    o->jwts->kid = granted->kid;

    id.token = &granted->token;
    id.ttl = ngx_atoi(granted->id_token_ttl.data, granted->id_token_ttl.len);
    id.root = granted->session_id;
    id.methods = granted->methods;
    id.nonce = granted->nonce;
    id.claims = &granted->claims;

    return ngx_svc_oauth_id_token(o, &id);
}


ngx_int_t
ngx_svc_oauth_granted_more(ngx_svc_oauth_t *o, ngx_svc_json_writer_t *w)
{
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    if (granted->refresh.data) {
        ngx_svc_oauth_refresh_token_write(w, &granted->tokens,
                                          granted->again ? granted->again - 1
                                                         : 0);
    }

    return NGX_OK;
}
