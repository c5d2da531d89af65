/*
 * The results of an op, each found by its statement.
 */

#ifndef _NGX_SVC_PG_RESULTS_H_INCLUDED_
#define _NGX_SVC_PG_RESULTS_H_INCLUDED_


#include "ngx_svc_common.h"

#include <libpq-fe.h>


typedef struct ngx_svc_pg_statement_s  ngx_svc_pg_statement_t;


/*
 * The results of the calls that are not hidden, in their order.  The slot owns
 * them, not the op, which may have ended.  A statement that lived as long as
 * its op may have ended, too: only its address may be used.
 */

typedef struct {
    const ngx_svc_pg_statement_t  **statements;
    PGresult                      **results;
    ngx_uint_t                      n;
} ngx_svc_pg_results_t;


/*
 * Returns the result of the first call of that statement; the slot owns it.
 * Returns NULL when results is NULL, or the statement was not called, is
 * hidden, or has no result since a call before it has failed.  libpq's
 * functions take a NULL result as one that has no rows, and only NULLs.
 */
NGX_SVC_API PGresult *ngx_svc_pg_result(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *statement);

/*
 * Returns the result of the first statement of the list that was called; NULL
 * ends the list.
 */
NGX_SVC_API PGresult *ngx_svc_pg_result_of(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *const *list);

/* Returns the result of the first call that is not hidden. */
NGX_SVC_API PGresult *ngx_svc_pg_result_first(
    const ngx_svc_pg_results_t *results);


#endif /* _NGX_SVC_PG_RESULTS_H_INCLUDED_ */
