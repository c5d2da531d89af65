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
 * No row: there is no tenant, since the client is not known.  more: columns of
 * the client besides, or "".
 */

#define NGX_SVC_OAUTH_CLIENT(client, more)                                    \
    "(" NGX_SVC_OAUTH_APPLICATION(                                            \
            NGX_SVC_OAUTH_STATE_COLUMNS ", k.client_id, k.name,"              \
            " k.auth_method,"                                                 \
            " k.assignment, k.redirect_uris, k.scopes, k.grant_types,"        \
            " k.access_token_format, k.access_token_ttl, k.max_token_ttl,"    \
            " k.require_consent, k.require_dpop, k.resource_key,"             \
            " k.allowed_scopes, k.allowed_audiences,"                         \
            " k.allowed_audience_keys, k.tokens_valid_after" more, client)    \
        ") a"                                                                 \
    " JOIN svc.tenant t ON t.id = " NGX_SVC_TENANT                            \
    " JOIN svc.oauth_tenant g ON g.tenant_id = " NGX_SVC_TENANT

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

/* The first cases of a verdict, in order; grant: a literal. */

#define NGX_SVC_OAUTH_VERDICT_STATE(state)                                    \
    " WHEN " state " IS NOT NULL THEN " state

#define NGX_SVC_OAUTH_VERDICT_GRANT(grant)                                    \
    " WHEN " grant " <> ALL (a.grant_types) THEN 'grant_type'"

/* The target's key: of what is asked for, or of the only one that there is. */

#define NGX_SVC_OAUTH_ONLY_AUDIENCE(a)                                        \
    "cardinality(" a ".allowed_audience_keys) = 1"

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

/* Seconds that are left of a client; one that ends far away has more than a day. */

#define NGX_SVC_OAUTH_TTL_LEFT(a)                                             \
    "least(86400, ceil(date_part('epoch', " a ".expires_at - now())))"        \
        "::integer"

/*
 * This moment in milliseconds; and a timestamp, which is of the same text
 * wherever it is made of milliseconds: they are equal.
 */

#define NGX_SVC_OAUTH_MS  "floor(date_part('epoch', now()) * 1000)::bigint"

#define NGX_SVC_OAUTH_ISSUED_AT(ms)                                           \
    "to_timestamp(" ms "::float8 / 1000)::timestamptz(3)"


#endif /* _NGX_SVC_OAUTH_SQL_H_INCLUDED_ */
