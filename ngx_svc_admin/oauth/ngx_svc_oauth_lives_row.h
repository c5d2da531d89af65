/*
 * The rows by which is decided whether a token lives.
 */

#ifndef _NGX_SVC_OAUTH_LIVES_ROW_H_INCLUDED_
#define _NGX_SVC_OAUTH_LIVES_ROW_H_INCLUDED_


#include "ngx_svc_oauth.h"
#include "ngx_svc_oauth_lives.h"
#include "ngx_svc_oauth_sql.h"


/*
 * SQL: a row for each client, of who asks, $1, which may be NULL, and of those
 * that the token lives by; each has the token's columns, too.  There is one
 * row at least.  $2 and $3: the jti and its time; $4 and $5: what the token
 * must have, secret_hash and kid; $6: whether its signature is to be looked
 * at, which only the key's columns take.
 *
 * ANY starts and finds several clients for less than a join by unnest() does;
 * of a column, since the index is not searched for what is not leakproof, and
 * OFFSET 0 keeps either a scan of its own.
 */

#define NGX_SVC_OAUTH_LIVES_TOKEN(more)                                       \
    "SELECT k.jti, k.issued_at, k.user_id, k.client_id, k.grant_id,"          \
        " k.parent_jti, k.root_jti, k.chain, k.principals, k.scopes,"         \
        " k.audience, k.audience_key, k.jkt, k.ttl, k.revoked_at"             \
    " FROM svc.oauth_token k"                                                 \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.jti BETWEEN $2::uuid AND $2::uuid"                            \
        " AND k.issued_at = " NGX_SVC_OAUTH_ISSUED_AT("$3::text")             \
        " AND k.secret_hash IS NOT DISTINCT FROM $4::bytea"                   \
        " AND k.kid IS NOT DISTINCT FROM $5::text" more                       \
    " ORDER BY k.jti LIMIT 1"

#define NGX_SVC_OAUTH_LIVES_ROOT  "x.principals[cardinality(x.principals)]"

/* Of the last one its consent is the grant. */

#define NGX_SVC_OAUTH_LIVES_LETS                                              \
    "CASE WHEN x.user_id IS NOT NULL AND (a.assignment = 'groups'"            \
            " OR a.require_consent"                                           \
                " AND a.client_id <> " NGX_SVC_OAUTH_LIVES_ROOT ")"           \
            " AND a.client_id = ANY (x.principals)"                           \
        " THEN svc.oauth_user_lets(x.user_id, a.client_id,"                   \
            " a.assignment = 'groups', a.require_consent"                     \
                " AND a.client_id <> " NGX_SVC_OAUTH_LIVES_ROOT ","           \
            " CASE a.client_id WHEN x.client_id"                              \
                " THEN coalesce(x.audience_key, '') END, x.scopes) END"

#define NGX_SVC_OAUTH_LIVES_CLIENT(more)                                      \
    "SELECT k.client_id, k.auth_method, k.tenant_slug,"                       \
        " k.tenant_suspended_at, k.tenant_valid_after, k.enabled,"            \
        " k.expires_at, k.orphan_action, k.assignment, k.require_consent,"    \
        " k.resource_key, k.tokens_valid_after, k.access_token_ttl,"          \
        " k.max_token_ttl, k.scopes, k.allowed_scopes,"                       \
        " k.allowed_audience_keys" more                                       \
    " FROM svc.application k WHERE k.tenant_id = " NGX_SVC_TENANT             \
        " AND k.client_id = ANY (n.ids) OFFSET 0"

#define NGX_SVC_OAUTH_LIVES_COLUMNS(orphan)                                   \
    "x.jti, x.user_id, x.client_id, x.chain, x.principals, x.scopes,"         \
    " x.audience, x.audience_key, x.jkt, x.ttl,"                              \
    " x.revoked_at IS NOT NULL OR v.jti IS NOT NULL,"                         \
    " u.status, x.issued_at < u.valid_after,"                                 \
    " x.grant_id IS NULL"                                                     \
        " OR r.session_at >= coalesce(u.valid_after, '-infinity'), "          \
    NGX_SVC_OAUTH_MS ", "                                                     \
    NGX_SVC_OAUTH_LIVES_CLIENT_COLUMNS("x.issued_at", orphan)                 \
    ", " NGX_SVC_OAUTH_LIVES_LETS

/* Of the client "a": issued_at: of the token. */

