/*
 * The grant type token-exchange (RFC 8693): a client acts for the subject of a
 * token that was issued to it, or for its resource.  Whoever acts is in the
 * token, and each exchange in the journal.
 */

#include "ngx_svc_oauth_delegation.h"
#include "ngx_svc_oauth_exchange_sql.h"
#include "ngx_svc_oauth_kept.h"
#include "ngx_svc_oauth_refusal.h"
#include "ngx_svc_oauth_shown.h"
#include "ngx_svc_oauth_token.h"


#define NGX_SVC_OAUTH_EXCHANGE                                                \
    "urn:ietf:params:oauth:grant-type:token-exchange"
#define NGX_SVC_OAUTH_ACCESS_TOKEN                                            \
    "urn:ietf:params:oauth:token-type:access_token"
#define NGX_SVC_OAUTH_JWT                                                     \
    "urn:ietf:params:oauth:token-type:jwt"


/* In o->data; the subject's token is o->token. */

typedef struct {
    ngx_str_t                issuer;    /* of the subject's JWT: its slug */
    ngx_str_t                audience;  /* a clientId */
    ngx_svc_oauth_bearer_t   actor;
    ngx_svc_oauth_refused_t  refused;
} ngx_svc_oauth_exchange_t;


static ngx_int_t ngx_svc_oauth_exchange_check(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_subject(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_actor(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_requested(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_type(ngx_svc_oauth_t *o,
    const char *name, const ngx_str_t *type);
static ngx_int_t ngx_svc_oauth_exchange_target(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_read(ngx_svc_oauth_t *o,
    const ngx_str_t *text, ngx_svc_oauth_bearer_t *bearer);
static ngx_int_t ngx_svc_oauth_exchange_issuer(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_rows(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_refuse(ngx_svc_oauth_t *o,
    PGresult *res);
static ngx_int_t ngx_svc_oauth_exchange_verify(ngx_svc_oauth_t *o,
    ngx_svc_oauth_bearer_t *bearer, PGresult *res, const char *column);
static ngx_int_t ngx_svc_oauth_exchange_journal(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_exchange_more(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_json_writer_t *w);


#define ngx_svc_oauth_exchange_param(field)                                   \
    ngx_svc_oauth_data_param(ngx_svc_oauth_exchange_t, field)


/* SQL: of what the subject has, what the client may have of it. */

#define NGX_SVC_OAUTH_EXCHANGE_SCOPES                                         \
    "ARRAY(SELECT s FROM unnest(l.now_scopes) s WHERE s = ANY (a.scopes)"     \
        " AND s <> ALL (" NGX_SVC_OAUTH_USER_SCOPES "))"

/* A case: one of the asked scopes is not in these, or none of them is left. */

#define NGX_SVC_OAUTH_EXCHANGE_BEYOND(verdict, scopes)                        \
    " WHEN NOT $3::text::text[] <@ " scopes " OR " scopes " = '{}'"           \
            " OR $3::text::text[] = '{}'"                                     \
        " THEN '" verdict " ' || coalesce((SELECT s"                          \
            " FROM unnest($3::text::text[]) s WHERE s <> ALL (" scopes ")"    \
            " LIMIT 1), '')"

/* The subject's token "j", what lives of it "l", and who may act for it. */

#define NGX_SVC_OAUTH_EXCHANGE_OTHER                                          \
    "j.jti IS NULL AND ($18::uuid <> t.id OR $19::text <> t.slug)"

#define NGX_SVC_OAUTH_EXCHANGE_ENDED                                          \
    "j.jti IS NULL OR j.revoked_at IS NOT NULL"                               \
        " OR j.issued_at + make_interval(secs => j.ttl) <= now()"

#define NGX_SVC_OAUTH_EXCHANGE_ACTOR                                          \
    " WHEN NOT EXISTS (SELECT FROM " NGX_SVC_OAUTH_LIVE(                      \
            NGX_SVC_OAUTH_SHOWN("$24", "$25", "$26", "$27", "$28", "$29"),    \
            "$11")                                                            \
        " z WHERE z.user_id IS NULL AND z.chain IS NULL"                      \
            " AND z.client_id = a.client_id) THEN 'actor'"

/* Whoever is not active has no token that lives. */

#define NGX_SVC_OAUTH_EXCHANGE_INACTIVE                                       \
    "l.jti IS NULL AND ("                                                     \
        NGX_SVC_ROW("k.status", "svc.user_account", "j.user_id")              \
        ") <> 'active'"

#define NGX_SVC_OAUTH_EXCHANGE_FOR_IT                                         \
    "(j.client_id = a.client_id OR j.audience_key = a.resource_key)"          \
        " AND c.client IS DISTINCT FROM a.client_id"

/* actor: a case, or "". */

#define NGX_SVC_OAUTH_EXCHANGE_VERDICT(actor)                                 \
    "CASE" NGX_SVC_OAUTH_VERDICT_CLIENT("$2::bool")                           \
    NGX_SVC_OAUTH_VERDICT_STATE("s.state")                                    \
    NGX_SVC_OAUTH_VERDICT_GRANT("'" NGX_SVC_OAUTH_EXCHANGE "'")               \
    NGX_SVC_OAUTH_VERDICT_PROOF("$8")                                         \
    " WHEN q.public IS NOT NULL OR q.actor_public IS NOT NULL THEN 'verify'"  \
    " WHEN " NGX_SVC_OAUTH_EXCHANGE_OTHER " THEN 'other_tenant'"              \
    " WHEN " NGX_SVC_OAUTH_EXCHANGE_ENDED " THEN 'subject'"                   \
    " WHEN " NGX_SVC_OAUTH_EXCHANGE_INACTIVE " THEN 'subject_inactive'"       \
    " WHEN l.jti IS NULL OR e.ttl < 1 THEN 'subject'"                         \
    actor                                                                     \
    " WHEN (" NGX_SVC_OAUTH_EXCHANGE_FOR_IT ") IS NOT TRUE"                   \
        " THEN 'subject_actor'"                                               \
    " WHEN " NGX_SVC_OAUTH_CHAIN_CYCLE("j") " THEN 'chain_cycle'"             \
    " WHEN cardinality(c.chain) > g.max_delegation_depth THEN 'chain_long'"   \
    " WHEN j.user_id IS NOT NULL"                                             \
        " AND NOT " NGX_SVC_OAUTH_ASSIGNED("j.user_id") " THEN 'group'"       \
    NGX_SVC_OAUTH_VERDICT_FAULT("$23", NGX_SVC_OAUTH_FAULT_TARGET)            \
    " WHEN NOT d.known THEN 'target'"                                         \
    " WHEN p.audience_denied OR " NGX_SVC_OAUTH_AUDIENCE_DENIED("a", "d.key") \
        " THEN 'audience'"                                                    \
    NGX_SVC_OAUTH_VERDICT_FAULT("$23", NGX_SVC_OAUTH_FAULT_SCOPE)             \
    NGX_SVC_OAUTH_EXCHANGE_BEYOND("scope_subject", "o.scopes")                \
    NGX_SVC_OAUTH_EXCHANGE_BEYOND("scope_ceiling", "b.scopes")                \
    NGX_SVC_OAUTH_EXCHANGE_BEYOND("consent", "w.scopes")                      \
    " WHEN octet_length(array_to_string("                                     \
            "coalesce($3::text::text[], w.scopes), ' ')) > $12"               \
        " THEN 'scope_long'"                                                  \
    " WHEN a.access_token_format = 'jwt' AND y.kid IS NULL THEN 'key' END"

/*
 * What is joined to the client: one row each.  OFFSET 0 has a value computed
 * once, where the planner would write it out wherever it is used, and makes it
 * one that an index can be searched for.  actor_key: a value.
 */

#define NGX_SVC_OAUTH_EXCHANGE_FROM(actor_key)                                \
    NGX_SVC_OAUTH_CLIENT("$1") NGX_SVC_OAUTH_KEY                              \
    " CROSS JOIN (SELECT " NGX_SVC_OAUTH_MS " AS ms) m"                       \
    " CROSS JOIN LATERAL (SELECT " NGX_SVC_OAUTH_STATE("a", "g")              \
        " AS state OFFSET 0) s"                                               \
    " CROSS JOIN (SELECT "                                                    \
        NGX_SVC_OAUTH_SHOWN_KEY("$15", "$17") " AS public, "                  \
        actor_key " AS actor_public OFFSET 0) q"                              \
    " LEFT JOIN LATERAL ("                                                    \
        NGX_SVC_OAUTH_SHOWN("$13", "$14", "$15", "$16", "$17", "$18")         \
        ") j ON true"                                                         \
    " LEFT JOIN LATERAL "                                                     \
        NGX_SVC_OAUTH_LIVE("SELECT j.*", "$11") " l ON true"                  \
    " CROSS JOIN LATERAL (SELECT n.client, n.chain,"                          \
            " n.chain || ARRAY(SELECT b FROM unnest(j.principals) b"          \
                " WHERE b <> ALL (n.chain)) AS principals"                    \
        " FROM (SELECT " NGX_SVC_OAUTH_SUBJECT_CLIENT("j") " AS client, "     \
            NGX_SVC_OAUTH_EXCHANGED_CHAIN("j") " AS chain) n OFFSET 0) c"     \
    " CROSS JOIN LATERAL ("                                                   \
        NGX_SVC_OAUTH_TARGET("$4", "$5", "$20", "$11") ") d"                  \
    " CROSS JOIN LATERAL (SELECT " NGX_SVC_OAUTH_EXCHANGE_SCOPES              \
        " AS scopes OFFSET 0) o"                                              \
    " CROSS JOIN LATERAL ("                                                   \
        NGX_SVC_OAUTH_CEILINGS("o.scopes", "coalesce(d.key, $11 || t.slug)")  \
        ") p"                                                                 \
    " CROSS JOIN LATERAL (SELECT least(a.access_token_ttl, p.ttl,"            \
            " " NGX_SVC_OAUTH_TTL_LEFT("p") ","                               \
            " floor(date_part('epoch', l.ends - "                             \
                NGX_SVC_OAUTH_ISSUED_AT("m.ms") "))::integer) AS ttl"         \
        " OFFSET 0) e"                                                        \
    " CROSS JOIN LATERAL (SELECT ARRAY(SELECT s FROM unnest(o.scopes) s"      \
        " WHERE s <> ALL (coalesce(p.denied, '{}'))) AS scopes OFFSET 0) b"   \
    " LEFT JOIN LATERAL (" NGX_SVC_OAUTH_CONSENT("j.user_id", "") ") r"       \
        " ON a.require_consent"                                               \
    " CROSS JOIN LATERAL (SELECT ARRAY(SELECT s FROM unnest(b.scopes) s"      \
        " WHERE j.user_id IS NULL OR NOT a.require_consent"                   \
            " OR coalesce(nullif(d.key, $11 || t.slug), '') || ' ' || s"      \
                " = ANY (r.allowed)) AS scopes OFFSET 0) w"

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_exchange_lock = {
    .name = "oauth_exchange_lock",
    .text =
        "SELECT FROM ("
            NGX_SVC_OAUTH_SHOWN("$1", "$2", "$3", "$4", "$5", "$6") ") p"
        " CROSS JOIN LATERAL ("
            NGX_SVC_OAUTH_ROOT("p", "FOR SHARE") ") r"
        " CROSS JOIN LATERAL (SELECT FROM ("
            NGX_SVC_OAUTH_HELD("p.jti", "p.issued_at", "FOR SHARE") ") k"
            " WHERE r.jti IS NOT NULL) s",
    NGX_SVC_PARAMS(ngx_svc_oauth_param(token.jti),
                   ngx_svc_oauth_param(token.ms),
                   ngx_svc_oauth_param(token.kid),
                   ngx_svc_oauth_param(token.secret_hash),
                   ngx_svc_oauth_param(token.unverified),
                   ngx_svc_oauth_param(token.tenant))
};

#define NGX_SVC_OAUTH_EXCHANGE_TEXT(actor, actor_key)                         \
    "WITH v AS ("                                                             \
        "SELECT " NGX_SVC_OAUTH_EXCHANGE_VERDICT(actor) " AS verdict,"        \
            " t.id AS tenant_id, t.slug, a.access_token_format AS format,"    \
            " m.ms, "                                                         \
            NGX_SVC_OAUTH_JTI_OF("m.ms", "$6::text") " AS jti,"               \
            " a.client_id, a.name AS client_name, j.user_id,"                 \
            " coalesce(c.client, j.user_id::text) AS subject,"                \
            " j.grant_id, coalesce(j.root_jti, j.jti) AS root_jti,"           \
            " j.jti AS parent_jti, c.chain, c.principals,"                    \
            " coalesce($3::text::text[], w.scopes) AS scopes,"                \
            " " NGX_SVC_OAUTH_AUDIENCE_COLUMNS("d.uri", "d.key", "$11") ","   \
            " y.kid, y.sealed, a.allowed_scopes, a.allowed_audiences,"        \
            " e.ttl, floor(date_part('epoch', l.auth_time))::bigint"          \
                " AS auth_time, q.public, q.actor_public"                     \
        " FROM " NGX_SVC_OAUTH_EXCHANGE_FROM(actor_key)                       \
    "), i AS ("                                                               \
        NGX_SVC_OAUTH_INSERT("'" NGX_SVC_OAUTH_EXCHANGE "'",                  \
            "CASE v.format WHEN 'opaque' THEN $7::bytea END", "$8", "$9",     \
            "$10")                                                            \
    "), n AS ("                                                               \
        NGX_SVC_OAUTH_DELEGATION("'" NGX_SVC_OAUTH_EXCHANGE "'", "$21",       \
                                 "$8", "$9", "$10", "$22",                    \
                             "$11::text || v.slug")                           \
    ")"                                                                       \
    " SELECT " NGX_SVC_OAUTH_ROW("v.auth_time") ", v.parent_jti,"             \
        " v.root_jti, v.public, v.actor_public FROM v"

#define NGX_SVC_OAUTH_EXCHANGE_PARAMS                                         \
    NGX_SVC_OAUTH_ISSUE_PARAMS,                                               \
    ngx_svc_oauth_param(token.jti),                                           \
    ngx_svc_oauth_param(token.ms),                                            \
    ngx_svc_oauth_param(token.kid),                                           \
    ngx_svc_oauth_param(token.secret_hash),                                   \
    ngx_svc_oauth_param(token.unverified),                                    \
    ngx_svc_oauth_param(token.tenant),                                        \
    ngx_svc_oauth_exchange_param(issuer),                                     \
    ngx_svc_oauth_exchange_param(audience),                                   \
    ngx_svc_param_new_id(),                                                   \
    ngx_svc_oauth_param(request_id),                                          \
    ngx_svc_oauth_param(fault)

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_exchange = {
    .name = "oauth_exchange",
    .text = NGX_SVC_OAUTH_EXCHANGE_TEXT("", "NULL::json"),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_EXCHANGE_PARAMS)
};

/* Most have no actor_token: what looks at it costs, even if it is not run. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_exchange_actor = {
    .name = "oauth_exchange_actor",
    .text = NGX_SVC_OAUTH_EXCHANGE_TEXT(NGX_SVC_OAUTH_EXCHANGE_ACTOR,
                NGX_SVC_OAUTH_SHOWN_KEY("$26", "$28")),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_EXCHANGE_PARAMS,
                   ngx_svc_oauth_exchange_param(actor.jti),
                   ngx_svc_oauth_exchange_param(actor.ms),
                   ngx_svc_oauth_exchange_param(actor.kid),
                   ngx_svc_oauth_exchange_param(actor.secret_hash),
                   ngx_svc_oauth_exchange_param(actor.unverified),
                   ngx_svc_oauth_exchange_param(actor.tenant))
};


const ngx_svc_oauth_grant_t  ngx_svc_oauth_exchange = {
    .name = ngx_string(NGX_SVC_OAUTH_EXCHANGE),
    .metric = NGX_SVC_M_TOKEN_EXCHANGE,
    .login = NGX_SVC_OAUTH_LOGIN_SYNC,
    .check = ngx_svc_oauth_exchange_check,
    .rows = ngx_svc_oauth_exchange_rows,
    .lock = &ngx_svc_sql_oauth_exchange_lock,
    .statement = &ngx_svc_sql_oauth_exchange,
    .wider = &ngx_svc_sql_oauth_exchange_actor,
    .refuse = ngx_svc_oauth_exchange_refuse,
    .journal = ngx_svc_oauth_exchange_journal,
    .more = ngx_svc_oauth_exchange_more
};


/* Of a token that is none nothing is said before the client is known. */

static ngx_int_t
ngx_svc_oauth_exchange_check(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;

    o->data = ngx_pcalloc(o->sr->request->pool,
                          sizeof(ngx_svc_oauth_exchange_t));
    if (o->data == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_exchange_requested(o);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_exchange_subject(o);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_exchange_actor(o);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_exchange_target(o));
    }

    return rc == NGX_OK ? ngx_svc_oauth_later(o, ngx_svc_oauth_scope(o)) : rc;
}


static ngx_int_t
ngx_svc_oauth_exchange_requested(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;
    ngx_str_t  type;

    rc = ngx_svc_oauth_value(o, "requested_token_type", &type);

    if (rc != NGX_OK || type.data == NULL
        || (type.len == sizeof(NGX_SVC_OAUTH_ACCESS_TOKEN) - 1
            && ngx_memcmp(type.data, NGX_SVC_OAUTH_ACCESS_TOKEN, type.len)
               == 0))
    {
        return rc;
    }

    return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                        "'requested_token_type' is not '"
                        NGX_SVC_OAUTH_ACCESS_TOKEN "'.");
}


static ngx_int_t
ngx_svc_oauth_exchange_subject(ngx_svc_oauth_t *o)
{
    ngx_int_t  rc;
    ngx_str_t  text, type;

    rc = ngx_svc_oauth_needed(o, "subject_token", &text);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_needed(o, "subject_token_type", &type);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_exchange_type(o, "subject_token_type", &type);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_exchange_read(o, &text, &o->token);
    }

    return rc == NGX_OK ? ngx_svc_oauth_exchange_issuer(o) : rc;
}


static ngx_int_t
ngx_svc_oauth_exchange_actor(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_str_t                  text, type;
    ngx_svc_oauth_exchange_t  *ex;

    static const ngx_str_t  no = { 1, (u_char *) "\0" };

    ex = o->data;

    ex->actor.unverified = no;

    rc = ngx_svc_oauth_value(o, "actor_token", &text);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_value(o, "actor_token_type", &type);
    }

    if (rc != NGX_OK || (text.data == NULL && type.data == NULL)) {
        return rc;
    }

    if (text.data == NULL || type.data == NULL) {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "'actor_token' and 'actor_token_type' come "
                            "together.");
    }

    o->wider = 1;

    rc = ngx_svc_oauth_exchange_type(o, "actor_token_type", &type);

    return rc == NGX_OK ? ngx_svc_oauth_exchange_read(o, &text, &ex->actor)
                        : rc;
}


static ngx_int_t
ngx_svc_oauth_exchange_type(ngx_svc_oauth_t *o, const char *name,
    const ngx_str_t *type)
{
    ngx_uint_t  i;

    static const ngx_str_t  types[] = {
        ngx_string(NGX_SVC_OAUTH_ACCESS_TOKEN),
        ngx_string(NGX_SVC_OAUTH_JWT)
    };

    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (type->len == types[i].len
            && ngx_memcmp(type->data, types[i].data, type->len) == 0)
        {
            return NGX_OK;
        }
    }

    return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                        "'%s' is neither '%V' nor '%V'.", name, &types[0],
                        &types[1]);
}


