/*
 * Rows of acknowledged attempts that are to be written: never more of an
 * endpoint than its delivery log keeps, so that a busy one costs no more than
 * others.
 */

#include "ngx_svc_webhook_acked.h"


static ngx_svc_webhook_acked_t *ngx_svc_webhook_acked(
    ngx_svc_webhook_batch_t *batch, u_char *endpoint);


ngx_svc_webhook_row_t *
ngx_svc_webhook_acked_add(ngx_svc_webhook_row_t *row)
{
    ngx_svc_webhook_row_t    *oldest;
    ngx_svc_webhook_acked_t  *acked;

    acked = ngx_svc_webhook_acked(row->batch, row->endpoint);
    if (acked == NULL) {
        return NULL;
    }

    row->acked = acked;
    ngx_queue_insert_tail(&acked->rows, &row->acked_queue);

    if (++acked->nrows <= NGX_SVC_WEBHOOK_RETAINED) {
        return NULL;
    }

    oldest = ngx_queue_data(ngx_queue_head(&acked->rows),
                            ngx_svc_webhook_row_t, acked_queue);

    ngx_svc_webhook_acked_remove(oldest);

    return oldest;
}


/*
 * Finds or adds an endpoint; a tenant has at most a hundred.  NULL: no memory.
 */

static ngx_svc_webhook_acked_t *
ngx_svc_webhook_acked(ngx_svc_webhook_batch_t *batch, u_char *endpoint)
{
    ngx_queue_t              *q;
    ngx_svc_webhook_acked_t  *acked;

    for (q = ngx_queue_head(&batch->acked);
         q != ngx_queue_sentinel(&batch->acked);
         q = ngx_queue_next(q))
    {
        acked = ngx_queue_data(q, ngx_svc_webhook_acked_t, queue);

        if (ngx_memcmp(acked->endpoint, endpoint, sizeof(acked->endpoint))
            == 0)
        {
            return acked;
        }
    }

    acked = ngx_calloc(sizeof(ngx_svc_webhook_acked_t), ngx_cycle->log);
    if (acked == NULL) {
        return NULL;
    }

    ngx_memcpy(acked->endpoint, endpoint, sizeof(acked->endpoint));
    ngx_queue_init(&acked->rows);
    ngx_queue_insert_tail(&batch->acked, &acked->queue);

    return acked;
}


void
ngx_svc_webhook_acked_remove(ngx_svc_webhook_row_t *row)
{
    ngx_svc_webhook_acked_t  *acked;

    acked = row->acked;

    if (acked == NULL) {
        return;
    }

    ngx_queue_remove(&row->acked_queue);
    row->acked = NULL;

    if (--acked->nrows == 0) {
        ngx_queue_remove(&acked->queue);
        ngx_free(acked);
    }
}