#define NGX_SVC_OAUTH_LIVES_CLIENT_COLUMNS(issued_at, orphan)                 \
    "a.client_id, a.auth_method, a.tenant_slug,"                              \
    " a.tenant_suspended_at IS NOT NULL, a.enabled, a.expires_at <= now(), "  \
    issued_at " < greatest(a.tokens_valid_after, a.tenant_valid_after),"      \
    " " orphan ", a.resource_key, a.access_token_ttl, a.max_token_ttl,"       \
    " a.scopes, a.allowed_scopes, a.allowed_audience_keys"

#define NGX_SVC_OAUTH_LIVES_FROM(token, user, grant, client, key)             \
    " FROM (SELECT) o LEFT JOIN LATERAL (" token ") x ON true"                \
    " LEFT JOIN LATERAL (" NGX_SVC_ROW(user, "svc.user_account", "x.user_id") \
        ") u ON true"                                                         \
    " LEFT JOIN LATERAL (SELECT " grant " FROM svc.oauth_grant k"             \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.id BETWEEN x.grant_id AND x.grant_id"                     \
            " AND k.revoked_at IS NULL ORDER BY k.id LIMIT 1) r ON true"      \
    " LEFT JOIN LATERAL (SELECT k.jti FROM svc.oauth_revoked k"               \
        " WHERE k.tenant_id = " NGX_SVC_TENANT " AND k.jti"                   \
            " = ANY (ARRAY[x.jti, x.parent_jti, x.root_jti]) LIMIT 1) v"      \
        " ON true" key                                                        \
    " CROSS JOIN LATERAL (SELECT $1::text || x.principals AS ids OFFSET 0) n" \
    " LEFT JOIN LATERAL (" client ") a ON true"

/*
 * Three forms: of an opaque token; of a JWT; and of any when owners of agents
 * are to be looked at.  more: behind the token's conditions; user, grant: of
 * svc.user_account and svc.oauth_grant; columns: more of them, or "".
 */

#define NGX_SVC_OAUTH_LIVES_USER     "k.status, k.valid_after"
#define NGX_SVC_OAUTH_LIVES_SESSION  "k.session_at"

/* Of a client, what an owner is looked at for. */
#define NGX_SVC_OAUTH_LIVES_OWNER                                             \
    ", k.type, k.owner_id, k.owner_lost_at, k.orphan_grace_hours"

#define NGX_SVC_OAUTH_LIVES_OPAQUE(more, user, grant, columns)                \
    "SELECT " NGX_SVC_OAUTH_LIVES_COLUMNS("a.orphan_action") columns          \
    NGX_SVC_OAUTH_LIVES_FROM(NGX_SVC_OAUTH_LIVES_TOKEN(more), user,           \
                             grant,                                           \
                             NGX_SVC_OAUTH_LIVES_CLIENT(""), "")

#define NGX_SVC_OAUTH_LIVES_KEY_COLUMNS                                       \
    ", y.kid, CASE WHEN $6::bool THEN y.public END AS public"

#define NGX_SVC_OAUTH_LIVES_KEY                                               \
    " LEFT JOIN LATERAL (SELECT k.kid, k.public FROM svc.oauth_key k"         \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.kid BETWEEN $5::text AND $5::text"                        \
            " AND k.revoked_at IS NULL ORDER BY k.kid LIMIT 1) y ON true"

#define NGX_SVC_OAUTH_LIVES_JWT(more, user, grant, columns)                   \
    "SELECT " NGX_SVC_OAUTH_LIVES_COLUMNS("a.orphan_action")                  \
        NGX_SVC_OAUTH_LIVES_KEY_COLUMNS columns                               \
    NGX_SVC_OAUTH_LIVES_FROM(NGX_SVC_OAUTH_LIVES_TOKEN(more), user,           \
                             grant,                                           \
                             NGX_SVC_OAUTH_LIVES_CLIENT(""),                  \
                             NGX_SVC_OAUTH_LIVES_KEY)

#define NGX_SVC_OAUTH_LIVES_OWNERS(more, user, grant, columns)                \
    "SELECT " NGX_SVC_OAUTH_LIVES_COLUMNS(NGX_SVC_OAUTH_STATE("a", "a"))      \
        NGX_SVC_OAUTH_LIVES_KEY_COLUMNS columns                               \
    NGX_SVC_OAUTH_LIVES_FROM(NGX_SVC_OAUTH_LIVES_TOKEN(more), user,           \
        grant,                                                                \
        NGX_SVC_OAUTH_LIVES_CLIENT(NGX_SVC_OAUTH_LIVES_OWNER),                \
        NGX_SVC_OAUTH_LIVES_KEY)

