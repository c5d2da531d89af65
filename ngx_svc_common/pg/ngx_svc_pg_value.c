/*
 * Values of results.
 */

#include "ngx_svc_pg_value.h"


ngx_str_t
ngx_svc_pg_value(PGresult *res, int row, int column)
{
    ngx_str_t  value;

    if (PQgetisnull(res, row, column)) {
        ngx_str_null(&value);

    } else {
        value.data = (u_char *) PQgetvalue(res, row, column);
        value.len = PQgetlength(res, row, column);
    }

    return value;
}
