/*
 * The results of an op, each found by its statement.
 */

#ifndef _NGX_SVC_PG_RESULTS_H_INCLUDED_
#define _NGX_SVC_PG_RESULTS_H_INCLUDED_


#include "ngx_svc_common.h"

#include <libpq-fe.h>


typedef struct ngx_svc_pg_statement_s  ngx_svc_pg_statement_t;


/*
 * Of the calls that are not hidden, in their order.  It is the slot's, not the
 * op's, which may be gone: so may a statement that lives as long as the op, and
 * of it the address is all that may be used.
 */

typedef struct {
    const ngx_svc_pg_statement_t  **statements;
    PGresult                      **results;
    ngx_uint_t                      n;
} ngx_svc_pg_results_t;


/*
 * The result of the call of that statement, of the first one if it was called
 * more than once; it is the slot's.  NULL when it was not called, is hidden, or
 * has no result since one before it has failed; and of results that are NULL.
 * Of no result PostgreSQL's functions say that it has no rows, and NULLs.
 */
NGX_SVC_API PGresult *ngx_svc_pg_result(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *statement);

/* Likewise of the first one that was called of a list that ends with NULL. */
NGX_SVC_API PGresult *ngx_svc_pg_result_of(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *const *list);

/* Likewise of the first call that is not hidden, whatever it was. */
NGX_SVC_API PGresult *ngx_svc_pg_result_first(
    const ngx_svc_pg_results_t *results);


#endif /* _NGX_SVC_PG_RESULTS_H_INCLUDED_ */
