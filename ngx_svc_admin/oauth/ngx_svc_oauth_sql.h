/*
 * SQL: a client, whether it may act, and what is stored of a token.
 */

#ifndef _NGX_SVC_OAUTH_SQL_H_INCLUDED_
#define _NGX_SVC_OAUTH_SQL_H_INCLUDED_


#include "ngx_svc_sql.h"


/* Of the transaction's tenant the application with this clientId, or none. */

#define NGX_SVC_OAUTH_APPLICATION(columns, client)                            \
    "SELECT " columns " FROM svc.application k"                               \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.client_id BETWEEN " client " AND " client                     \
    " ORDER BY k.client_id LIMIT 1"

/*
 * Its columns that NGX_SVC_OAUTH_STATE() looks at.  Each column of a sub-select
 * costs whenever a plan is begun, also one that is not used: who has no use for
 * all of them names them.
 */

#define NGX_SVC_OAUTH_STATE_COLUMNS                                           \
    "k.type, k.enabled, k.expires_at, k.owner_id, k.owner_lost_at"

/*
 * Behind FROM: the client "a", its tenant "t", and that one's settings "g".
 * No row: there is no tenant, since the client is not known.
 */

#define NGX_SVC_OAUTH_CLIENT(client)                                          \
    "(" NGX_SVC_OAUTH_APPLICATION(                                            \
            NGX_SVC_OAUTH_STATE_COLUMNS ", k.client_id, k.name,"              \
            " k.auth_method,"                                                 \
            " k.assignment, k.redirect_uris, k.scopes, k.grant_types,"        \
            " k.access_token_format, k.access_token_ttl, k.max_token_ttl,"    \
            " k.require_consent, k.require_dpop, k.resource_key,"             \
            " k.allowed_scopes, k.allowed_audiences,"                         \
            " k.allowed_audience_keys, k.tokens_valid_after", client) ") a"   \
    " JOIN svc.tenant t ON t.id = " NGX_SVC_TENANT                            \
    " JOIN svc.oauth_tenant g ON g.tenant_id = " NGX_SVC_TENANT

/* The key that signs, "y", of a client "a" whose tokens are JWTs. */

#define NGX_SVC_OAUTH_KEY                                                     \
    " LEFT JOIN svc.oauth_key y ON y.tenant_id = " NGX_SVC_TENANT             \
        " AND y.kid = g.active_kid AND y.revoked_at IS NULL"                  \
        " AND a.access_token_format = 'jwt'"

/*
 * Since when an agent "a" has no owner who is active; of one who is not,
 * valid_after is when that came to be, which user_inactive_since() keeps.
 */

#define NGX_SVC_OAUTH_ORPHAN_SINCE(a)                                         \
    "CASE WHEN " a ".owner_id IS NULL THEN " a ".owner_lost_at ELSE ("        \
        "SELECT coalesce(u.valid_after, '-infinity') FROM ("                  \
            NGX_SVC_ROW("k.status, k.valid_after", "svc.user_account",        \
                        a ".owner_id")                                        \
        ") u WHERE u.status <> 'active') END"

/* Why it may not act, in the order in which that is said; NULL: it may. */

#define NGX_SVC_OAUTH_STATE(a, g)                                             \
    "CASE WHEN NOT " a ".enabled THEN 'disabled'"                             \
    " WHEN " a ".expires_at <= now() THEN 'expired'"                          \
    " WHEN " g ".orphan_action = 'disable' AND " a ".type = 'agent'"          \
        " AND " NGX_SVC_OAUTH_ORPHAN_SINCE(a)                                 \
            " <= now() - make_interval(hours => " g ".orphan_grace_hours)"    \
        " THEN 'orphaned' END"

/*
 * Whether the user with that id may use "a": of those for groups.  A row is
 * compared as one, here and below: only its primary key has it in that order.
 */

#define NGX_SVC_OAUTH_ASSIGNED(user_id)                                       \
    "(a.assignment = 'everyone' OR EXISTS ("                                  \
        "SELECT FROM (SELECT k.group_id FROM svc.group_member k"              \
            " WHERE k.tenant_id = " NGX_SVC_TENANT                            \
                " AND k.user_id BETWEEN " user_id " AND " user_id             \
            " ORDER BY k.user_id OFFSET 0) n"                                 \
        " CROSS JOIN LATERAL (SELECT FROM svc.group_app k"                    \
            " WHERE k.tenant_id = " NGX_SVC_TENANT                            \
                " AND (k.client_id, k.group_id) BETWEEN"                      \
                    " (a.client_id, n.group_id) AND (a.client_id, n.group_id)"\
            " ORDER BY k.client_id, k.group_id LIMIT 1) m))"

/*
 * What a user has consented to, of "a": scopes at resources; or no row.  lock:
 * a clause, or "".
 */

#define NGX_SVC_OAUTH_CONSENT(user_id, lock)                                  \
    "SELECT k.allowed FROM svc.oauth_consent k"                               \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND (k.user_id, k.client_id) BETWEEN"                               \
            " (" user_id ", a.client_id) AND (" user_id ", a.client_id)"      \
    " ORDER BY k.user_id, k.client_id LIMIT 1" lock

/*
 * The same, as svc.oauth_consent has it: "<key> <scope>" for each scope at each
 * resource, and "<key> " for the resource itself; neither has a space.  The key
 * of the issuer is ''.  keys, scopes: arrays.
 */

