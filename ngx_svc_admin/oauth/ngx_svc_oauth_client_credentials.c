/*
 * The grant type client_credentials (RFC 6749, 4.4): a client's own tokens.
 *
 * One round trip reads the client, and all is decided here.  The token says
 * all of itself; its row is stored after the answer.
 */

#include "ngx_svc_oauth_token.h"
#include "ngx_svc_oauth_key.row.h"
#include "ngx_svc_oauth_client_credentials.row.h"
#include "ngx_svc_oauth_client_row.h"
#include "ngx_svc_oauth_grant.h"
#include "ngx_svc_oauth_kept.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_own_live.h"
#include "ngx_svc_oauth_refusal.h"


#define NGX_SVC_OAUTH_CC_SCOPE  "scope"         /* a verdict */


/* o->data: what is decided on, and what is given. */

typedef struct {
    ngx_svc_oauth_client_row_t   client;
    ngx_str_t                    target;        /* the client's default; this
                                                   and the next one are the
                                                   result's */
    ngx_str_t                    registered;    /* URI of the target as an
                                                   application has it */
    ngx_svc_pg_array_t           asked;
    ngx_svc_pg_array_t           may;       /* its own scopes */
    unsigned                     stored:1;
    ngx_svc_oauth_own_t          own;
    ngx_svc_oauth_issued_t       token;
} ngx_svc_oauth_cc_t;


