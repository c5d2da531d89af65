/*
 * The statements that a connection has prepared: a hash table with open
 * addressing.
 */

#include "ngx_svc_pg_prepared.h"


ngx_int_t
ngx_svc_pg_prepared_add(ngx_svc_pg_prepared_t *prepared,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_uint_t                      i, n;
    const ngx_svc_pg_statement_t  **s;

    /* statements are neighbours in memory, so their places are, too */

    i = (uintptr_t) statement / sizeof(ngx_svc_pg_statement_t);

    for (n = 0; n < NGX_SVC_PG_PREPARED; n++) {
        s = &prepared->statements[(i + n) % NGX_SVC_PG_PREPARED];

        if (*s == statement) {
            return NGX_OK;
        }

        if (*s == NULL) {
            *s = statement;
            return NGX_DECLINED;
        }
    }

    return NGX_ERROR;
}
