/*
 * Whether tokens live, and what they are good for today, of many at once: as
 * ngx_svc_oauth_lives() tells it of one.
 */

#ifndef _NGX_SVC_OAUTH_LIVE_H_INCLUDED_
#define _NGX_SVC_OAUTH_LIVE_H_INCLUDED_


#include "ngx_svc_oauth_sql.h"


/*
 * SQL: the row of a token.  jti: a uuid; ms: the time within it, as text:
 * equality finds the one partition.
 */

#define NGX_SVC_OAUTH_TOKEN(jti, ms)                                          \
    "SELECT k.* FROM svc.oauth_token k"                                       \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.jti BETWEEN " jti " AND " jti                                 \
        " AND k.issued_at = " NGX_SVC_OAUTH_ISSUED_AT(ms "::text")            \
    " ORDER BY k.jti LIMIT 1"

/* Whether it is of the tenant that it says itself, as an opaque one does. */

#define NGX_SVC_OAUTH_TOKEN_SAYS(tenant)                                      \
    "coalesce(" tenant "::uuid = " NGX_SVC_TENANT ", true)"

/*
 * Of each client that the token "x" lives by: whether it may act, and its user
 * lets it, since it was issued; of those that act, for how long; and the scopes
 * that it has lost.
 */

#define NGX_SVC_OAUTH_LIVE_ACTS                                               \
    "(n.client_id = x.client_id OR n.client_id = ANY (x.chain))"

#define NGX_SVC_OAUTH_LIVE_LOST(allowed)                                      \
    "CASE WHEN NOT x.scopes <@ (" allowed ") THEN array_to_string(ARRAY("     \
        "SELECT s FROM unnest(x.scopes) s WHERE s <> ALL (" allowed ")"       \
        "), ' ') END"

/*
 * Whether the token's user lets it: of the last principal, which has got the
 * grant itself, its consent is the grant; the current one needs it for the
 * token's resource.  Most tokens do not come to the call.
 */

#define NGX_SVC_OAUTH_LIVE_ROOT                                               \
    "(n.client_id = x.principals[cardinality(x.principals)])"

#define NGX_SVC_OAUTH_LIVE_LET                                                \
    "CASE WHEN x.user_id IS NULL THEN true"                                   \
        " WHEN a.assignment = 'everyone'"                                     \
            " AND (NOT a.require_consent OR " NGX_SVC_OAUTH_LIVE_ROOT ")"     \
            " THEN true"                                                      \
        " ELSE svc.oauth_user_lets(x.user_id, n.client_id,"                   \
            " a.assignment = 'groups',"                                       \
            " a.require_consent AND NOT " NGX_SVC_OAUTH_LIVE_ROOT ","         \
            " CASE n.client_id WHEN x.client_id"                              \
                " THEN coalesce(x.audience_key, '') END, x.scopes) END"

#define NGX_SVC_OAUTH_LIVE_PRINCIPALS(issuer)                                 \
    "SELECT bool_and(a.client_id IS NOT NULL AND s.state IS NULL"             \
            " AND x.issued_at"                                                \
                " >= coalesce(a.tokens_valid_after, '-infinity')"             \
            " AND " NGX_SVC_OAUTH_LIVE_LET                                    \
            " AND (NOT coalesce(" NGX_SVC_OAUTH_LIVE_ACTS ", false)"          \
                " OR a.allowed_audience_keys IS NULL"                         \
                " OR coalesce(x.audience_key, " issuer ")"                    \
                    " = ANY (a.allowed_audience_keys))) AS alive,"            \
        " least(min(a.max_token_ttl) FILTER (WHERE " NGX_SVC_OAUTH_LIVE_ACTS  \
                "), min(a.access_token_ttl)"                                  \
                " FILTER (WHERE n.client_id = x.client_id)) AS ttl,"          \
        " string_to_array(string_agg(concat_ws(' ',"                          \
            " " NGX_SVC_OAUTH_LIVE_LOST("a.scopes || '{offline_access}'") "," \
            " CASE WHEN a.allowed_scopes IS NOT NULL"                         \
                " AND " NGX_SVC_OAUTH_LIVE_ACTS " THEN "                      \
                NGX_SVC_OAUTH_LIVE_LOST("a.allowed_scopes"                    \
                                        " || '{offline_access}'") " END"      \
            "), ' '), ' ') AS lost"                                           \
    " FROM unnest(x.principals) n (client_id)"                                \
    " LEFT JOIN LATERAL ("                                                    \
        NGX_SVC_OAUTH_APPLICATION(                                            \
            NGX_SVC_OAUTH_STATE_COLUMNS ", k.client_id, k.scopes,"            \
            " k.assignment, k.require_consent,"                               \
            " k.tokens_valid_after, k.access_token_ttl, k.max_token_ttl,"     \
            " k.allowed_scopes, k.allowed_audience_keys", "n.client_id")      \
        ") a ON true"                                                         \
    " LEFT JOIN LATERAL (SELECT " NGX_SVC_OAUTH_STATE("a", "g")               \
        " AS state) s ON true"

