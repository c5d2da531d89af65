/*
 * The helper's ops in PostgreSQL.
 */

#include "ngx_svc_helper_op.h"


#include "ngx_svc_helper_op.sql.h"


ngx_svc_pg_op_t *
ngx_svc_helper_op_create(ngx_svc_pg_pool_e kind, ngx_str_t *tenant,
    ngx_uint_t lazy, ngx_svc_pg_handler_pt handler, void *data)
{
    ngx_pool_t         *pool;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    op = ngx_svc_pg_op_create(pool, kind, handler, data);
    if (op == NULL) {
        goto failed;
    }

    if (tenant == NULL) {
        return op;
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_helper_tenant);
    if (call == NULL) {
        goto failed;
    }

    ngx_svc_pg_bind_str(call, tenant);
    ngx_svc_pg_bind_bool(call, lazy);

    return op;

failed:

    ngx_destroy_pool(pool);

    return NULL;
}


ngx_int_t
ngx_svc_helper_op_submit(ngx_svc_pg_op_t *op, ngx_int_t rc,
    ngx_svc_pg_op_t **place)
{
    if (rc != NGX_OK || ngx_svc_pg_submit(op) != NGX_OK) {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    *place = op;

    return NGX_OK;
}
