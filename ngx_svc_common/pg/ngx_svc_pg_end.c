/*
 * The end of the backend of a connection that is silent.
 *
 * PQcancel() blocks, and a backend that waits for a standby would go on to the
 * next transaction of its pipeline.  So another connection of the same role
 * terminates it: one of the read pool, since reads wait for no standby.
 */

#include "ngx_svc_pg_end.h"
#include "ngx_svc_pg_close.h"
#include "ngx_svc_pg_setup.h"
#include "ngx_svc_pg_setup.row.h"


static void ngx_svc_pg_end_done(ngx_svc_pg_op_t *op);


ngx_int_t
ngx_svc_pg_end(ngx_svc_pg_conn_t *conn)
{
    u_char             *pid;
    ngx_pool_t         *pool;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    if (ngx_svc_pg_pool(NGX_SVC_PG_READ)->nready == 0) {
        return NGX_DECLINED;
    }

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    op = ngx_svc_pg_op_create(pool, NGX_SVC_PG_READ, ngx_svc_pg_end_done,
                              conn);
    if (op == NULL) {
        goto failed;
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_end_backend);
    pid = ngx_pnalloc(pool, NGX_INT_T_LEN);
    if (call == NULL || pid == NULL) {
        goto failed;
    }

    ngx_svc_pg_bind(call, pid, ngx_sprintf(pid, "%ui", conn->backend.pid)
                               - pid);
    ngx_svc_pg_bind(call, conn->backend.start,
                    ngx_strlen(conn->backend.start));

    if (ngx_svc_pg_submit(op) != NGX_OK) {
        goto failed;
    }

    conn->end = op;

    return NGX_OK;

failed:

    ngx_destroy_pool(pool);

    return NGX_ERROR;
}


static void
ngx_svc_pg_end_done(ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_conn_t          *conn;
    ngx_svc_row_end_backend_t   row;

    conn = op->data;
    conn->end = NULL;

    if (op->status == NGX_SVC_PG_OK) {
        ngx_svc_row_end_backend(&row,
                      ngx_svc_pg_op_result(op, &ngx_svc_sql_end_backend), 0);

        if (row.ended == 0) {
            ngx_svc_pg_conn_ended(conn);
        }

    } else {
        ngx_svc_pg_op_failed(op, "a session that is silent cannot be ended");
    }

    ngx_destroy_pool(op->pool);
}
