/*
 * Values of results.
 */

#ifndef _NGX_SVC_PG_VALUE_H_INCLUDED_
#define _NGX_SVC_PG_VALUE_H_INCLUDED_


#include "ngx_svc_common.h"

#include <libpq-fe.h>


/* A column of a result as it is, and NULL as { 0, NULL }. */
NGX_SVC_API ngx_str_t ngx_svc_pg_value(PGresult *res, int row, int column);

/* 1: a column of booleans is true; 0: it is false, or NULL. */
NGX_SVC_API ngx_uint_t ngx_svc_pg_true(PGresult *res, int row, int column);

/*
 * A copy of a result that lives as long as the pool: results are gone after
 * their reply.  NULL: memory.
 */
NGX_SVC_API PGresult *ngx_svc_pg_result_copy(PGresult *res, ngx_pool_t *pool);


#endif /* _NGX_SVC_PG_VALUE_H_INCLUDED_ */
