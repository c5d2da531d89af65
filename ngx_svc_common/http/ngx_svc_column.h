/*
 * Columns of results as JSON, values as parameters, and what the statements of
 * requests have in common.
 */

#ifndef _NGX_SVC_COLUMN_H_INCLUDED_
#define _NGX_SVC_COLUMN_H_INCLUDED_


#include "ngx_svc_request.h"
#include "ngx_svc_schema.h"


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
 * A statement of its own before one that counts rows and adds one up to a
 * limit: those that add to the same kind in a tenant stand in line until they
 * are committed, and each counts what those before have stored.  table: a name,
 * a literal.
 */

#define NGX_SVC_LIMIT_LOCK(table)                                             \
    "SELECT pg_advisory_xact_lock(hashtext('" table "'),"                     \
        " hashtext(current_setting('svc.tenant', true)))"                     \
    " WHERE " NGX_SVC_TENANT_OR_NULL " IS NOT NULL"


/*
 * A column as a member, null when it is NULL: a text, a time, a piece of JSON,
 * and a boolean, which is never NULL.
 */
NGX_SVC_API void ngx_svc_column_text(ngx_svc_json_writer_t *w,
    const char *key, PGresult *res, int row, int column);
NGX_SVC_API void ngx_svc_column_time(ngx_svc_json_writer_t *w,
    const char *key, PGresult *res, int row, int column);
NGX_SVC_API void ngx_svc_column_raw(ngx_svc_json_writer_t *w,
    const char *key, PGresult *res, int row, int column);
NGX_SVC_API void ngx_svc_column_boolean(ngx_svc_json_writer_t *w,
    const char *key, PGresult *res, int row, int column);

/* 1: the column is true. */
NGX_SVC_API ngx_uint_t ngx_svc_column_true(PGresult *res, int row,
    int column);

/* Binds a string, or NULL when the value is unset or null. */
NGX_SVC_API void ngx_svc_bind_value(ngx_svc_pg_call_t *call,
    ngx_svc_value_t *value);

/* For a reply: sends a 404. */
NGX_SVC_API ngx_int_t ngx_svc_not_found(ngx_svc_request_t *sr,
    const char *detail);


#endif /* _NGX_SVC_COLUMN_H_INCLUDED_ */
