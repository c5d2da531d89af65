/*
 * SQL: how a session is found by its cookie.
 */

#ifndef _NGX_SVC_SESSION_SQL_H_INCLUDED_
#define _NGX_SVC_SESSION_SQL_H_INCLUDED_


#include "ngx_svc_sql.h"


/*
 * One statement, under row-level security.  It sets the tenant that the cookie
 * names, and looks there for the session, and at all there is to look at in the
 * order of what is said to a client.  Unless the session does for the route, it
 * unsets the tenant again: nothing behind it sees one that is not proved.  An
 * outer join "ON true" is a nested loop, which takes its left side first; were
 * the tenant not set before, there would be no session.  Whether the tenant is
 * suspended the session's row says, which triggers see to.
 *
 * A sub-select with an order has its index looked up whatever the planner
 * knows.  Conditions are within it, and it names its columns, the key first: so
 * it is the index scan alone.  With a plain "ended_at IS NULL" session_live_idx
 * would be as good to the planner.
 *
 * More than half of the time is that of the start of the nodes, and of each
 * function and operator in them, whose right to be called is looked up.  So
 * there are as few as there can be: CURRENT_TIMESTAMP is none, now() is one.
 *
 * $1: the digest, $2: the cookie's tenant, as text, $3: seconds a session may
 * be idle, $4: the stages that may call the route, none of whose names is a
 * part of another, $5: its permission (NULL is none at all, '' is any).  And of
 * what may want a fresh factor $6: whether it does, $7: of how many seconds,
 * and $8 to $10 those of ngx_svc_bind_client().
 */

#define NGX_SVC_SESSION_COOKIE_TENANT                                         \
    "(SELECT set_config('svc.tenant', $2, true) AS id) o"

/* NULL, of what is none. */

#define NGX_SVC_SESSION_UNSET                                                 \
    "CASE WHEN set_config('svc.tenant', '', true) IS NULL THEN '' END"

#define NGX_SVC_SESSION_LIVE                                                  \
    "(SELECT k.token_hash, k.tenant_id, k.user_id, k.stage, k.created_at,"    \
        " k.last_seen_at, k.mfa_at, k.reauth_at"                              \
    " FROM svc.session k"                                                     \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.token_hash BETWEEN $1 AND $1"                                 \
        " AND k.tenant_suspended_at IS NULL"                                  \
        " AND coalesce(k.ended_at, 'infinity') = 'infinity'"                  \
        " AND coalesce(k.expires_at > CURRENT_TIMESTAMP, false)"              \
        " AND k.last_seen_at"                                                 \
            " > CURRENT_TIMESTAMP - $3::int4 * interval '1 second'"           \
    " ORDER BY k.token_hash OFFSET 0) s"

#define NGX_SVC_SESSION_USER                                                  \
    "(SELECT k.id, k.role, k.mfa_enrolled"                                    \
    " FROM svc.user_account k"                                                \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.id BETWEEN s.user_id AND s.user_id AND k.status = 'active'"   \
        " AND s.created_at >= coalesce(k.valid_after, '-infinity')"           \
    " ORDER BY k.id OFFSET 0) u"

/* With a factor, that has to be fresh; without one a password does. */

#define NGX_SVC_SESSION_FRESH                                                 \
    "coalesce(CASE WHEN u.mfa_enrolled THEN s.mfa_at"                         \
    " ELSE greatest(s.mfa_at, s.reauth_at) END"                               \
    " > CURRENT_TIMESTAMP - $7::int4 * interval '1 second', false)"

/* A role of the system has all permissions, but "member", which has none. */

#define NGX_SVC_SESSION_ROLE                                                  \
    " FROM svc.role r"                                                        \
    " WHERE r.tenant_id = " NGX_SVC_TENANT " AND r.key = u.role"

/* Of other roles a function asks: a scan costs at the start, asked or not. */

#define NGX_SVC_SESSION_GRANTED                                               \
    "(u.role IN ('owner', 'admin') OR $5::text IS NULL"                       \
    " OR u.role <> 'member' AND svc.role_grants(u.role, $5))"

/* stale: one more case, or "". */

#define NGX_SVC_SESSION_VERDICT(stale)                                        \
    "CASE WHEN strpos($4, s.stage) = 0 THEN s.stage"                          \
    " WHEN NOT " NGX_SVC_SESSION_GRANTED " THEN 'forbidden'"                  \
    stale                                                                     \
    " ELSE 'go' END"

#define NGX_SVC_SESSION_STALE                                                 \
    " WHEN $6 AND s.stage = 'full' AND NOT " NGX_SVC_SESSION_FRESH            \
        " THEN 'stale'"

#define NGX_SVC_SESSION_SELECT                                                \
    "SELECT CASE v.verdict WHEN 'go' THEN o.id ELSE "                         \
    NGX_SVC_SESSION_UNSET " END, v.old, v.verdict"

#define NGX_SVC_SESSION_FROM(stale, columns)                                  \
    " FROM " NGX_SVC_SESSION_COOKIE_TENANT " LEFT JOIN ("                     \
        "SELECT s.tenant_id, s.last_seen_at"                                  \
                " < CURRENT_TIMESTAMP - interval '1 minute' AS old, "         \
            NGX_SVC_SESSION_VERDICT(stale) " AS verdict" columns              \
        " FROM " NGX_SVC_SESSION_LIVE                                         \
        " CROSS JOIN LATERAL " NGX_SVC_SESSION_USER                           \
        " OFFSET 0"                                                           \
    ") v ON true"

#define NGX_SVC_SESSION_PERMISSIONS                                           \
    ", " NGX_SVC_ROLE_PERMISSIONS("u.role",                                   \
        "(SELECT r.permissions" NGX_SVC_SESSION_ROLE ")") " AS permissions"

#define NGX_SVC_SESSION_GO(then)                                              \
    ", CASE v.verdict WHEN 'go' THEN " then " END"

/* An OR of what is never NULL makes all of them, see ngx_svc_bearer.c. */

#define NGX_SVC_SESSION_ACTOR                                                 \
    "set_config('svc.actor_type', 'user', true) IS NULL"                      \
    " OR set_config('svc.actor_id', v.user_id::text, true) IS NULL"           \
    " OR set_config('svc.actor_name', '', true) IS NULL"                      \
    " OR set_config('svc.ip', $8, true) IS NULL"                              \
    " OR set_config('svc.user_agent', $9, true) IS NULL"                      \
    " OR set_config('svc.request_id', $10, true) IS NULL"


#endif /* _NGX_SVC_SESSION_SQL_H_INCLUDED_ */