/* The key, the user and the grant of a token "x", of which each may be NULL. */

#define NGX_SVC_OAUTH_LIVE_KEY                                                \
    "SELECT k.kid, k.public FROM svc.oauth_key k"                             \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.kid BETWEEN x.kid AND x.kid AND k.revoked_at IS NULL"         \
    " ORDER BY k.kid LIMIT 1"

#define NGX_SVC_OAUTH_LIVE_USER                                               \
    NGX_SVC_ROW("k.id, k.status, k.valid_after", "svc.user_account",          \
                "x.user_id")

#define NGX_SVC_OAUTH_LIVE_GRANT                                              \
    NGX_SVC_ROW("k.id, k.revoked_at, k.session_at, k.auth_time",              \
                "svc.oauth_grant", "x.grant_id")

/* Its parent or its root may have been revoked while it was given. */

#define NGX_SVC_OAUTH_LIVE_REVOKED                                            \
    "EXISTS (SELECT FROM svc.oauth_revoked k"                                 \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.jti = ANY (ARRAY[x.jti, x.parent_jti, x.root_jti]))"

#define NGX_SVC_OAUTH_LIVE_ENDS                                               \
    "x.issued_at + make_interval(secs => least(x.ttl, p.ttl))"

/*
 * Behind LATERAL, where "t" and "g" are the tenant and its settings: the
 * columns of svc.oauth_token, and of today the scopes, "now_scopes", and when it
 * ends, "ends"; "public": the key of a JWT; "auth_time": of its grant.  token:
 * a row of the above; issuer: up to the slug.  No row: it is dead.
 */

#define NGX_SVC_OAUTH_LIVE(token, issuer)                                     \
    "(SELECT x.*, y.public, r.auth_time, ARRAY("                              \
            "SELECT s FROM unnest(x.scopes) s"                                \
            " WHERE s <> ALL (coalesce(p.lost, '{}'))) AS now_scopes, "       \
        NGX_SVC_OAUTH_LIVE_ENDS " AS ends"                                    \
    " FROM (" token ") x"                                                     \
    " CROSS JOIN LATERAL ("                                                   \
        NGX_SVC_OAUTH_LIVE_PRINCIPALS("(" issuer " || t.slug)") ") p"         \
    " LEFT JOIN LATERAL (" NGX_SVC_OAUTH_LIVE_KEY ") y ON true"               \
    " LEFT JOIN LATERAL (" NGX_SVC_OAUTH_LIVE_USER ") u ON true"              \
    " LEFT JOIN LATERAL (" NGX_SVC_OAUTH_LIVE_GRANT ") r ON true"             \
    " WHERE t.suspended_at IS NULL AND x.revoked_at IS NULL AND p.alive"      \
        " AND NOT " NGX_SVC_OAUTH_LIVE_REVOKED                                \
        " AND " NGX_SVC_OAUTH_LIVE_ENDS " > now()"                            \
        " AND x.issued_at >= coalesce(g.tokens_valid_after, '-infinity')"     \
        " AND (x.kid IS NULL OR y.kid IS NOT NULL)"                           \
        " AND (x.user_id IS NULL OR u.status = 'active'"                      \
            " AND x.issued_at >= coalesce(u.valid_after, '-infinity'))"       \
        " AND (x.grant_id IS NULL"                                            \
            " OR r.id IS NOT NULL AND r.revoked_at IS NULL"                   \
                " AND r.session_at >= coalesce(u.valid_after, '-infinity'))"  \
        " AND (x.scopes <@ '{offline_access}'"                                \
            " OR NOT x.scopes <@ (coalesce(p.lost, '{}')"                     \
                " || '{offline_access}')))"


#endif /* _NGX_SVC_OAUTH_LIVE_H_INCLUDED_ */
