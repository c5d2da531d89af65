/*
 * POST /oauth/introspect (RFC 7662).
 *
 * Whether a token lives is asked each time, in one round trip, which brings the
 * key of a JWT along whose signature the worker has not verified yet.  A
 * client's own token says all else of itself; of a user's it is in its row.
 */

#include "ngx_svc_oauth_issue.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_oauth_live.h"
#include "ngx_svc_oauth_own_live.h"
#include "ngx_svc_oauth_shown.h"


/* What is answered of one that is active, as text.  No data: it is left out. */

typedef struct {
    ngx_str_t  sub;
    ngx_str_t  client_id;
    ngx_str_t  scope;
    ngx_str_t  exp;
    ngx_str_t  iss;             /* and what is below: of an access token */
    ngx_str_t  aud;
    ngx_str_t  iat;
    ngx_str_t  jti;
    ngx_str_t  chain;
    ngx_str_t  jkt;             /* bytes */
    ngx_uint_t access;
} ngx_svc_oauth_introspected_t;


static ngx_int_t ngx_svc_oauth_introspect_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_introspect_calls(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_introspect_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_introspect_tell(ngx_svc_oauth_t *o,
    PGresult *res);
static ngx_int_t ngx_svc_oauth_introspect_own(ngx_svc_oauth_t *o,
    PGresult *res, ngx_svc_oauth_introspected_t *token);
static ngx_int_t ngx_svc_oauth_introspect_row(ngx_svc_oauth_t *o,
    PGresult *res, ngx_svc_oauth_introspected_t *token);
static ngx_int_t ngx_svc_oauth_introspect_jkt(ngx_svc_oauth_t *o,
    PGresult *res, ngx_str_t *jkt);
static ngx_int_t ngx_svc_oauth_introspect_send(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_introspected_t *token);
static void ngx_svc_oauth_introspect_text(ngx_svc_json_writer_t *w,
    const char *key, const ngx_str_t *value);


/*
 * SQL: who asks, "a": with a secret, and able to act; else its verdict says
 * that it is no client, whatever the reason.
 */

#define NGX_SVC_OAUTH_ASKS(public)                                            \
    "CASE WHEN a.auth_method = 'none' OR " public "::bool"                    \
        " OR t.suspended_at IS NOT NULL"                                      \
        " OR " NGX_SVC_OAUTH_STATE("a", "g") " IS NOT NULL"                   \
        " THEN 'client' END AS _verdict"

/* It sees its own tokens, those for it, and those that are for the issuer. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_introspect = {
    .name = "oauth_introspect",
    .text =
        "SELECT " NGX_SVC_OAUTH_ASKS("$8") ", t.slug, l.jti,"
            " coalesce(l.user_id::text,"
                " l.principals[cardinality(l.principals)]) AS sub,"
            " l.client_id, l.audience,"
            " array_to_string(l.now_scopes, ' ') AS scope,"
            " array_to_string(l.chain, ' ') AS chain,"
            " floor(date_part('epoch', l.ends))::bigint AS exp,"
            " floor(date_part('epoch', l.issued_at))::bigint AS iat,"
            " l.jkt, l.kid, CASE WHEN $6::bool THEN l.public END AS public"
        " FROM " NGX_SVC_OAUTH_CLIENT("$1")
        " LEFT JOIN LATERAL "
            NGX_SVC_OAUTH_LIVE(NGX_SVC_OAUTH_TOKEN("$2::uuid", "$3"), "$4")
            " l ON (l.client_id = a.client_id OR l.audience IS NULL"
                " OR l.audience_key = a.resource_key)"
                " AND l.secret_hash IS NOT DISTINCT FROM $5::bytea"
                " AND l.kid IS NOT DISTINCT FROM $7::text"
                " AND " NGX_SVC_OAUTH_TOKEN_SAYS("$9"),
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_param(token.jti),
                   ngx_svc_oauth_param(token.ms),
                   ngx_svc_oauth_param(issuer),
                   ngx_svc_oauth_param(token.secret_hash),
                   ngx_svc_oauth_param(token.unverified),
                   ngx_svc_oauth_param(token.kid),
                   ngx_svc_oauth_param(client.public),
                   ngx_svc_oauth_param(token.tenant))
};

/* Of what can be none of ours: who asks alone. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_introspect_none = {
    .name = "oauth_introspect_none",
    .text =
        "SELECT " NGX_SVC_OAUTH_ASKS("$2") " FROM " NGX_SVC_OAUTH_CLIENT("$1"),
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_param(client.public))
};

/* Of what refreshes: to its own client, while the grant's user may use it. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_introspect_refresh = {
    .name = "oauth_introspect_refresh",
    .text =
        "SELECT " NGX_SVC_OAUTH_ASKS("$3") ", r.user_id::text AS sub,"
            " r.client_id,"
            " array_to_string(r.scopes, ' ') AS scope,"
            " floor(date_part('epoch', least(f.expires_at, r.expires_at)))"
                "::bigint AS exp"
        " FROM " NGX_SVC_OAUTH_CLIENT("$1")
        " LEFT JOIN LATERAL ("
            "SELECT k.grant_id, k.expires_at FROM svc.oauth_refresh k"
            " WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.digest BETWEEN $2 AND $2 AND k.used_at IS NULL"
            " ORDER BY k.digest LIMIT 1) f ON f.expires_at > now()"
        " LEFT JOIN LATERAL ("
            NGX_SVC_ROW("k.*", "svc.oauth_grant", "f.grant_id") ") r"
            " ON r.client_id = a.client_id AND r.revoked_at IS NULL"
                " AND r.expires_at > now() AND r.created_at >= coalesce("
                    "greatest(a.tokens_valid_after, g.tokens_valid_after),"
                    " '-infinity') AND EXISTS (SELECT FROM ("
                    NGX_SVC_ROW("k.status, k.valid_after", "svc.user_account",
                                "r.user_id") ") u"
                    " WHERE u.status = 'active' AND r.session_at"
                        " >= coalesce(u.valid_after, '-infinity'))"
                " AND " NGX_SVC_OAUTH_ASSIGNED("r.user_id")
                " AND (r.consented OR NOT a.require_consent)",
    NGX_SVC_PARAMS(ngx_svc_oauth_param(client.id),
                   ngx_svc_oauth_param(token.secret_hash),
                   ngx_svc_oauth_param(client.public))
};


const ngx_svc_route_t  ngx_svc_oauth_introspect[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/introspect"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_oauth_own_opaque,
                      &ngx_svc_sql_oauth_own_jwt,
                      &ngx_svc_sql_oauth_own_agent,
                      &ngx_svc_sql_oauth_introspect,
                      &ngx_svc_sql_oauth_introspect_none,
                      &ngx_svc_sql_oauth_introspect_refresh },
      .prepare = ngx_svc_oauth_introspect_prepare,
      .reply = ngx_svc_oauth_introspect_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_oauth_introspect_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    rc = ngx_svc_oauth_shown_take(sr, &o);

    return rc == NGX_OK ? ngx_svc_oauth_introspect_calls(o) : rc;
}


static ngx_int_t
ngx_svc_oauth_introspect_calls(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;

    static const ngx_svc_pg_statement_t *const  statements[] = {
        [NGX_SVC_OAUTH_BEARER_NONE] = &ngx_svc_sql_oauth_introspect_none,
        [NGX_SVC_OAUTH_BEARER_JWT] = &ngx_svc_sql_oauth_introspect,
        [NGX_SVC_OAUTH_BEARER_OPAQUE] = &ngx_svc_sql_oauth_introspect,
        [NGX_SVC_OAUTH_BEARER_REFRESH] = &ngx_svc_sql_oauth_introspect_refresh
    };

    rc = ngx_svc_oauth_client_call(o, NGX_SVC_OAUTH_LOGIN_SYNC);

    if (rc != NGX_OK) {
        return rc;
    }

    return o->token.own
           ? ngx_svc_oauth_own_live_call(o)
           : ngx_svc_route_call(o->sr, statements[o->token.kind], NULL);
}


static ngx_int_t
ngx_svc_oauth_introspect_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_shown_answer(sr->data, ngx_svc_route_last(sr),
                                      ngx_svc_oauth_introspect_tell);
}


static ngx_int_t
ngx_svc_oauth_introspect_tell(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_int_t                     rc;
    ngx_svc_oauth_introspected_t  token;

    ngx_memzero(&token, sizeof(ngx_svc_oauth_introspected_t));

    if (o->token.own) {
        rc = ngx_svc_oauth_introspect_own(o, res, &token);

    } else if (o->token.kind == NGX_SVC_OAUTH_BEARER_NONE) {
        rc = NGX_DECLINED;

    } else {
        rc = ngx_svc_oauth_introspect_row(o, res, &token);
    }

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_oauth_introspect_send(o, rc == NGX_OK ? &token : NULL);
}


/* NGX_DECLINED: it is dead, or not to be shown to who asks; and below. */

static ngx_int_t
ngx_svc_oauth_introspect_own(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_introspected_t *token)
{
    u_char                     *p;
    ngx_int_t                   rc;
    ngx_svc_oauth_own_t        *own;
    ngx_svc_oauth_own_today_t   today;

    own = o->token.own;

    rc = ngx_svc_oauth_own_shown(o, res)
         ? ngx_svc_oauth_own_live(o, res, &today) : NGX_DECLINED;

    if (rc != NGX_OK) {
        return rc;
    }

    p = ngx_pnalloc(o->sr->request->pool,
                    2 * NGX_INT64_LEN + NGX_SVC_UUID_TEXT_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    token->access = 1;
    token->sub = own->client_id;
    token->client_id = own->client_id;
    token->scope = today.scope;
    token->jkt = own->jkt;

    token->exp.data = p;
    p = ngx_sprintf(p, "%L", today.ends / 1000);
    token->exp.len = p - token->exp.data;

    token->iat.data = p;
    p = ngx_sprintf(p, "%L", own->ms / 1000);
    token->iat.len = p - token->iat.data;

    token->jti.data = p;
    token->jti.len = NGX_SVC_UUID_TEXT_LEN;
    (void) ngx_svc_uuid_text(p, own->jti);

    token->iss = ngx_svc_oauth_issuer(o->sr, &today.slug);
    token->aud = own->audience.data ? own->audience : token->iss;

    return token->iss.data ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_oauth_introspect_row(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_introspected_t *token)
{
    ngx_int_t  rc;
    ngx_str_t  slug;

    token->client_id = ngx_svc_row_value(res, 0, "client_id");

    rc = token->client_id.data
         ? ngx_svc_oauth_shown_verify(o, &o->token, res, "public")
         : NGX_DECLINED;

    if (rc != NGX_OK) {
        return rc;
    }

    token->sub = ngx_svc_row_value(res, 0, "sub");
    token->scope = ngx_svc_row_value(res, 0, "scope");
    token->exp = ngx_svc_row_value(res, 0, "exp");

    if (o->token.kind == NGX_SVC_OAUTH_BEARER_REFRESH) {
        return NGX_OK;
    }

    token->access = 1;
    token->iat = ngx_svc_row_value(res, 0, "iat");
    token->jti = ngx_svc_row_value(res, 0, "jti");
    token->chain = ngx_svc_row_value(res, 0, "chain");

    slug = ngx_svc_row_value(res, 0, "slug");
    token->iss = ngx_svc_oauth_issuer(o->sr, &slug);

    token->aud = ngx_svc_row_value(res, 0, "audience");

    if (token->aud.data == NULL) {
        token->aud = token->iss;
    }

    return token->iss.data ? ngx_svc_oauth_introspect_jkt(o, res, &token->jkt)
                           : NGX_ERROR;
}


static ngx_int_t
ngx_svc_oauth_introspect_jkt(ngx_svc_oauth_t *o, PGresult *res,
    ngx_str_t *jkt)
{
    ngx_str_t  text;

    text = ngx_svc_row_value(res, 0, "jkt");

    if (text.data == NULL) {
        return NGX_OK;
    }

    jkt->len = NGX_SVC_SHA256_LEN;
    jkt->data = ngx_pnalloc(o->sr->request->pool, NGX_SVC_SHA256_LEN);

    return jkt->data
           && ngx_svc_hex_bytea(&text, jkt->data, &jkt->len) == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


/* NULL: it is not active. */

static ngx_int_t
ngx_svc_oauth_introspect_send(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_introspected_t *token)
{
    ngx_svc_json_writer_t  w;

    static ngx_str_t       no_store = ngx_string("no-store");

    if (ngx_svc_json_writer_init(&w, o->sr->request->pool, 512) != NGX_OK
        || ngx_svc_add_header(o->sr->request, "Cache-Control", &no_store)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_metric_add(token ? NGX_SVC_M_INTROSPECT_ACTIVE
                             : NGX_SVC_M_INTROSPECT_DEAD, 1);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_boolean(&w, "active", token != NULL);

    if (token) {
        ngx_svc_oauth_introspect_text(&w, "sub", &token->sub);
        ngx_svc_oauth_introspect_text(&w, "client_id", &token->client_id);
        ngx_svc_oauth_introspect_text(&w, "scope", &token->scope);
        ngx_svc_json_raw(&w, "exp", token->exp.data, token->exp.len);
    }

    if (token && token->access) {
        ngx_svc_oauth_introspect_text(&w, "iss", &token->iss);
        ngx_svc_oauth_introspect_text(&w, "aud", &token->aud);
        ngx_svc_json_raw(&w, "iat", token->iat.data, token->iat.len);
        ngx_svc_oauth_introspect_text(&w, "jti", &token->jti);
        ngx_svc_oauth_issue_act(&w, &token->chain);
        ngx_svc_oauth_issue_bound(&w, &token->jkt);
    }

    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(o->sr, NGX_HTTP_OK, &w, NULL);
}


static void
ngx_svc_oauth_introspect_text(ngx_svc_json_writer_t *w, const char *key,
    const ngx_str_t *value)
{
    ngx_svc_json_string(w, key, value->data, value->len);
}
