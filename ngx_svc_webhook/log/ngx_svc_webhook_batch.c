/*
 * Rows of the delivery log that are to be written, in a batch for each tenant.
 */

#include "ngx_svc_webhook_acked.h"


typedef struct {
    ngx_rbtree_t       tree;
    ngx_rbtree_node_t  sentinel;
    ngx_uint_t         nrows;
} ngx_svc_webhook_batches_t;


static void ngx_svc_webhook_rows_free(ngx_queue_t *rows);
static void ngx_svc_webhook_row_gather(ngx_svc_webhook_row_t *row);


static ngx_svc_webhook_batches_t  ngx_svc_webhook_batches;


void
ngx_svc_webhook_batches_init(void)
{
    ngx_svc_webhook_batches_t  *batches;

    batches = &ngx_svc_webhook_batches;

    ngx_rbtree_init(&batches->tree, &batches->sentinel,
                    ngx_str_rbtree_insert_value);
    batches->nrows = 0;
}


ngx_uint_t
ngx_svc_webhook_batches_rows(void)
{
    return ngx_svc_webhook_batches.nrows;
}


ngx_svc_webhook_batch_t *
ngx_svc_webhook_batch(ngx_str_t *tenant, ngx_queue_t *list)
{
    uint32_t                    hash;
    ngx_svc_webhook_batch_t    *batch;
    ngx_svc_webhook_batches_t  *batches;

    batches = &ngx_svc_webhook_batches;

    hash = ngx_crc32_short(tenant->data, tenant->len);

    batch = (ngx_svc_webhook_batch_t *)
                ngx_str_rbtree_lookup(&batches->tree, tenant, hash);
    if (batch) {
        return batch;
    }

    batch = ngx_calloc(sizeof(ngx_svc_webhook_batch_t), ngx_cycle->log);
    if (batch == NULL) {
        return NULL;
    }

    ngx_queue_init(&batch->rows);
    ngx_queue_init(&batch->acked);
    ngx_queue_init(&batch->sent);

    ngx_memcpy(batch->tenant, tenant->data,
               ngx_min(tenant->len, sizeof(batch->tenant)));

    batch->node.node.key = hash;
    batch->node.str.data = batch->tenant;
    batch->node.str.len = ngx_min(tenant->len, sizeof(batch->tenant));

    batch->began = ngx_current_msec - NGX_SVC_WEBHOOK_INTERVAL;

    ngx_rbtree_insert(&batches->tree, &batch->node.node);
    ngx_queue_insert_tail(list, &batch->queue);

    return batch;
}


void
ngx_svc_webhook_batch_free(ngx_svc_webhook_batch_t *batch)
{
    ngx_svc_pg_drop(&batch->op);

    ngx_svc_webhook_batches.nrows -= batch->nrows + batch->nsent;

    ngx_svc_webhook_rows_free(&batch->rows);
    ngx_svc_webhook_rows_free(&batch->sent);

    ngx_queue_remove(&batch->queue);
    ngx_rbtree_delete(&ngx_svc_webhook_batches.tree, &batch->node.node);
    ngx_free(batch);
}


static void
ngx_svc_webhook_rows_free(ngx_queue_t *rows)
{
    ngx_queue_t            *q, *next;
    ngx_svc_webhook_row_t  *row;

    for (q = ngx_queue_head(rows); q != ngx_queue_sentinel(rows); q = next) {
        next = ngx_queue_next(q);
        row = ngx_queue_data(q, ngx_svc_webhook_row_t, queue);

        ngx_svc_webhook_acked_remove(row);
        ngx_free(row);
    }

    ngx_queue_init(rows);
}


ngx_svc_webhook_row_t *
ngx_svc_webhook_batch_row(ngx_svc_webhook_batch_t *batch, ngx_str_t *endpoint)
{
    ngx_svc_webhook_row_t  *row;

    row = ngx_calloc(sizeof(ngx_svc_webhook_row_t), ngx_cycle->log);
    if (row == NULL) {
        return NULL;
    }

    row->batch = batch;
    ngx_memcpy(row->endpoint, endpoint->data,
               ngx_min(endpoint->len, sizeof(row->endpoint)));

    ngx_queue_insert_tail(&batch->rows, &row->queue);
    batch->nrows++;
    ngx_svc_webhook_batches.nrows++;

    return row;
}


void
ngx_svc_webhook_batch_due(ngx_svc_webhook_batch_t *batch, ngx_msec_t ms)
{
    ngx_msec_t  turn;

    turn = batch->began + NGX_SVC_WEBHOOK_INTERVAL;
    batch->due = ngx_current_msec + ms;

    if ((ngx_msec_int_t) (turn - batch->due) > 0) {
        batch->due = turn;
    }
}


void
ngx_svc_webhook_batch_take(ngx_svc_webhook_batch_t *batch)
{
    ngx_queue_t            *q;
    ngx_svc_webhook_row_t  *row;

    batch->audit = 0;

    while (batch->nsent < NGX_SVC_WEBHOOK_ROWS
           && !ngx_queue_empty(&batch->rows))
    {
        q = ngx_queue_head(&batch->rows);
        row = ngx_queue_data(q, ngx_svc_webhook_row_t, queue);

        ngx_svc_webhook_acked_remove(row);
        ngx_queue_remove(q);
        ngx_queue_insert_tail(&batch->sent, q);

        batch->audit |= row->audit;
        batch->nrows--;
        batch->nsent++;
    }
}


/* Rows that were not written are the first ones of the next op. */

void
ngx_svc_webhook_batch_return(ngx_svc_webhook_batch_t *batch)
{
    if (ngx_queue_empty(&batch->sent)) {
        return;
    }

    if (!ngx_queue_empty(&batch->rows)) {
        ngx_queue_add(&batch->sent, &batch->rows);
        ngx_queue_init(&batch->rows);
    }

    ngx_queue_add(&batch->rows, &batch->sent);
    ngx_queue_init(&batch->sent);

    batch->nrows += batch->nsent;
    batch->nsent = 0;
}


void
ngx_svc_webhook_batch_written(ngx_svc_webhook_batch_t *batch)
{
    ngx_svc_webhook_batches.nrows -= batch->nsent;
    batch->nsent = 0;

    ngx_svc_webhook_rows_free(&batch->sent);
}


void
ngx_svc_webhook_batch_acked(ngx_svc_webhook_row_t *row)
{
    ngx_svc_webhook_row_t  *oldest;

    oldest = ngx_svc_webhook_acked_add(row);

    ngx_svc_webhook_row_gather(row);

    if (oldest) {
        ngx_queue_remove(&oldest->queue);
        oldest->batch->nrows--;
        ngx_svc_webhook_batches.nrows--;
        ngx_free(oldest);
    }
}


/*
 * Moves a row next to the one before it of its endpoint.  An op has rows of
 * few endpoints then, each of which is locked and trimmed.
 */

static void
ngx_svc_webhook_row_gather(ngx_svc_webhook_row_t *row)
{
    ngx_queue_t            *q;
    ngx_svc_webhook_row_t  *before;

    if (row->acked == NULL) {
        return;
    }

    q = ngx_queue_prev(&row->acked_queue);

    if (q == ngx_queue_sentinel(&row->acked->rows)) {
        return;
    }

    before = ngx_queue_data(q, ngx_svc_webhook_row_t, acked_queue);

    ngx_queue_remove(&row->queue);
    ngx_queue_insert_after(&before->queue, &row->queue);
}