/* "audience" is a URI as well, or the clientId of an application with one. */

static ngx_int_t
ngx_svc_oauth_exchange_target(ngx_svc_oauth_t *o)
{
    ngx_str_t                  audience, more;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (ngx_svc_form_nth(&o->form, "audience", 0, &audience) != NGX_OK) {
        return ngx_svc_oauth_resource(o);
    }

    if (ngx_svc_form_nth(&o->form, "audience", 1, &more) == NGX_OK
        || ngx_svc_form_nth(&o->form, "resource", 0, &more) == NGX_OK)
    {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_TARGET,
                            "A token is for one 'resource' or 'audience'.");
    }

    if (!ngx_svc_application_id(&audience)) {
        return ngx_svc_oauth_target(o, &audience);
    }

    ex->audience = audience;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_exchange_read(ngx_svc_oauth_t *o, const ngx_str_t *text,
    ngx_svc_oauth_bearer_t *bearer)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_bearer_read(o->sr, text, bearer);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_bearer_verify(bearer);
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_oauth_shown_forget(bearer);
    }

    return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/* Whose a JWT says it is, which decides nothing but how it is refused. */

static ngx_int_t
ngx_svc_oauth_exchange_issuer(ngx_svc_oauth_t *o)
{
    size_t                     len;
    const cJSON               *iss;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    if (o->token.jws == NULL) {
        return NGX_OK;
    }

    iss = cJSON_GetObjectItemCaseSensitive(o->token.jws->payload, "iss");

    if (!cJSON_IsString(iss)) {
        return NGX_OK;
    }

    len = ngx_strlen(iss->valuestring);

    if (len <= o->issuer.len
        || ngx_memcmp(iss->valuestring, o->issuer.data, o->issuer.len) != 0)
    {
        return NGX_OK;
    }

    return ngx_svc_oauth_bytes(o->sr, &ex->issuer,
                               (u_char *) iss->valuestring + o->issuer.len,
                               len - o->issuer.len);
}


