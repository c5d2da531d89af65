/*
 * The helper's statements in PostgreSQL.
 */

#include "ngx_svc_webhook_op.h"


static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_tenant = {
    .name = "webhook_tenant",
    .text =
        "SELECT set_config('svc.tenant', $1, true),"
            " set_config('synchronous_commit', CASE WHEN $2::bool THEN 'off'"
            " ELSE current_setting('synchronous_commit') END, true)",
    .nparams = 2
};

ngx_svc_pg_statements_t  ngx_svc_webhook_op_statements[] = {
    &ngx_svc_sql_webhook_tenant,
    NULL
};


ngx_svc_pg_op_t *
ngx_svc_webhook_op_create(ngx_svc_pg_pool_e kind, ngx_str_t *tenant,
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

    call = ngx_svc_pg_call(op, &ngx_svc_sql_webhook_tenant);
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


void
ngx_svc_webhook_op_failed(ngx_svc_pg_op_t *op, const char *what)
{
    ngx_str_t  text;

    static const char *const  reasons[] = {
        [NGX_SVC_PG_BUSY] = "PostgreSQL has no connection free",
        [NGX_SVC_PG_UNAVAILABLE] = "PostgreSQL has no connection up",
        [NGX_SVC_PG_LOST] = "the connection to PostgreSQL was lost"
    };

    if (op->status == NGX_SVC_PG_FAILED) {
        text = ngx_svc_pg_message(PQresultErrorMessage(op->error));

    } else {
        text.data = (u_char *) reasons[op->status];
        text.len = ngx_strlen(text.data);
    }

    ngx_svc_pg_log(NGX_LOG_ERR, what, &text);
}
