/*
 * Values of results.
 */

#ifndef _NGX_SVC_PG_VALUE_H_INCLUDED_
#define _NGX_SVC_PG_VALUE_H_INCLUDED_


#include "ngx_svc_common.h"

#include <libpq-fe.h>


/*
 * Returns a value of a result as it is, and { 0, NULL } for NULL.  The bytes
 * are the result's.  Here and below all columns of a result that is NULL are
 * NULL.
 */
NGX_SVC_API ngx_str_t ngx_svc_pg_value(PGresult *res, int row, int column);

/* Returns 1 if a boolean is true; 0: it is false, or NULL. */
NGX_SVC_API ngx_uint_t ngx_svc_pg_true(PGresult *res, int row, int column);

/* Returns an integer; -1 for NULL. */
NGX_SVC_API int64_t ngx_svc_pg_int(PGresult *res, int row, int column);

/*
 * Copies a result, which would be freed after its reply; the copy lives as long
 * as the pool.  Returns NULL when memory runs out.
 */
NGX_SVC_API PGresult *ngx_svc_pg_result_copy(PGresult *res, ngx_pool_t *pool);


#endif /* _NGX_SVC_PG_VALUE_H_INCLUDED_ */