/* In the order in which a batch of them is stored: nobody waits in a circle. */

static ngx_int_t
ngx_svc_oauth_exchange_rows(ngx_svc_oauth_t *o)
{
    ngx_int_t                  rc;
    ngx_svc_oauth_bearer_t    *first, *second;
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    first = &o->token;
    second = &ex->actor;

    if (first->own && second->own
        && ngx_memcmp(first->own->jti, second->own->jti, NGX_SVC_UUID_LEN) > 0)
    {
        first = &ex->actor;
        second = &o->token;
    }

    rc = ngx_svc_oauth_kept_call(o, first);

    return rc == NGX_OK ? ngx_svc_oauth_kept_call(o, second) : rc;
}


static ngx_int_t
ngx_svc_oauth_exchange_refuse(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_str_t                  verdict;
    ngx_svc_oauth_exchange_t  *ex;

    static const ngx_str_t  verify = ngx_string("verify");

    ex = o->data;

    verdict = ngx_svc_row_value(res, 0, "_verdict");

    if (verdict.len == verify.len
        && ngx_memcmp(verdict.data, verify.data, verify.len) == 0)
    {
        if (ngx_svc_oauth_exchange_verify(o, &o->token, res, "public")
            != NGX_OK
            || ngx_svc_oauth_exchange_verify(o, &ex->actor, res,
                                             "actor_public")
               != NGX_OK)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        return NGX_AGAIN;
    }

    ex->refused.audience = ex->audience.data ? ex->audience : o->resource;

    if (ngx_svc_oauth_delegation_take(o, &ex->refused, res) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_oauth_refuse(o, res);
}


/* The first JWT of a key that a worker sees; afterwards none is unverified. */

static ngx_int_t
ngx_svc_oauth_exchange_verify(ngx_svc_oauth_t *o,
    ngx_svc_oauth_bearer_t *bearer, PGresult *res, const char *column)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_shown_verify(o, bearer, res, column);

    if (rc == NGX_DECLINED) {
        ngx_svc_oauth_shown_forget(bearer);
        rc = NGX_OK;
    }

    return rc;
}


static ngx_int_t
ngx_svc_oauth_exchange_journal(ngx_svc_oauth_t *o)
{
    ngx_svc_oauth_exchange_t  *ex;

    ex = o->data;

    return ngx_svc_oauth_delegation_refused(o, &ex->refused);
}


/* RFC 8693, 2.2.1. */

static ngx_int_t
ngx_svc_oauth_exchange_more(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_json_writer_t *w)
{
    ngx_svc_json_plain(w, "issued_token_type",
                       (u_char *) NGX_SVC_OAUTH_ACCESS_TOKEN,
                       sizeof(NGX_SVC_OAUTH_ACCESS_TOKEN) - 1);

    return NGX_OK;
}
