/*
 * The results of an op, each found by its statement.
 */

#include "ngx_svc_pg_results.h"


/* An op has few calls: looking at all of them is quicker than an index. */

PGresult *
ngx_svc_pg_result(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_uint_t  i;

    if (results == NULL) {
        return NULL;
    }

    for (i = 0; i < results->n; i++) {
        if (results->statements[i] == statement) {
            return results->results[i];
        }
    }

    return NULL;
}


PGresult *
ngx_svc_pg_result_of(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *const *list)
{
    PGresult  *res;

    for (res = NULL; *list && res == NULL; list++) {
        res = ngx_svc_pg_result(results, *list);
    }

    return res;
}


PGresult *
ngx_svc_pg_result_first(const ngx_svc_pg_results_t *results)
{
    return results && results->n ? results->results[0] : NULL;
}