static ngx_int_t ngx_svc_oauth_cc_check(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_cc_decide(ngx_svc_oauth_t *o, PGresult *res);
static ngx_int_t ngx_svc_oauth_cc_take(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_default(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_may(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static const char *ngx_svc_oauth_cc_judge(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static const char *ngx_svc_oauth_cc_judge_target(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static const char *ngx_svc_oauth_cc_judge_scopes(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_issue(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_audience(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_opaque(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_row_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_cc_row_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_cc_jwt(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_key_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_cc_key_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_cc_more(ngx_svc_oauth_t *o,
    ngx_svc_json_writer_t *w);


#include "ngx_svc_oauth_client_credentials.sql.h"


const ngx_svc_oauth_grant_t  ngx_svc_oauth_client_credentials = {
    .name = ngx_string("client_credentials"),
    .metric = NGX_SVC_M_TOKEN_CLIENT,
    .login = NGX_SVC_OAUTH_LOGIN_SYNC,
    .check = ngx_svc_oauth_cc_check,
    .statement = &ngx_svc_sql_oauth_own,
    .wider = &ngx_svc_sql_oauth_own_wider,
    .decide = ngx_svc_oauth_cc_decide,
    .more = ngx_svc_oauth_cc_more
};


static ngx_int_t
ngx_svc_oauth_cc_check(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_later(o, ngx_svc_oauth_resource(o));

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_scope(o));
    }

    o->wider = ngx_svc_oauth_client_row_wider(o);

    return rc;
}


static ngx_int_t
ngx_svc_oauth_cc_decide(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_int_t            rc;
    const char          *verdict;
    ngx_svc_oauth_cc_t  *cc;

    cc = ngx_pcalloc(o->sr->request->pool, sizeof(ngx_svc_oauth_cc_t));
    if (cc == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    o->data = cc;

    ngx_svc_oauth_once_take(o);

    if (ngx_svc_oauth_cc_take(o, res, cc) != NGX_OK
        || ngx_svc_oauth_cc_may(o, cc) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_svc_oauth_cc_default(o, cc);

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (rc == NGX_OK || (!o->wider && cc->client.allowed_keys.n == 1)) {

        /* the one audience is the target, which may be registered */

        o->wider = 1;
        return ngx_svc_oauth_grant_read(o);
    }

    verdict = ngx_svc_oauth_cc_judge(o, cc);

    if (verdict == NULL) {
        return ngx_svc_oauth_cc_issue(o, cc);
    }

    if (!o->wider && ngx_strcmp(verdict, NGX_SVC_OAUTH_CC_SCOPE) == 0) {

        /* the wider statement tells whether the client ignores such scopes */

        o->wider = 1;
        return ngx_svc_oauth_grant_read(o);
    }

    return ngx_strcmp(verdict, "key") == 0
           ? ngx_svc_oauth_grant_key(o)
           : ngx_svc_oauth_client_row_refuse(o, &cc->client, verdict);
}


static ngx_int_t
ngx_svc_oauth_cc_take(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_cc_t *cc)
{
    ngx_svc_row_oauth_own_wider_t  row;

    if (o->wider) {
        ngx_svc_row_oauth_own_wider(&row, res, 0);
        cc->registered = row.registered;

    } else {
        ngx_svc_row_own_client(&row.own_client, res, 0, 0);
    }

    cc->target = row.own_client.default_resource_uri;

    if (ngx_svc_oauth_client_row_read(o, &row.own_client.grant_client,
                                      &cc->client)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    cc->client.ignores = o->wider && row.ignores;

    return NGX_OK;
}


/*
 * Sets the client's default target if the request names none.  Returns
 * NGX_DECLINED if it does not get one.
 */

static ngx_int_t
ngx_svc_oauth_cc_default(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_str_t  uri;

    if (cc->target.data == NULL || o->resource_key.data
        || ngx_svc_oauth_client_row_fault(o, NGX_SVC_OAUTH_FAULT_TARGET))
    {
        return NGX_DECLINED;
    }

    return ngx_svc_oauth_copy(o->sr, &uri, &cc->target) == NGX_OK
           && ngx_svc_oauth_target(o, &uri) == NGX_OK ? NGX_OK : NGX_ERROR;
}


/*
 * Sets the scopes that are asked for, and cc->may: the client's scopes below
 * its ceiling, but not those of users.
 */

static ngx_int_t
ngx_svc_oauth_cc_may(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_str_t                   *scope;
    ngx_uint_t                   i;
    ngx_pool_t                  *pool;
    ngx_svc_oauth_client_row_t  *client;

    pool = o->sr->request->pool;
    client = &cc->client;

    cc->may.elts = ngx_palloc(pool, (client->scopes.n + 1)
                                    * sizeof(ngx_str_t));

    if (cc->may.elts == NULL
        || ngx_svc_pg_array_read(pool, &o->scopes, &cc->asked) != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < client->scopes.n; i++) {
        scope = &client->scopes.elts[i];

        if (!ngx_svc_oauth_client_row_of_users(scope)
            && (!client->scope_ceiling
                || ngx_svc_pg_array_has(&client->allowed_scopes, scope)))
        {
            cc->may.elts[cc->may.n++] = *scope;
        }
    }

    return NGX_OK;
}


/*
 * Returns the first verdict, in their order; NULL: none; "key": the tenant has
 * no key yet.
 */

static const char *
ngx_svc_oauth_cc_judge(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    const char                  *verdict;
    ngx_svc_oauth_client_row_t  *client;

    client = &cc->client;

    verdict = ngx_svc_oauth_client_row_judge(o, client);

    if (verdict == NULL) {
        verdict = ngx_svc_oauth_cc_judge_target(o, cc);
    }

    if (verdict == NULL) {
        verdict = ngx_svc_oauth_cc_judge_scopes(o, cc);
    }

    if (verdict == NULL && client->kid.data == NULL
        && *client->format.data == 'j')
    {
        verdict = "key";
    }

    return verdict;
}


static const char *
ngx_svc_oauth_cc_judge_target(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_svc_oauth_client_row_t  *client;

    client = &cc->client;

    if (ngx_svc_oauth_client_row_fault(o, NGX_SVC_OAUTH_FAULT_TARGET)) {
        return NGX_SVC_OAUTH_FAULT_TARGET;
    }

    if (!client->audience_ceiling
        || (o->resource_key.data
            ? ngx_svc_pg_array_has(&client->allowed_keys, &o->resource_key)
            : client->allowed_keys.n == 1))
    {
        return NULL;
    }

    return "audience";
}


/* Judges the scopes.  Their text is cc->own.scope. */

static const char *
ngx_svc_oauth_cc_judge_scopes(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_str_t                    scope;
    ngx_uint_t                   i;
    ngx_svc_oauth_client_row_t  *client;

    client = &cc->client;

    if (ngx_svc_oauth_client_row_fault(o, NGX_SVC_OAUTH_FAULT_SCOPE)) {
        return NGX_SVC_OAUTH_FAULT_SCOPE;
    }

    if (ngx_svc_oauth_client_row_ignore(client, &cc->asked, &client->scopes)
        != NGX_OK)
    {
        return NGX_SVC_OAUTH_CC_SCOPE;
    }

    for (i = 0; i < cc->asked.n; i++) {
        scope = cc->asked.elts[i];

        if (!ngx_svc_pg_array_has(&client->scopes, &scope)
            || ngx_svc_oauth_client_row_of_users(&scope))
        {
            client->refused = scope;
            return NGX_SVC_OAUTH_CC_SCOPE;
        }

        if (client->refused.data == NULL
            && !ngx_svc_pg_array_has(&cc->may, &scope))
        {
            client->refused = scope;
        }
    }

    if (client->refused.data
        || (client->scope_ceiling && client->allowed_scopes.n == 0))
    {
        return "scope_ceiling";
    }

    return ngx_svc_oauth_client_row_scope(o, o->scopes.data ? &cc->asked
                                                            : &cc->may,
                                          &cc->own.scope)
           == NGX_DECLINED ? "scope_long" : NULL;
}


/*
 * Makes the token.  What is used until the answer is copied into the pool: the
 * result may be gone by then.
 */

static ngx_int_t
ngx_svc_oauth_cc_issue(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    u_char                            *p;
    ngx_svc_oauth_own_t               *own;
    ngx_svc_oauth_issued_t            *token;
    const ngx_svc_oauth_client_row_t  *client;

    own = &cc->own;
    token = &cc->token;
    client = &cc->client;

    own->tenant = o->tenant;
    own->client_id = o->client.id;
    own->ms = ngx_atotm(client->now.data, client->now.len);
    own->ttl = client->ttl;
    own->jkt = o->jkt;

    p = ngx_pnalloc(o->sr->request->pool, NGX_SVC_UUID_TEXT_LEN);

    if (p == NULL || own->scope.data == NULL
        || ngx_svc_oauth_own_jti(own, &o->jti) != NGX_OK
        || ngx_svc_oauth_copy(o->sr, &token->slug, &client->slug) != NGX_OK
        || ngx_svc_oauth_cc_audience(o, cc) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    token->jti.data = p;
    token->jti.len = ngx_svc_uuid_text(p, own->jti) - p;
    token->ms = own->ms;
    token->ttl = own->ttl;
    token->client_id = own->client_id;
    token->subject = own->client_id;
    token->scope = own->scope;
    token->audience = own->audience;

    return *client->format.data == 'o'
           ? ngx_svc_oauth_cc_opaque(o, cc) : ngx_svc_oauth_cc_jwt(o, cc);
}


/*
 * Sets the audience: the target that is asked for, or the only one that the
 * ceiling allows.  The issuer is no audience.
 */

static ngx_int_t
ngx_svc_oauth_cc_audience(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_int_t             rc;
    ngx_str_t             key, uri;
    ngx_svc_oauth_own_t  *own;

    own = &cc->own;

    key = o->resource_key;
    uri = o->resource;

    if (key.data == NULL && cc->client.allowed_keys.n == 1) {
        key = cc->client.allowed_keys.elts[0];
        uri = cc->client.allowed.elts[0];
    }

    if (key.data == NULL) {
        return NGX_OK;
    }

    rc = ngx_svc_oauth_client_row_issuer(o, &cc->client, &key);

    if (rc != 0) {
        return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
    }

    own->audience_key = key;
    own->audience = uri;

    return cc->registered.data
           ? ngx_svc_oauth_copy(o->sr, &own->audience, &cc->registered)
           : NGX_OK;
}


/*
 * Gives an opaque token.  If it would be too long, it is one that is looked up
 * by its row, which is stored before the answer.
 */

static ngx_int_t
ngx_svc_oauth_cc_opaque(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_int_t  rc;

    ngx_str_set(&cc->token.format, "opaque");

    rc = ngx_svc_oauth_own_seal(o->sr, &cc->own, &cc->token.opaque);

    if (rc == NGX_OK) {
        return ngx_svc_oauth_grant_send(o, &cc->token);
    }

    if (rc == NGX_ERROR || ngx_svc_oauth_issue_secret(o) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cc->own.secret_hash = o->secret_hash;

    return ngx_svc_request_again(o->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_oauth_cc_row_calls,
                                 ngx_svc_oauth_cc_row_reply);
}


static ngx_int_t
ngx_svc_oauth_cc_row_calls(ngx_svc_request_t *sr)
{
    ngx_int_t            rc;
    ngx_svc_oauth_t     *o;
    ngx_svc_oauth_cc_t  *cc;

    o = sr->data;
    cc = o->data;

    rc = ngx_svc_oauth_client_call(o, NGX_SVC_OAUTH_LOGIN_SYNC);

    return rc == NGX_OK
           ? ngx_svc_oauth_kept_row(o, &cc->own, &o->ip, &o->country) : rc;
}


static ngx_int_t
ngx_svc_oauth_cc_row_reply(ngx_svc_request_t *sr)
{
    PGresult            *res;
    ngx_svc_oauth_t     *o;
    ngx_svc_oauth_cc_t  *cc;

    o = sr->data;
    cc = o->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_oauth_kept_row);

    if (PQcmdTuples(res)[0] != '1') {

        /* the client has been deleted meanwhile, or its secret is retired */

        return ngx_svc_oauth_refuse_client(o, ngx_svc_oauth_client_result(o));
    }

    cc->stored = 1;

    return ngx_svc_oauth_grant_send(o, &cc->token);
}


static ngx_int_t
ngx_svc_oauth_cc_jwt(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    if (ngx_svc_oauth_copy(o->sr, &cc->token.kid, &cc->client.kid) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cc->own.kid = cc->token.kid;

    if (ngx_svc_oauth_key_held(&cc->token.kid)) {
        return ngx_svc_oauth_grant_send(o, &cc->token);
    }

    o->kid = cc->token.kid;

    return ngx_svc_request_again(o->sr, NGX_SVC_PG_READ,
                                 ngx_svc_oauth_cc_key_calls,
                                 ngx_svc_oauth_cc_key_reply);
}


static ngx_int_t
ngx_svc_oauth_cc_key_calls(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_client_call_then(sr->data,
                                          &ngx_svc_sql_oauth_key_sealed);
}


static ngx_int_t
ngx_svc_oauth_cc_key_reply(ngx_svc_request_t *sr)
{
    PGresult                        *res;
    ngx_svc_oauth_t                 *o;
    ngx_svc_oauth_cc_t              *cc;
    ngx_svc_row_oauth_key_sealed_t   row;

    o = sr->data;
    cc = o->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_oauth_key_sealed);

    if (PQntuples(res) == 0) {

        /* the key has been revoked, and the client's row names another */

        ngx_str_null(&o->kid);
        return ngx_svc_oauth_grant_read(o);
    }

    ngx_svc_row_oauth_key_sealed(&row, res, 0);
    cc->token.sealed = row.sealed;

    return ngx_svc_oauth_grant_send(o, &cc->token);
}


/* Adds no member; has the answered token stored, unless it is already. */

static ngx_int_t
ngx_svc_oauth_cc_more(ngx_svc_oauth_t *o, ngx_svc_json_writer_t *w)
{
    ngx_svc_oauth_cc_t  *cc;

    cc = o->data;

    if (!cc->stored) {
        ngx_svc_oauth_kept_add(o, &cc->own);
    }

    return NGX_OK;
}
