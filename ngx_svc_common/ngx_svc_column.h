/*
 * Columns of results as JSON, values as parameters, and what the statements of
 * requests have in common.
 */

#ifndef _NGX_SVC_COLUMN_H_INCLUDED_
#define _NGX_SVC_COLUMN_H_INCLUDED_


#include "ngx_svc_request.h"
#include "ngx_svc_schema.h"


/* SQL: the tenant of the transaction, or NULL. */

#define NGX_SVC_TENANT                                                        \
    "nullif(current_setting('svc.tenant', true), '')::uuid"

/*
 * A statement of its own before one that counts rows and adds one up to a
 * limit: those that add to the same kind in a tenant stand in line until they
 * are committed, and each counts what those before have stored.  table: a name,
 * a literal.
 */

#define NGX_SVC_LIMIT_LOCK(table)                                             \
    "SELECT pg_advisory_xact_lock(hashtext('" table "'),"                     \
        " hashtext(current_setting('svc.tenant', true)))"                     \
    " WHERE " NGX_SVC_TENANT " IS NOT NULL"


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
