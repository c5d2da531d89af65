/*
 * Values of results.
 */

#include "ngx_svc_pg_value.h"


ngx_str_t
ngx_svc_pg_value(PGresult *res, int row, int column)
{
    ngx_str_t  value;

    value.len = PQgetlength(res, row, column);

    /* a NULL has no length: most values need not be asked for being one */

    value.data = (value.len || !PQgetisnull(res, row, column))
                 ? (u_char *) PQgetvalue(res, row, column) : NULL;

    return value;
}
