/*
 * Deletes attempts of an endpoint beyond those that are kept.
 *
 * It has a transaction of its own, after the rows that made it due: if it
 * fails no row is lost, and the endpoint's next one makes up for it.
 */

#include "ngx_svc_webhook_trim.h"


#include "ngx_svc_webhook_trim.sql.h"


static ngx_int_t ngx_svc_webhook_trim_bind(ngx_svc_webhook_batch_t *batch,
    ngx_svc_pg_op_t *op);


ngx_svc_pg_op_t *
ngx_svc_webhook_trim(ngx_svc_webhook_batch_t *batch,
    ngx_svc_pg_handler_pt handler)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_helper_op_create(NGX_SVC_PG_WRITE, &batch->node.str, 1,
                                  handler, batch);
    if (op == NULL) {
        return NULL;
    }

    if (ngx_svc_webhook_trim_bind(batch, op) != NGX_OK
        || ngx_svc_pg_submit(op) != NGX_OK)
    {
        ngx_destroy_pool(op->pool);
        return NULL;
    }

    return op;
}


/*
 * Binds the endpoints of the rows sent; neighbours that are equal count once.
 */

static ngx_int_t
ngx_svc_webhook_trim_bind(ngx_svc_webhook_batch_t *batch, ngx_svc_pg_op_t *op)
{
    u_char                 *ids, *p, *last;
    ngx_queue_t            *q;
    ngx_svc_pg_call_t      *call;
    ngx_svc_webhook_row_t  *row;

    ids = ngx_pnalloc(op->pool,
                      batch->nsent * (NGX_SVC_UUID_TEXT_LEN + 1) + 2);
    call = ngx_svc_pg_call(op, &ngx_svc_sql_webhook_trim);

    if (ids == NULL || call == NULL) {
        return NGX_ERROR;
    }

    p = ids;
    *p++ = '{';
    last = NULL;

    for (q = ngx_queue_head(&batch->sent);
         q != ngx_queue_sentinel(&batch->sent);
         q = ngx_queue_next(q))
    {
        row = ngx_queue_data(q, ngx_svc_webhook_row_t, queue);

        if (last && ngx_memcmp(last, row->endpoint, sizeof(row->endpoint))
                    == 0)
        {
            continue;
        }

        if (last) {
            *p++ = ',';
        }

        last = row->endpoint;
        p = ngx_cpymem(p, row->endpoint, sizeof(row->endpoint));
    }

    *p++ = '}';

    ngx_svc_pg_bind(call, ids, p - ids);

    return NGX_OK;
}