/* The columns of all of them, in their order; _KID and on: not of _OPAQUE(). */

typedef enum {
    NGX_SVC_OAUTH_LIVES_JTI = 0,
    NGX_SVC_OAUTH_LIVES_USER_ID,
    NGX_SVC_OAUTH_LIVES_CLIENT_ID,
    NGX_SVC_OAUTH_LIVES_CHAIN,
    NGX_SVC_OAUTH_LIVES_PRINCIPALS,
    NGX_SVC_OAUTH_LIVES_SCOPES,
    NGX_SVC_OAUTH_LIVES_AUDIENCE,
    NGX_SVC_OAUTH_LIVES_AUDIENCE_KEY,
    NGX_SVC_OAUTH_LIVES_JKT,
    NGX_SVC_OAUTH_LIVES_TTL,
    NGX_SVC_OAUTH_LIVES_REVOKED,
    NGX_SVC_OAUTH_LIVES_USER_STATUS,
    NGX_SVC_OAUTH_LIVES_USER_STALE,
    NGX_SVC_OAUTH_LIVES_GRANT,
    NGX_SVC_OAUTH_LIVES_NOW,
    NGX_SVC_OAUTH_LIVES_A_ID,
    NGX_SVC_OAUTH_LIVES_A_METHOD,
    NGX_SVC_OAUTH_LIVES_A_SLUG,
    NGX_SVC_OAUTH_LIVES_A_SUSPENDED,
    NGX_SVC_OAUTH_LIVES_A_ENABLED,
    NGX_SVC_OAUTH_LIVES_A_EXPIRED,
    NGX_SVC_OAUTH_LIVES_A_STALE,
    NGX_SVC_OAUTH_LIVES_A_ORPHAN,
    NGX_SVC_OAUTH_LIVES_A_RESOURCE,
    NGX_SVC_OAUTH_LIVES_A_TTL,
    NGX_SVC_OAUTH_LIVES_A_MAX_TTL,
    NGX_SVC_OAUTH_LIVES_A_SCOPES,
    NGX_SVC_OAUTH_LIVES_A_ALLOWED_SCOPES,
    NGX_SVC_OAUTH_LIVES_A_ALLOWED_KEYS,
    NGX_SVC_OAUTH_LIVES_A_LETS,
    NGX_SVC_OAUTH_LIVES_KID,
    NGX_SVC_OAUTH_LIVES_PUBLIC,
    NGX_SVC_OAUTH_LIVES_MORE            /* of who reads more than that */
} ngx_svc_oauth_lives_column_e;


/* A row for each client, without so many of the columns in front of its own. */

typedef struct {
    PGresult  *res;
    int        shift;
} ngx_svc_oauth_lives_rows_t;


/* The parameters, of a request's token. */

#define NGX_SVC_OAUTH_LIVES_PARAMS                                            \
    ngx_svc_oauth_param(client.id),                                           \
    ngx_svc_oauth_param(token.jti),                                           \
    ngx_svc_oauth_param(token.ms),                                            \
    ngx_svc_oauth_param(token.secret_hash),                                   \
    ngx_svc_oauth_param(token.kid)

#define NGX_SVC_OAUTH_LIVES_KEY_PARAMS                                        \
    NGX_SVC_OAUTH_LIVES_PARAMS,                                               \
    ngx_svc_oauth_param(token.unverified)


/*
 * For a reply: of these rows of a token all that is decided on.  What is in it
 * lives as long as the result; its arrays are of the pool.  issuer: up to the
 * slug.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_lives_read(ngx_pool_t *pool, PGresult *res,
    const ngx_svc_oauth_bearer_t *token, const ngx_str_t *issuer,
    ngx_svc_oauth_lives_t *lives);

/* Of these the clients alone, and all else as if no token were found. */
ngx_int_t ngx_svc_oauth_lives_clients(ngx_pool_t *pool,
    const ngx_svc_oauth_lives_rows_t *rows, const ngx_str_t *issuer,
    ngx_svc_oauth_lives_t *lives);


#endif /* _NGX_SVC_OAUTH_LIVES_ROW_H_INCLUDED_ */