#define NGX_SVC_OAUTH_ALLOWED(keys, scopes)                                   \
    "ARRAY(SELECT k || ' ' || s COLLATE \"C\" FROM unnest(" keys ") k,"       \
        " unnest('{\"\"}' || " scopes ") s)"

/* The keys of what was asked for, or granted: none is the issuer. */

#define NGX_SVC_OAUTH_ALLOWED_AT(row)                                         \
    "coalesce(nullif(" row ".resource_keys, '{}'), '{\"\"}')"

/*
 * The first cases of each verdict, in order; public: whether the client has
 * shown its id alone; grant: a literal.
 */

#define NGX_SVC_OAUTH_VERDICT_CLIENT(public)                                  \
    " WHEN (a.auth_method = 'none') <> " public " THEN 'client'"              \
    " WHEN t.suspended_at IS NOT NULL THEN 'suspended'"

#define NGX_SVC_OAUTH_VERDICT_STATE(state)                                    \
    " WHEN " state " IS NOT NULL THEN " state

#define NGX_SVC_OAUTH_VERDICT_GRANT(grant)                                    \
    " WHEN " grant " <> ALL (a.grant_types) THEN 'grant_type'"

/* Behind ngx_svc_oauth_proof_call(); jkt: the parameter. */

#define NGX_SVC_OAUTH_VERDICT_PROOF(jkt)                                      \
    " WHEN a.require_dpop AND " jkt "::bytea IS NULL THEN 'proof'"            \
    " WHEN current_setting('svc.proof', true) = 'seen' THEN 'proof_seen'"

/*
 * A case in front of those of the target, and of the scopes: it is malformed.
 * fault: the parameter; what: NGX_SVC_OAUTH_FAULT_*.
 */

#define NGX_SVC_OAUTH_VERDICT_FAULT(fault, what)                              \
    " WHEN " fault "::text = '" what "' THEN '" what "'"

/* Scopes of users, which a client's own token never has. */

#define NGX_SVC_OAUTH_USER_SCOPES                                             \
    "'{openid,profile,email,offline_access}'::text[]"

/*
 * The target: of what is asked for, or the only one that there is.  key, uri:
 * of what is asked for.
 */

#define NGX_SVC_OAUTH_ONLY_AUDIENCE(a)                                        \
    "cardinality(" a ".allowed_audience_keys) = 1"

#define NGX_SVC_OAUTH_AUDIENCE(a, uri)                                        \
    "coalesce(" uri ", CASE WHEN " NGX_SVC_OAUTH_ONLY_AUDIENCE(a)             \
        " THEN " a ".allowed_audiences[1] END)"

#define NGX_SVC_OAUTH_AUDIENCE_KEY(a, key)                                    \
    "coalesce(" key ", CASE WHEN " NGX_SVC_OAUTH_ONLY_AUDIENCE(a)             \
        " THEN " a ".allowed_audience_keys[1] END)"

/*
 * A resource as its application has registered it, which compares texts,
 * however a client spells it; of none as that does.  key, which may be an
 * expression that is not leakproof, is made a column: an index can be searched
 * for that.
 */

#define NGX_SVC_OAUTH_REGISTERED(uri, key)                                    \
    "coalesce((SELECT r.uri FROM (SELECT " key " AS key OFFSET 0) n"          \
        " CROSS JOIN LATERAL (SELECT k.resource_uri AS uri"                   \
            " FROM svc.application k WHERE k.tenant_id = " NGX_SVC_TENANT     \
                " AND k.resource_key BETWEEN n.key AND n.key"                 \
            " ORDER BY k.resource_key LIMIT 1) r), " uri ")"

/*
 * Two columns: what a token has of a target, which is nothing when that is the
 * issuer, however it is spelled.  issuer: a parameter, up to the slug.
 */

#define NGX_SVC_OAUTH_AUDIENCE_COLUMNS(uri, key, issuer)                      \
    "CASE WHEN " key " <> " issuer "::text || t.slug"                         \
            " THEN " NGX_SVC_OAUTH_REGISTERED(uri, key) " END"                \
        " AS audience, nullif(" key ", " issuer "::text || t.slug)"           \
        " AS audience_key"

/* Whether the ceiling of "a" refuses it. */

#define NGX_SVC_OAUTH_AUDIENCE_DENIED(a, key)                                 \
    "(" a ".allowed_audience_keys IS NOT NULL AND"                            \
        " coalesce(" NGX_SVC_OAUTH_AUDIENCE_KEY(a, key)                       \
            " <> ALL (" a ".allowed_audience_keys), true))"

/* Seconds that are left of a client; one that ends far away has more than a day. */

#define NGX_SVC_OAUTH_TTL_LEFT(a)                                             \
    "least(86400, ceil(date_part('epoch', " a ".expires_at - now())))"        \
        "::integer"

/*
 * Of an INSERT into svc.oauth_token: the id of a token, of this moment, and the
 * moment in milliseconds; jti: digits that are random.  A timestamp is of the
 * same text wherever it is made of milliseconds: they are equal.
 */

#define NGX_SVC_OAUTH_MS  "floor(date_part('epoch', now()) * 1000)::bigint"

#define NGX_SVC_OAUTH_JTI_OF(ms, jti)                                         \
    "(lpad(to_hex(" ms "), 12, '0') || " jti ")::uuid"

#define NGX_SVC_OAUTH_ISSUED_AT(ms)                                           \
    "to_timestamp(" ms "::float8 / 1000)::timestamptz(3)"


#endif /* _NGX_SVC_OAUTH_SQL_H_INCLUDED_ */
