/*
 * The grant type client_credentials (RFC 6749, 4.4): a client's own tokens.
 *
 * One read brings the client, and what it may have is decided here.  What is
 * given says all of itself; its row comes behind the answer.
 */

#include "ngx_svc_oauth_token.h"
#include "ngx_svc_oauth_grant.h"
#include "ngx_svc_oauth_kept.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_own_live.h"
#include "ngx_svc_oauth_proof.h"
#include "ngx_svc_oauth_refusal.h"
#include "ngx_svc_pg_array.h"


#define NGX_SVC_OAUTH_OWN_SHOWN  20     /* of a ceiling, to who looks at it */


/* The columns, in their order. */

typedef enum {
    NGX_SVC_OAUTH_CC_SLUG = 0,
    NGX_SVC_OAUTH_CC_METHOD,
    NGX_SVC_OAUTH_CC_SUSPENDED,
    NGX_SVC_OAUTH_CC_STATE,
    NGX_SVC_OAUTH_CC_GRANTS,
    NGX_SVC_OAUTH_CC_SCOPES,
    NGX_SVC_OAUTH_CC_FORMAT,
    NGX_SVC_OAUTH_CC_TTL,
    NGX_SVC_OAUTH_CC_MAX_TTL,
    NGX_SVC_OAUTH_CC_TTL_LEFT,
    NGX_SVC_OAUTH_CC_DPOP,
    NGX_SVC_OAUTH_CC_KID,
    NGX_SVC_OAUTH_CC_ALLOWED_SCOPES,
    NGX_SVC_OAUTH_CC_ALLOWED,
    NGX_SVC_OAUTH_CC_ALLOWED_KEYS,
    NGX_SVC_OAUTH_CC_NOW,
    NGX_SVC_OAUTH_CC_REGISTERED
} ngx_svc_oauth_cc_column_e;


/* In o->data: what is decided on, and given. */

typedef struct {
    PGresult                *res;
    ngx_svc_pg_array_t       asked;
    ngx_svc_pg_array_t       scopes;        /* of the client */
    ngx_svc_pg_array_t       may;           /* that it may have of itself */
    ngx_svc_pg_array_t       allowed_scopes;
    ngx_svc_pg_array_t       allowed;       /* audiences, */
    ngx_svc_pg_array_t       allowed_keys;  /*     and their keys */
    unsigned                 scope_ceiling:1;
    unsigned                 audience_ceiling:1;
    unsigned                 stored:1;
    ngx_str_t                refused;       /* a scope, with its verdict */
    ngx_svc_oauth_own_t      own;
    ngx_svc_oauth_issued_t   token;
} ngx_svc_oauth_cc_t;


