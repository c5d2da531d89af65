/*
 * SQL: what the statements of requests have in common.
 */

#ifndef _NGX_SVC_SQL_H_INCLUDED_
#define _NGX_SVC_SQL_H_INCLUDED_


#include "ngx_svc_permission.h"


/* SQL: the tenant of the transaction, or NULL. */

#define NGX_SVC_TENANT_OR_NULL                                                \
    "nullif(current_setting('svc.tenant', true), '')::uuid"

/*
 * SQL: what a tenant's id is compared with, in the words of the policies, so
 * that both are one condition.  Without a tenant it is nobody's id: with NULL
 * the planner would count on no rows, and the plan is for all.
 */

#define NGX_SVC_TENANT                                                        \
    "greatest(current_setting('svc.tenant', true),"                           \
        " '00000000-0000-0000-0000-000000000000')::uuid"

/*
 * SQL: of a tenant's table the row with an id, or none: for LATERAL, or as a
 * value.  columns: of k.  A range and an order have the primary key looked up
 * whatever the planner knows: while a table is empty each index that begins
 * with the tenant is as good to it, and a plan made then would read all rows of
 * the tenant for each id.
 */

#define NGX_SVC_ROW(columns, table, id)                                       \
    "SELECT " columns " FROM " table " k WHERE k.tenant_id = " NGX_SVC_TENANT \
    " AND k.id BETWEEN " id " AND " id " ORDER BY k.id LIMIT 1"

/*
 * SQL: a statement of its own before one that counts rows and adds one up to a
 * limit: those that add to the same kind in a tenant stand in line until they
 * are committed, and each counts what those before have stored.  table: a name,
 * a literal.
 */

#define NGX_SVC_LIMIT_LOCK(table)                                             \
    "SELECT pg_advisory_xact_lock(hashtext('" table "'),"                     \
        " hashtext(current_setting('svc.tenant', true)))"                     \
    " WHERE " NGX_SVC_TENANT_OR_NULL " IS NOT NULL"

/* SQL: a time, of a parameter of ngx_svc_param_time(). */
#define NGX_SVC_TIME(msec)                                                    \
    "to_timestamp(" msec "::text::float8 / 1000)"

/* SQL: a time as a text of JSON, within what PostgreSQL makes of it. */
#define NGX_SVC_TIME_TEXT(at)                                                 \
    "to_char(" at " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

/* SQL: each change of a row has a time of its own; t: the row's name. */
#define NGX_SVC_CHANGED_AT(t)                                                 \
    "greatest(now(), " t ".updated_at + interval '1 millisecond')"

/*
 * SQL: what the caller may do, and so may give, in statements of a route with
 * NGX_SVC_ROUTE_CALLER.  Behind a refused credential it is NULL: not even
 * nothing may be given.
 */
#define NGX_SVC_CALLER_PERMISSIONS                                            \
    "nullif(current_setting('svc.permissions', true), '')::text[]"

/*
 * SQL: likewise, whether it is a session that has shown no factor of late,
 * where what a statement finds says that one is needed: for
 * NGX_SVC_ROUTE_SENSITIVE all bodies are the same.
 */
#define NGX_SVC_CALLER_STALE                                                  \
    "(current_setting('svc.actor_type', true) = 'user'"                       \
    " AND current_setting('svc.fresh', true) IS DISTINCT FROM 'true')"

/*
 * SQL: what a role grants; role: its key, permissions: those of its row in
 * svc.role, or NULL, as of the roles of the system.
 */

#define NGX_SVC_ROLE_PERMISSION(id, name)  ",'" name "'"

#define NGX_SVC_ROLE_PERMISSIONS(role, permissions)                           \
    "CASE WHEN " role " IN ('owner', 'admin')"                                \
    " THEN (ARRAY[''" NGX_SVC_PERMISSIONS(NGX_SVC_ROLE_PERMISSION) "])[2:]"   \
    " ELSE coalesce(" permissions ", '{}') END"


#endif /* _NGX_SVC_SQL_H_INCLUDED_ */
