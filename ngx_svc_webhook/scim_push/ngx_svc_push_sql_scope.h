/*
 * Outbound SCIM, SQL: whom a target is to have, and how.
 */

#ifndef _NGX_SVC_PUSH_SQL_SCOPE_H_INCLUDED_
#define _NGX_SVC_PUSH_SQL_SCOPE_H_INCLUDED_


#include "ngx_svc_sql.h"


#define NGX_SVC_PUSH_NOBODY  "'00000000-0000-0000-0000-000000000000'::uuid"

/* SQL: the target, as long as the helper has it; lock: how, or "". */

#define NGX_SVC_PUSH_LEASED(lock)                                             \
    "t AS MATERIALIZED ("                                                     \
        "SELECT k.* FROM svc.scim_target k"                                   \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.id BETWEEN $1::text::uuid AND $1::text::uuid"             \
            " AND k.lease_by = $2"                                            \
        " ORDER BY k.id LIMIT 1" lock                                         \
    ")"

/* SQL: the sync of a target t: what a failure has come over stays under way. */

#define NGX_SVC_PUSH_SYNC(t)                                                  \
    "CASE WHEN " t ".sync_status = 'failing' THEN " t ".sync_was"             \
        " ELSE " t ".sync_status END"

/* SQL: its application. */

#define NGX_SVC_PUSH_APPLICATION                                              \
    "a AS MATERIALIZED ("                                                     \
        "SELECT a.* FROM t CROSS JOIN LATERAL ("                              \
            "SELECT k.client_id, k.enabled, k.assignment"                     \
            " FROM svc.application k WHERE k.tenant_id = " NGX_SVC_TENANT     \
                " AND k.client_id BETWEEN t.client_id AND t.client_id"        \
            " ORDER BY k.client_id LIMIT 1) a"                                \
    ")"

/* SQL: whether a group is assigned to "a"; id: its. */

#define NGX_SVC_PUSH_ASSIGNED(id)                                             \
    "EXISTS (SELECT FROM svc.group_app k"                                     \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND (k.client_id, k.group_id) BETWEEN"                          \
                " (a.client_id, " id ") AND (a.client_id, " id ")"            \
        " ORDER BY k.client_id, k.group_id LIMIT 1)"

/*
 * SQL: w: how the users "i" are to be: not active, and no more is told of them
 * than that, out of the application's scope.  hashed: MATERIALIZED, where the
 * hash of all is asked for; or "", where it is of few.
 */

#define NGX_SVC_PUSH_WANTED(hashed)                                           \
    "v AS MATERIALIZED ("                                                     \
        "SELECT i.id AS user_id, u.id IS NULL AS gone,"                       \
            " u.user_name, u.display_name, u.first_name, u.last_name,"        \
            " u.title, u.locale, u.department,"                               \
            " u.status = 'active' AND a.enabled"                              \
                " AND (a.assignment = 'everyone' OR EXISTS ("                 \
                    "SELECT FROM (SELECT k.group_id FROM svc.group_member k"  \
                        " WHERE k.tenant_id = " NGX_SVC_TENANT                \
                            " AND k.user_id BETWEEN u.id AND u.id"            \
                        " ORDER BY k.user_id OFFSET 0) n"                     \
                    " WHERE " NGX_SVC_PUSH_ASSIGNED("n.group_id") ")"         \
                ") IS TRUE AS active"                                         \
        " FROM a CROSS JOIN i LEFT JOIN LATERAL ("                            \
            NGX_SVC_ROW("k.*", "svc.user_account", "i.id") ") u ON true"      \
    "), w AS " hashed " ("                                                    \
        "SELECT v.*, CASE WHEN v.gone THEN NULL"                              \
            " WHEN v.active IS NOT TRUE THEN sha256('')"                      \
            " ELSE sha256(convert_to(jsonb_build_array(v.user_name,"          \
                " v.display_name, v.first_name, v.last_name, v.title,"        \
                " v.locale, v.department)::text, 'UTF8')) END AS hash"        \
        " FROM v"                                                             \
    ")"

/* SQL: the item that the target "t" has of a user, or none; id: his. */

#define NGX_SVC_PUSH_ITEM(columns, id)                                        \
    "SELECT " columns " FROM svc.scim_item k"                                 \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND (k.target_id, k.user_id) BETWEEN"                               \
            " (t.id, " id ") AND (t.id, " id ")"                              \
    " ORDER BY k.target_id, k.user_id LIMIT 1"

/*
 * SQL: m: they are marked, unless the target has them already, or has never
 * heard of them and need not; compare: whether it is to be read there, of whom
 * its list has not said so yet.
 */

#define NGX_SVC_PUSH_MARK(compare)                                            \
    "m AS ("                                                                  \
        "INSERT INTO svc.scim_item AS n"                                      \
            " (target_id, user_id, priority, compare)"                        \
        " SELECT t.id, w.user_id, CASE WHEN w.active THEN 1 ELSE 0 END, "     \
            compare                                                           \
        " FROM t CROSS JOIN w LEFT JOIN LATERAL ("                            \
            NGX_SVC_PUSH_ITEM("k.*", "w.user_id") ") o ON true"               \
        " WHERE CASE WHEN o.user_id IS NULL THEN w.active"                    \
            " WHEN " compare " AND (w.active OR o.remote_id IS NOT NULL)"     \
                " AND (o.seen IS NULL OR o.seen IS DISTINCT FROM t.sync_id)"  \
            " THEN true"                                                      \
            " ELSE o.done_rev < o.wanted_rev"                                 \
                " OR o.remote_hash IS DISTINCT FROM w.hash END"               \
        " ON CONFLICT (tenant_id, target_id, user_id) DO UPDATE"              \
            " SET wanted_rev = n.wanted_rev + 1,"                             \
                " priority = excluded.priority, next_at = now(),"             \
                " attempts = 0, state = 'pending',"                           \
                " compare = n.compare OR excluded.compare"                    \
        " RETURNING 1"                                                        \
    ")"


#endif /* _NGX_SVC_PUSH_SQL_SCOPE_H_INCLUDED_ */