static ngx_int_t ngx_svc_oauth_cc_check(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_cc_decide(ngx_svc_oauth_t *o, PGresult *res);
static ngx_int_t ngx_svc_oauth_cc_take(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_may(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_uint_t ngx_svc_oauth_cc_user_scope(const ngx_str_t *scope);
static const char *ngx_svc_oauth_cc_judge(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static const char *ngx_svc_oauth_cc_judge_client(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static const char *ngx_svc_oauth_cc_judge_target(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static const char *ngx_svc_oauth_cc_judge_scopes(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_refuse(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc, const char *verdict);
static ngx_int_t ngx_svc_oauth_cc_shown(ngx_svc_oauth_t *o,
    const ngx_svc_pg_array_t *array, ngx_str_t *json);
static ngx_int_t ngx_svc_oauth_cc_issue(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_scope(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_audience(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_ttl(ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_opaque(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_row_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_cc_row_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_cc_jwt(ngx_svc_oauth_t *o,
    ngx_svc_oauth_cc_t *cc);
static ngx_int_t ngx_svc_oauth_cc_key_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_cc_key_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_cc_more(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_json_writer_t *w);


/*
 * SQL: the client.  registered: the resource as its application has it, which
 * takes a look at another row.
 */

#define NGX_SVC_OAUTH_CC(state, registered)                                   \
    "SELECT a.tenant_slug, a.auth_method,"                                    \
        " a.tenant_suspended_at IS NOT NULL, " state ", a.grant_types,"       \
        " a.scopes, a.access_token_format, a.access_token_ttl,"               \
        " a.max_token_ttl, " NGX_SVC_OAUTH_TTL_LEFT("a") ","                  \
        " a.require_dpop, a.active_kid, a.allowed_scopes,"                    \
        " a.allowed_audiences, a.allowed_audience_keys, "                     \
        NGX_SVC_OAUTH_MS ", " registered                                      \
    " FROM svc.application a"                                                 \
    " WHERE a.tenant_id = " NGX_SVC_TENANT                                    \
        " AND a.client_id BETWEEN $1 AND $1"                                  \
    " ORDER BY a.client_id LIMIT 1"

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_own = {
    .name = "oauth_own",
    .text = NGX_SVC_OAUTH_CC(NGX_SVC_OAUTH_OWN_STATE("a"), "NULL"),
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id))
};

/* Of an agent, or for a resource. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_own_wider = {
    .name = "oauth_own_wider",
    .text = NGX_SVC_OAUTH_CC(NGX_SVC_OAUTH_OWN_STATE_AGENT("a"),
                NGX_SVC_OAUTH_REGISTERED("NULL",
                    NGX_SVC_OAUTH_AUDIENCE_KEY("a", "$2::text"))),
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_param(resource_key))
};


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

    o->wider = o->resource_key.data
               || (o->client.digest.len && ngx_svc_oauth_agent(&o->client.id));

    return rc;
}


static ngx_int_t
ngx_svc_oauth_cc_decide(ngx_svc_oauth_t *o, PGresult *res)
{
    const char          *verdict;
    ngx_svc_oauth_cc_t  *cc;

    cc = ngx_pcalloc(o->sr->request->pool, sizeof(ngx_svc_oauth_cc_t));
    if (cc == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    o->data = cc;
    cc->res = res;

    ngx_svc_oauth_proof_take(o);

    if (ngx_svc_oauth_cc_take(o, cc) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!o->wider && cc->allowed_keys.n == 1) {

        /* that is its target, which an application may have registered */

        o->wider = 1;
        return ngx_svc_oauth_grant_read(o);
    }

    verdict = ngx_svc_oauth_cc_judge(o, cc);

    if (verdict == NULL) {
        return ngx_svc_oauth_cc_issue(o, cc);
    }

    return ngx_strcmp(verdict, "key") == 0
           ? ngx_svc_oauth_grant_key(o)
           : ngx_svc_oauth_cc_refuse(o, cc, verdict);
}


static ngx_int_t
ngx_svc_oauth_cc_take(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_str_t    text;
    ngx_uint_t   i;
    ngx_pool_t  *pool;

    const struct {
        ngx_svc_oauth_cc_column_e   column;
        ngx_svc_pg_array_t         *array;
    } arrays[] = {
        { NGX_SVC_OAUTH_CC_SCOPES, &cc->scopes },
        { NGX_SVC_OAUTH_CC_ALLOWED_SCOPES, &cc->allowed_scopes },
        { NGX_SVC_OAUTH_CC_ALLOWED, &cc->allowed },
        { NGX_SVC_OAUTH_CC_ALLOWED_KEYS, &cc->allowed_keys }
    };

    pool = o->sr->request->pool;

    for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        text = ngx_svc_pg_value(cc->res, 0, arrays[i].column);

        if (ngx_svc_pg_array_read(pool, &text, arrays[i].array) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    cc->scope_ceiling = !PQgetisnull(cc->res, 0,
                                     NGX_SVC_OAUTH_CC_ALLOWED_SCOPES);
    cc->audience_ceiling = !PQgetisnull(cc->res, 0,
                                        NGX_SVC_OAUTH_CC_ALLOWED_KEYS);

    return ngx_svc_pg_array_read(pool, &o->scopes, &cc->asked) == NGX_OK
           ? ngx_svc_oauth_cc_may(o, cc) : NGX_ERROR;
}


/* Of its scopes, but those of users, the ones below its ceiling. */

static ngx_int_t
ngx_svc_oauth_cc_may(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_uint_t   i;
    ngx_str_t   *scope;

    cc->may.elts = ngx_palloc(o->sr->request->pool,
                              (cc->scopes.n + 1) * sizeof(ngx_str_t));
    if (cc->may.elts == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < cc->scopes.n; i++) {
        scope = &cc->scopes.elts[i];

        if (!ngx_svc_oauth_cc_user_scope(scope)
            && (!cc->scope_ceiling
                || ngx_svc_pg_array_has(&cc->allowed_scopes, scope)))
        {
            cc->may.elts[cc->may.n++] = *scope;
        }
    }

    return NGX_OK;
}


/* 1: a client's own token never has it. */

static ngx_uint_t
ngx_svc_oauth_cc_user_scope(const ngx_str_t *scope)
{
    static ngx_str_t  scopes[] = {
        ngx_string("openid"),
        ngx_string("profile"),
        ngx_string("email"),
        ngx_string("offline_access")
    };

    static const ngx_svc_pg_array_t  users = {
        scopes, sizeof(scopes) / sizeof(scopes[0])
    };

    return ngx_svc_pg_array_has(&users, scope);
}


/* The verdicts, in their order.  NULL: none; "key": there is none yet. */

static const char *
ngx_svc_oauth_cc_judge(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    const char  *verdict;

    verdict = ngx_svc_oauth_cc_judge_client(o, cc);

    if (verdict == NULL) {
        verdict = ngx_svc_oauth_cc_judge_target(o, cc);
    }

    if (verdict == NULL) {
        verdict = ngx_svc_oauth_cc_judge_scopes(o, cc);
    }

    if (verdict == NULL && PQgetisnull(cc->res, 0, NGX_SVC_OAUTH_CC_KID)
        && *PQgetvalue(cc->res, 0, NGX_SVC_OAUTH_CC_FORMAT) == 'j')
    {
        verdict = "key";
    }

    return verdict;
}


static const char *
ngx_svc_oauth_cc_judge_client(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_str_t           text;
    PGresult           *res;
    ngx_svc_pg_array_t  grants;

    res = cc->res;

    if ((ngx_strcmp(PQgetvalue(res, 0, NGX_SVC_OAUTH_CC_METHOD), "none") == 0)
        != *o->client.public.data)
    {
        return "client";
    }

    if (*PQgetvalue(res, 0, NGX_SVC_OAUTH_CC_SUSPENDED) == 't') {
        return "suspended";
    }

    if (!PQgetisnull(res, 0, NGX_SVC_OAUTH_CC_STATE)) {
        return PQgetvalue(res, 0, NGX_SVC_OAUTH_CC_STATE);
    }

    text = ngx_svc_pg_value(res, 0, NGX_SVC_OAUTH_CC_GRANTS);

    if (ngx_svc_pg_array_read(o->sr->request->pool, &text, &grants) != NGX_OK
        || !ngx_svc_pg_array_has(&grants, &o->grant->name))
    {
        return "grant_type";
    }

    if (o->jkt.data == NULL
        && *PQgetvalue(res, 0, NGX_SVC_OAUTH_CC_DPOP) == 't')
    {
        return "proof";
    }

    return o->proof_seen ? "proof_seen" : NULL;
}


static const char *
ngx_svc_oauth_cc_judge_target(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    static const ngx_str_t  fault = ngx_string(NGX_SVC_OAUTH_FAULT_TARGET);

    if (o->fault.len == fault.len
        && ngx_memcmp(o->fault.data, fault.data, fault.len) == 0)
    {
        return NGX_SVC_OAUTH_FAULT_TARGET;
    }

    if (!cc->audience_ceiling
        || (o->resource_key.data
            ? ngx_svc_pg_array_has(&cc->allowed_keys, &o->resource_key)
            : cc->allowed_keys.n == 1))
    {
        return NULL;
    }

    return "audience";
}


static const char *
ngx_svc_oauth_cc_judge_scopes(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    size_t               len;
    ngx_str_t            scope;
    ngx_uint_t           i;
    ngx_svc_pg_array_t  *given;

    if (o->fault.data) {
        return NGX_SVC_OAUTH_FAULT_SCOPE;
    }

    for (i = 0; i < cc->asked.n; i++) {
        scope = cc->asked.elts[i];

        if (!ngx_svc_pg_array_has(&cc->scopes, &scope)
            || ngx_svc_oauth_cc_user_scope(&scope))
        {
            cc->refused = scope;
            return "scope";
        }

        if (cc->refused.data == NULL
            && !ngx_svc_pg_array_has(&cc->may, &scope))
        {
            cc->refused = scope;
        }
    }

    if (cc->refused.data
        || (cc->scope_ceiling && cc->allowed_scopes.n == 0))
    {
        return "scope_ceiling";
    }

    given = o->scopes.data ? &cc->asked : &cc->may;
    len = 0;

    for (i = 0; i < given->n; i++) {
        len += given->elts[i].len + (i ? 1 : 0);
    }

    return len > NGX_SVC_OAUTH_SCOPE_MAX ? "scope_long" : NULL;
}


static ngx_int_t
ngx_svc_oauth_cc_refuse(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc,
    const char *verdict)
{
    size_t      len;
    ngx_int_t   rc;
    ngx_str_t   text, allowed;
    ngx_uint_t  ceiling;

    rc = NGX_OK;
    ngx_str_null(&allowed);

    ceiling = (ngx_strcmp(verdict, "scope_ceiling") == 0);

    if (ceiling) {
        rc = ngx_svc_oauth_cc_shown(o, &cc->allowed_scopes, &allowed);

    } else if (ngx_strcmp(verdict, "audience") == 0) {
        rc = ngx_svc_oauth_cc_shown(o, &cc->allowed, &allowed);
    }

    len = ngx_strlen(verdict);
    text.data = ngx_pnalloc(o->sr->request->pool, len + 1 + cc->refused.len);

    if (rc != NGX_OK || text.data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    text.len = ngx_sprintf(text.data, ceiling || cc->refused.len ? "%s %V"
                                                                 : "%s",
                           verdict, &cc->refused)
               - text.data;

    return ngx_svc_oauth_grant_refused(o, &text, &allowed);
}


static ngx_int_t
ngx_svc_oauth_cc_shown(ngx_svc_oauth_t *o, const ngx_svc_pg_array_t *array,
    ngx_str_t *json)
{
    ngx_uint_t             i;
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, o->sr->request->pool, 512) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '[');

    for (i = 0; i < array->n && i < NGX_SVC_OAUTH_OWN_SHOWN; i++) {
        ngx_svc_json_string(&w, NULL, array->elts[i].data, array->elts[i].len);
    }

    ngx_svc_json_close(&w, ']');

    json->data = w.start;
    json->len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


/* What is kept until it is answered is of the pool: the result may go. */

static ngx_int_t
ngx_svc_oauth_cc_issue(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    u_char                  *p;
    ngx_str_t                now;
    ngx_svc_oauth_own_t     *own;
    ngx_svc_oauth_issued_t  *token;

    own = &cc->own;
    token = &cc->token;

    now = ngx_svc_pg_value(cc->res, 0, NGX_SVC_OAUTH_CC_NOW);

    own->tenant = o->tenant;
    own->client_id = o->client.id;
    own->ms = ngx_atotm(now.data, now.len);
    own->ttl = ngx_svc_oauth_cc_ttl(cc);
    own->jkt = o->jkt;

    p = ngx_pnalloc(o->sr->request->pool, NGX_SVC_UUID_TEXT_LEN);

    if (p == NULL || ngx_svc_oauth_own_jti(own, &o->jti) != NGX_OK
        || ngx_svc_oauth_cc_scope(o, cc) != NGX_OK
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

    return *PQgetvalue(cc->res, 0, NGX_SVC_OAUTH_CC_FORMAT) == 'o'
           ? ngx_svc_oauth_cc_opaque(o, cc) : ngx_svc_oauth_cc_jwt(o, cc);
}


static ngx_int_t
ngx_svc_oauth_cc_scope(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    u_char              *p;
    size_t               len;
    ngx_uint_t           i;
    ngx_svc_pg_array_t  *given;

    given = o->scopes.data ? &cc->asked : &cc->may;
    len = 1;

    for (i = 0; i < given->n; i++) {
        len += given->elts[i].len + 1;
    }

    p = ngx_pnalloc(o->sr->request->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    cc->own.scope.data = p;

    for (i = 0; i < given->n; i++) {
        p = ngx_sprintf(p, i ? " %V" : "%V", &given->elts[i]);
    }

    cc->own.scope.len = p - cc->own.scope.data;

    return NGX_OK;
}


/* The target, of what is asked for, or the only one; the issuer is none. */

static ngx_int_t
ngx_svc_oauth_cc_audience(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_str_t             slug, issuer, key, uri, registered;
    ngx_svc_oauth_own_t  *own;

    own = &cc->own;

    slug = ngx_svc_pg_value(cc->res, 0, NGX_SVC_OAUTH_CC_SLUG);

    if (ngx_svc_oauth_bytes(o->sr, &cc->token.slug, slug.data, slug.len)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    key = o->resource_key;
    uri = o->resource;

    if (key.data == NULL && cc->allowed_keys.n == 1) {
        key = cc->allowed_keys.elts[0];
        uri = cc->allowed.elts[0];
    }

    if (key.data == NULL) {
        return NGX_OK;
    }

    issuer = ngx_svc_oauth_issuer(o->sr, &slug);

    if (issuer.data == NULL) {
        return NGX_ERROR;
    }

    if (key.len == issuer.len
        && ngx_memcmp(key.data, issuer.data, key.len) == 0)
    {
        return NGX_OK;
    }

    registered = ngx_svc_pg_value(cc->res, 0, NGX_SVC_OAUTH_CC_REGISTERED);

    own->audience_key = key;
    own->audience = uri;

    return registered.data
           ? ngx_svc_oauth_bytes(o->sr, &own->audience, registered.data,
                                 registered.len)
           : NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_cc_ttl(ngx_svc_oauth_cc_t *cc)
{
    ngx_int_t   ttl, n;
    ngx_str_t   text;
    ngx_uint_t  i;

    static const ngx_svc_oauth_cc_column_e  limits[] = {
        NGX_SVC_OAUTH_CC_MAX_TTL, NGX_SVC_OAUTH_CC_TTL_LEFT
    };

    text = ngx_svc_pg_value(cc->res, 0, NGX_SVC_OAUTH_CC_TTL);
    ttl = ngx_atoi(text.data, text.len);

    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        text = ngx_svc_pg_value(cc->res, 0, limits[i]);

        if (text.data) {
            n = ngx_atoi(text.data, text.len);
            ttl = ngx_min(ttl, n);
        }
    }

    return ttl;
}


/* One that is too long is looked up by its row, which is there before it. */

static ngx_int_t
ngx_svc_oauth_cc_opaque(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_int_t  rc;

    ngx_str_set(&cc->token.format, "opaque");

    rc = ngx_svc_oauth_own_seal(o->sr, &cc->own, &cc->token.opaque);

    if (rc == NGX_OK) {
        return ngx_svc_oauth_grant_send(o, &cc->token, NULL);
    }

    if (rc == NGX_ERROR) {
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
    ngx_svc_oauth_t     *o;
    ngx_svc_oauth_cc_t  *cc;

    o = sr->data;
    cc = o->data;

    if (PQcmdTuples(ngx_svc_route_last(sr))[0] != '1') {

        /* it has been deleted since it was read, or its secret is retired */

        return ngx_svc_oauth_refuse_client(o, sr->results[0]);
    }

    cc->stored = 1;

    return ngx_svc_oauth_grant_send(o, &cc->token, NULL);
}


static ngx_int_t
ngx_svc_oauth_cc_jwt(ngx_svc_oauth_t *o, ngx_svc_oauth_cc_t *cc)
{
    ngx_str_t  kid;

    kid = ngx_svc_pg_value(cc->res, 0, NGX_SVC_OAUTH_CC_KID);

    if (ngx_svc_oauth_bytes(o->sr, &cc->token.kid, kid.data, kid.len)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cc->own.kid = cc->token.kid;

    if (ngx_svc_oauth_key_held(&cc->token.kid)) {
        return ngx_svc_oauth_grant_send(o, &cc->token, NULL);
    }

    o->kid = cc->token.kid;

    return ngx_svc_request_again(o->sr, NGX_SVC_PG_READ,
                                 ngx_svc_oauth_cc_key_calls,
                                 ngx_svc_oauth_cc_key_reply);
}


static ngx_int_t
ngx_svc_oauth_cc_key_calls(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_client_call(sr->data, NGX_SVC_OAUTH_LOGIN_SYNC);

    return rc == NGX_OK
           ? ngx_svc_route_call(sr, &ngx_svc_sql_oauth_key_sealed, NULL) : rc;
}


static ngx_int_t
ngx_svc_oauth_cc_key_reply(ngx_svc_request_t *sr)
{
    PGresult            *res;
    ngx_svc_oauth_t     *o;
    ngx_svc_oauth_cc_t  *cc;

    o = sr->data;
    cc = o->data;
    res = ngx_svc_route_last(sr);

    if (PQntuples(res) == 0) {

        /* it has been revoked since, and the client names another one */

        ngx_str_null(&o->kid);
        return ngx_svc_oauth_grant_read(o);
    }

    cc->token.sealed = ngx_svc_pg_value(res, 0, 0);

    return ngx_svc_oauth_grant_send(o, &cc->token, NULL);
}


/* No member: what is answered is to be stored, unless it is. */

static ngx_int_t
ngx_svc_oauth_cc_more(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_json_writer_t *w)
{
    ngx_svc_oauth_cc_t  *cc;

    cc = o->data;

    if (!cc->stored) {
        ngx_svc_oauth_kept_add(o, &cc->own);
    }

    return NGX_OK;
}
