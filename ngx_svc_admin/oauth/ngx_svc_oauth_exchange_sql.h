/*
 * SQL: a token exchange: a read that is decided on, and the write that follows
 * where what was read still holds.
 */

#ifndef _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_
#define _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_


#include "ngx_svc_oauth_bind.h"
#include "ngx_svc_oauth_exchange.h"
#include "ngx_svc_oauth_lives_row.h"


/* --- the read --- */

/* Its columns, behind those of a token and its clients. */

typedef enum {
    NGX_SVC_OAUTH_EXCHANGE_GRANTS = NGX_SVC_OAUTH_LIVES_MORE,
    NGX_SVC_OAUTH_EXCHANGE_FORMAT,
    NGX_SVC_OAUTH_EXCHANGE_DPOP,
    NGX_SVC_OAUTH_EXCHANGE_ACTIVE_KID,
    NGX_SVC_OAUTH_EXCHANGE_ALLOWED,
    NGX_SVC_OAUTH_EXCHANGE_NAME,
    NGX_SVC_OAUTH_EXCHANGE_TTL_LEFT,
    NGX_SVC_OAUTH_EXCHANGE_DEPTH,
    NGX_SVC_OAUTH_EXCHANGE_CONSENTS,
    NGX_SVC_OAUTH_EXCHANGE_VERSION,
    NGX_SVC_OAUTH_EXCHANGE_PLACE,
    NGX_SVC_OAUTH_EXCHANGE_GRANT_ID,
    NGX_SVC_OAUTH_EXCHANGE_PARENT,
    NGX_SVC_OAUTH_EXCHANGE_ROOT,
    NGX_SVC_OAUTH_EXCHANGE_AUTH_TIME,
    NGX_SVC_OAUTH_EXCHANGE_CONSENT,
    NGX_SVC_OAUTH_EXCHANGE_ASSIGNED,
    NGX_SVC_OAUTH_EXCHANGE_TARGET_KEY,
    NGX_SVC_OAUTH_EXCHANGE_TARGET_URI,
    NGX_SVC_OAUTH_EXCHANGE_TARGET_ENABLED
} ngx_svc_oauth_exchange_column_e;


/*
 * The rows of NGX_SVC_OAUTH_LIVES_JWT(), with more of each client "a", of the
 * token "x", and of its grant "r"; "c": what the user has consented to, of who
 * asks.  orphan, owner: of an agent, whether its owner is looked at; key_columns,
 * key: of a JWT; columns: whether the user may use the client, and the target;
 * from: more to join.
 *
 * A row's xmin is of its version, and its ctid is where that is: what has
 * another one has been changed.
 */

#define NGX_SVC_OAUTH_EXCHANGE_READ(orphan, owner, key_columns, key, columns, \
    from)                                                                     \
    "SELECT " NGX_SVC_OAUTH_LIVES_COLUMNS(orphan) key_columns                 \
        ", a.grant_types,"                                                    \
        " a.access_token_format, a.require_dpop, a.active_kid,"               \
        " a.allowed_audiences, a.name, " NGX_SVC_OAUTH_TTL_LEFT("a") ","      \
        " (SELECT k.max_delegation_depth FROM svc.oauth_tenant k"             \
            " WHERE k.tenant_id = " NGX_SVC_TENANT "),"                       \
        " a.require_consent, a.xmin, a.ctid, x.grant_id,"                     \
        " x.jti, coalesce(x.root_jti, x.jti),"                                \
        " floor(date_part('epoch', r.auth_time))::bigint, c.allowed, " columns\
    NGX_SVC_OAUTH_LIVES_FROM(NGX_SVC_OAUTH_LIVES_TOKEN(""),                   \
        NGX_SVC_OAUTH_LIVES_USER,                                             \
        NGX_SVC_OAUTH_LIVES_SESSION ", k.auth_time",                          \
        NGX_SVC_OAUTH_LIVES_CLIENT(owner ", k.grant_types,"                   \
            " k.access_token_format, k.require_dpop, k.active_kid,"           \
            " k.allowed_audiences, k.name, k.xmin, k.ctid"),                  \
        key)                                                                  \
    " LEFT JOIN LATERAL (SELECT k.allowed FROM svc.oauth_consent k"           \
        " WHERE a.client_id = $1::text AND a.require_consent"                 \
            " AND k.tenant_id = " NGX_SVC_TENANT                              \
            " AND (k.user_id, k.client_id) BETWEEN"                           \
                " (x.user_id, $1::text) AND (x.user_id, $1::text)"            \
        " ORDER BY k.user_id, k.client_id LIMIT 1) c ON true" from

#define NGX_SVC_OAUTH_EXCHANGE_LEAN                                           \
    "a.assignment = 'everyone', NULL, NULL, NULL"

/*
 * Of a user in groups, and for a target, "d": the key that is asked for, $7, or
 * of the application $8, or the only one that the client may have; and which
 * application has registered it.
 */

#define NGX_SVC_OAUTH_EXCHANGE_WIDER                                          \
    "CASE WHEN a.client_id = $1::text AND x.user_id IS NOT NULL"              \
        " THEN " NGX_SVC_OAUTH_ASSIGNED("x.user_id") " END,"                  \
    " d.key, d.uri, d.enabled"

