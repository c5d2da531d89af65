/*
 * Values of results.
 */

#include "ngx_svc_pg_value.h"


static void ngx_svc_pg_result_clear(void *data);


ngx_str_t
ngx_svc_pg_value(PGresult *res, int row, int column)
{
    ngx_str_t  value;

    value.len = PQgetlength(res, row, column);

    /* a NULL has no length, so most values need not be checked for NULL */

    value.data = (value.len || !PQgetisnull(res, row, column))
                 ? (u_char *) PQgetvalue(res, row, column) : NULL;

    return value;
}


ngx_uint_t
ngx_svc_pg_true(PGresult *res, int row, int column)
{
    const char  *value;

    value = PQgetvalue(res, row, column);

    return value && *value == 't';
}


int64_t
ngx_svc_pg_int(PGresult *res, int row, int column)
{
    const char  *value;

    value = PQgetvalue(res, row, column);

    return value && *value ? strtoll(value, NULL, 10) : -1;
}


PGresult *
ngx_svc_pg_result_copy(PGresult *res, ngx_pool_t *pool)
{
    PGresult            *copy;
    ngx_pool_cleanup_t  *cln;

    cln = ngx_pool_cleanup_add(pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    copy = PQcopyResult(res, PG_COPYRES_ATTRS|PG_COPYRES_TUPLES);
    if (copy == NULL) {
        return NULL;
    }

    cln->handler = ngx_svc_pg_result_clear;
    cln->data = copy;

    return copy;
}


static void
ngx_svc_pg_result_clear(void *data)
{
    PQclear(data);
}