#define NGX_SVC_OAUTH_EXCHANGE_TARGET                                         \
    " LEFT JOIN LATERAL (SELECT n.key, r.uri, r.enabled"                      \
        " FROM (SELECT CASE WHEN $8::text IS NULL"                            \
                " THEN " NGX_SVC_OAUTH_AUDIENCE_KEY("a", "$7::text")          \
                " ELSE (" NGX_SVC_OAUTH_APPLICATION("k.resource_key",         \
                                                    "$8::text") ")"           \
                " END AS key WHERE a.client_id = $1::text OFFSET 0) n"        \
        " LEFT JOIN LATERAL (SELECT k.resource_uri AS uri, k.enabled"         \
            " FROM svc.application k WHERE k.tenant_id = " NGX_SVC_TENANT     \
                " AND k.resource_key BETWEEN n.key AND n.key"                 \
            " ORDER BY k.resource_key LIMIT 1) r ON true) d ON true"


/* --- the write --- */

/*
 * A condition: of the clients that the token is to live by, $23, each version
 * is where it was read; its user is active, whose tokens of that time have not
 * been ended; and neither its parent, nor its root, nor its grant is revoked.
 * What is committed in this moment ends the token, too: who is asked about it
 * looks at all that.
 */

#define NGX_SVC_OAUTH_EXCHANGE_HOLDS                                          \
    "(SELECT count(*) FROM svc.application k"                                 \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.ctid = ANY ($24::text::tid[])"                            \
            " AND k.client_id = ANY ($23::text::text[])"                      \
            " AND k.xmin = ANY ($25::text::xid[]))"                           \
        " = cardinality($23::text::text[])"                                   \
    " AND ($4::uuid IS NULL OR ("                                             \
        NGX_SVC_ROW("k.status = 'active' AND "                                \
                    NGX_SVC_OAUTH_ISSUED_AT("$1::bigint")                     \
                    " >= coalesce(k.valid_after, '-infinity')",               \
                    "svc.user_account", "$4::uuid") "))"                      \
    " AND NOT EXISTS (SELECT FROM svc.oauth_revoked k"                        \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.jti = ANY (ARRAY[$6::uuid, $7::uuid]))"                   \
    " AND ($5::uuid IS NULL OR ("                                             \
        NGX_SVC_ROW("k.revoked_at IS NULL", "svc.oauth_grant", "$5::uuid")    \
        "))"

/* The token "i", and who acts for whom in the journal. */

#define NGX_SVC_OAUTH_EXCHANGE_GIVE                                           \
    "WITH i AS ("                                                             \
        NGX_SVC_OAUTH_INSERT_INTO                                             \
        " SELECT " NGX_SVC_TENANT_OR_NULL ", $2::uuid, "                      \
            NGX_SVC_OAUTH_ISSUED_AT("$1::bigint") ", $3::text, $4::uuid,"     \
            " $5::uuid, $6::uuid, $7::uuid, string_to_array($8::text, ' '),"  \
            " string_to_array($9::text, ' '), '" NGX_SVC_OAUTH_EXCHANGE "',"  \
            " string_to_array($10::text, ' '), $11::text, $12::text,"         \
            " $13::bytea, $14::text, $15::bytea, $16::integer,"               \
            " $17::text::inet, $18::text"                                     \
        " WHERE " NGX_SVC_OAUTH_EXCHANGE_HOLDS                                \
        " RETURNING issued_at, chain, scopes"                                 \
    ")"                                                                       \
    " " NGX_SVC_OAUTH_DELEGATION_INTO                                         \
    " SELECT $2::uuid, i.issued_at, $3::text, $19::text, "                    \
        NGX_SVC_OAUTH_SUBJECT_TYPE("$4::uuid", "$20::text") ", $20::text,"    \
        " i.chain, '" NGX_SVC_OAUTH_EXCHANGE "', $21::text, i.scopes,"        \
        " 'granted', $2::uuid, $7::uuid, $6::uuid,"                           \
        " i.issued_at + make_interval(secs => $16::integer),"                 \
        " $15::bytea IS NOT NULL, $17::text, $18::text, $22::text FROM i"

#define ngx_svc_oauth_exchange_as(type, field)                                \
    ngx_svc_oauth_bind_as(type, ngx_svc_oauth_exchange_t, field)

#define NGX_SVC_OAUTH_EXCHANGE_GIVE_PARAMS                                    \
    ngx_svc_oauth_exchange_as(int8, ms),                                      \
    ngx_svc_oauth_exchange_as(uuid, token.jti),                               \
    ngx_svc_oauth_param(client.id),                                           \
    ngx_svc_oauth_exchange_as(uuid, user_id),                                 \
    ngx_svc_oauth_exchange_as(uuid, grant_id),                                \
    ngx_svc_oauth_exchange_as(uuid, root_jti),                                \
    ngx_svc_oauth_exchange_as(uuid, parent_jti),                              \
    ngx_svc_oauth_exchange_param(token.chain),                                \
    ngx_svc_oauth_exchange_param(principals_text),                            \
    ngx_svc_oauth_exchange_param(token.scope),                                \
    ngx_svc_oauth_exchange_param(token.audience),                             \
    ngx_svc_oauth_exchange_param(key),                                        \
    ngx_svc_oauth_exchange_param(secret_hash),                                \
    ngx_svc_oauth_exchange_param(token.kid),                                  \
    ngx_svc_oauth_param(jkt),                                                 \
    ngx_svc_oauth_exchange_as(int4, ttl_text),                                \
    ngx_svc_oauth_param(ip),                                                  \
    ngx_svc_oauth_param(country),                                             \
    ngx_svc_oauth_exchange_param(name),                                       \
    ngx_svc_oauth_exchange_param(token.subject),                              \
    ngx_svc_oauth_exchange_param(target),                                     \
    ngx_svc_oauth_param(request_id),                                          \
    ngx_svc_oauth_exchange_param(clients),                                    \
    ngx_svc_oauth_exchange_param(places),                                     \
    ngx_svc_oauth_exchange_param(versions)


#endif /* _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_ */
