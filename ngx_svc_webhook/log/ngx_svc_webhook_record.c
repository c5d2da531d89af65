/*
 * The outcomes of deliveries, in PostgreSQL.
 *
 * Rows wait for a moment in a batch of their tenant, and are written by one
 * op; those of a busy tenant wait longer, and most of them are never written.
 * A batch without audit events does not wait for the disk.
 */

#include "ngx_svc_webhook_record.h"
#include "ngx_svc_lane.h"
#include "ngx_svc_webhook_expire.h"
#include "ngx_svc_webhook_record_write.h"
#include "ngx_svc_webhook_trim.h"
#include "ngx_svc_redis_pubsub.h"


#define NGX_SVC_WEBHOOK_ROWS_MAX      16384     /* rows in memory, at most */
#define NGX_SVC_WEBHOOK_OPS           2         /* ops under way at a time */
#define NGX_SVC_WEBHOOK_DELAY         500       /* ms that the first row
                                                   waits */
#define NGX_SVC_WEBHOOK_RECORD_PAUSE  1000      /* ms after PostgreSQL failed */
#define NGX_SVC_WEBHOOK_TRIES         10        /* tries of rows that PostgreSQL
                                                   refuses */


typedef struct {
    ngx_queue_t                waiting;     /* batches without an op */
    ngx_queue_t                sending;
    ngx_uint_t                 nops;
    ngx_uint_t                 nlost;
    ngx_event_t                timer;
    void                     (*flushed)(void);
} ngx_svc_webhook_records_t;


static void ngx_svc_webhook_record_more(ngx_str_t *tenant, ngx_str_t *endpoint,
    ngx_uint_t n);
static ngx_svc_webhook_row_t *ngx_svc_webhook_record_row(ngx_str_t *tenant,
    ngx_str_t *endpoint);
static void ngx_svc_webhook_records_soon(ngx_msec_t ms);
static void ngx_svc_webhook_records_next(void);
static void ngx_svc_webhook_records_timer(ngx_event_t *ev);
static ngx_int_t ngx_svc_webhook_batch_send(ngx_svc_webhook_batch_t *batch);
static void ngx_svc_webhook_batch_done(ngx_svc_pg_op_t *op);
static void ngx_svc_webhook_batch_next(ngx_svc_webhook_batch_t *batch);
static void ngx_svc_webhook_batch_trimmed(ngx_svc_pg_op_t *op);
static void ngx_svc_webhook_batch_end(ngx_svc_webhook_batch_t *batch,
    ngx_uint_t again);
static ngx_uint_t ngx_svc_webhook_batch_again(ngx_svc_webhook_batch_t *batch,
    ngx_svc_pg_op_t *op);
static void ngx_svc_webhook_records_flushed(void);


static ngx_svc_webhook_records_t  ngx_svc_webhook_records;


ngx_int_t
ngx_svc_webhook_record_init(ngx_cycle_t *cycle)
{
    ngx_svc_webhook_records_t  *records;

    records = &ngx_svc_webhook_records;

    ngx_memzero(records, sizeof(ngx_svc_webhook_records_t));

    ngx_queue_init(&records->waiting);
    ngx_queue_init(&records->sending);

    records->timer.handler = ngx_svc_webhook_records_timer;
    records->timer.data = records;
    records->timer.log = cycle->log;
    records->timer.cancelable = 1;

    ngx_svc_webhook_batches_init();
    ngx_svc_pg_task_init(&ngx_svc_webhook_expire, cycle);

    return ngx_svc_webhook_failure_init(cycle, ngx_svc_webhook_record_more);
}


void
ngx_svc_webhook_record_exit(void)
{
    ngx_uint_t                  i;
    ngx_queue_t                *q, *list;
    ngx_svc_webhook_records_t  *records;

    records = &ngx_svc_webhook_records;

    ngx_svc_webhook_failure_exit();
    ngx_svc_pg_task_exit(&ngx_svc_webhook_expire);

    for (i = 0; i < 2; i++) {
        list = i ? &records->sending : &records->waiting;

        while (!ngx_queue_empty(list)) {
            q = ngx_queue_head(list);
            ngx_svc_webhook_batch_free(ngx_queue_data(q,
                                              ngx_svc_webhook_batch_t, queue));
        }
    }

    if (records->timer.timer_set) {
        ngx_del_timer(&records->timer);
    }
}


void
ngx_svc_webhook_record(ngx_svc_webhook_delivery_t *d,
    ngx_svc_outbound_result_t *result, ngx_svc_webhook_record_e outcome)
{
    ngx_uint_t              audit;
    ngx_svc_webhook_row_t  *row;

    audit = 0;

    if (outcome == NGX_SVC_WEBHOOK_R_ABANDONED
        || outcome == NGX_SVC_WEBHOOK_R_REFUSED
        || outcome == NGX_SVC_WEBHOOK_R_DROPPED)
    {
        audit = ngx_svc_webhook_failure(d, result, outcome);
    }

    if (outcome == NGX_SVC_WEBHOOK_R_DROPPED && !audit) {
        return;
    }

    row = ngx_svc_webhook_record_row(&d->tenant, &d->endpoint);
    if (row == NULL) {
        return;
    }

    row->began = result->began;
    row->duration = result->duration;
    row->attempt = d->attempts;
    row->status = result->status;
    row->outcome = outcome;
    row->audit = audit;
    row->error_len = ngx_min(result->error.len, NGX_SVC_OUTBOUND_REASON);
    row->event_len = ngx_min(d->event.len, NGX_SVC_WEBHOOK_EVENT_MAX);

    ngx_memcpy(row->id, d->id.data, ngx_min(d->id.len, sizeof(row->id)));
    ngx_memcpy(row->event_id, d->event_id.data,
               ngx_min(d->event_id.len, sizeof(row->event_id)));
    ngx_memcpy(row->event, d->event.data, row->event_len);
    ngx_memcpy(row->error, result->error.data, row->error_len);

    if (outcome == NGX_SVC_WEBHOOK_R_ACKNOWLEDGED) {
        ngx_svc_webhook_batch_acked(row);
    }
}


/* Adds a row for the audit log: n failures without rows of their own. */

static void
ngx_svc_webhook_record_more(ngx_str_t *tenant, ngx_str_t *endpoint,
    ngx_uint_t n)
{
    ngx_svc_webhook_row_t  *row;

    row = ngx_svc_webhook_record_row(tenant, endpoint);

    if (row) {
        row->more = n;
        row->audit = 1;
    }
}


/* Adds a row to be written.  NULL: it cannot be stored. */

static ngx_svc_webhook_row_t *
ngx_svc_webhook_record_row(ngx_str_t *tenant, ngx_str_t *endpoint)
{
    ngx_svc_webhook_row_t      *row;
    ngx_svc_webhook_batch_t    *batch;
    ngx_svc_webhook_records_t  *records;

    records = &ngx_svc_webhook_records;

    if (ngx_svc_webhook_batches_rows() == NGX_SVC_WEBHOOK_ROWS_MAX) {
        records->nlost++;
        return NULL;
    }

    batch = ngx_svc_webhook_batch(tenant, &records->waiting);
    row = batch ? ngx_svc_webhook_batch_row(batch, endpoint) : NULL;

    if (row == NULL) {
        records->nlost++;
        return NULL;
    }

    if (batch->nrows == 1) {
        ngx_svc_webhook_batch_due(batch, NGX_SVC_WEBHOOK_DELAY);
        ngx_svc_webhook_records_soon(batch->due - ngx_current_msec);
    }

    return row;
}


void
ngx_svc_webhook_record_flush(void (*done)(void))
{
    ngx_svc_webhook_records_t  *records;

    records = &ngx_svc_webhook_records;

    ngx_svc_webhook_failure_flush();

    records->flushed = done;

    ngx_svc_webhook_records_soon(1);
}


/* Sets the timer to ms, unless it fires earlier. */

static void
ngx_svc_webhook_records_soon(ngx_msec_t ms)
{
    ngx_event_t  *timer;

    timer = &ngx_svc_webhook_records.timer;

    if (timer->timer_set) {

        if ((ngx_msec_int_t) (timer->timer.key - ngx_current_msec)
            <= (ngx_msec_int_t) ms)
        {
            return;
        }

        ngx_del_timer(timer);
    }

    ngx_add_timer(timer, ms);
}


static void
ngx_svc_webhook_records_timer(ngx_event_t *ev)
{
    ngx_queue_t                *q, *next;
    ngx_svc_webhook_batch_t    *batch;
    ngx_svc_webhook_records_t  *records;

    records = &ngx_svc_webhook_records;

    if (records->nlost) {
        ngx_log_error(NGX_LOG_ERR, ev->log, 0,
                      "%ui attempts to deliver webhooks are not in the "
                      "delivery log: PostgreSQL does not take them in time",
                      records->nlost);
        records->nlost = 0;
    }

    for (q = ngx_queue_head(&records->waiting);
         q != ngx_queue_sentinel(&records->waiting)
         && records->nops < NGX_SVC_WEBHOOK_OPS;
         q = next)
    {
        next = ngx_queue_next(q);
        batch = ngx_queue_data(q, ngx_svc_webhook_batch_t, queue);

        if ((ngx_msec_int_t) (batch->due - ngx_current_msec) > 0
            && records->flushed == NULL)
        {
            continue;
        }

        if (batch->nrows == 0) {
            ngx_svc_webhook_batch_free(batch);
            continue;
        }

        if (ngx_svc_webhook_batch_send(batch) != NGX_OK) {
            ngx_svc_webhook_batch_return(batch);
            batch->due = ngx_current_msec + NGX_SVC_WEBHOOK_RECORD_PAUSE;
            break;
        }

        ngx_queue_remove(q);
        ngx_queue_insert_tail(&records->sending, q);
        records->nops++;
    }

    ngx_svc_webhook_records_next();
    ngx_svc_webhook_records_flushed();
}


/*
 * Sets the timer for the next batch.  If all ops are in use, the end of one
 * calls this again.
 */

static void
ngx_svc_webhook_records_next(void)
{
    ngx_queue_t                *q;
    ngx_msec_int_t              ms, least;
    ngx_svc_webhook_batch_t    *batch;
    ngx_svc_webhook_records_t  *records;

    records = &ngx_svc_webhook_records;

    if (ngx_queue_empty(&records->waiting)
        || records->nops == NGX_SVC_WEBHOOK_OPS)
    {
        return;
    }

    least = NGX_SVC_WEBHOOK_INTERVAL;

    for (q = ngx_queue_head(&records->waiting);
         q != ngx_queue_sentinel(&records->waiting);
         q = ngx_queue_next(q))
    {
        batch = ngx_queue_data(q, ngx_svc_webhook_batch_t, queue);
        ms = batch->due - ngx_current_msec;
        least = ngx_min(least, ms);
    }

    ngx_svc_webhook_records_soon(ngx_max(least, 1));
}


static ngx_int_t
ngx_svc_webhook_batch_send(ngx_svc_webhook_batch_t *batch)
{
    ngx_int_t         rc;
    ngx_svc_pg_op_t  *op;

    batch->began = ngx_current_msec;
    ngx_svc_webhook_batch_take(batch);

    op = ngx_svc_helper_op_create(NGX_SVC_PG_WRITE, &batch->node.str,
                                  !batch->audit, ngx_svc_webhook_batch_done,
                                  batch);
    if (op == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_webhook_record_bind(batch, op);

    return ngx_svc_helper_op_submit(op, rc, &batch->op);
}


static void
ngx_svc_webhook_batch_done(ngx_svc_pg_op_t *op)
{
    ngx_uint_t                again, written;
    ngx_svc_webhook_batch_t  *batch;

    batch = op->data;

    again = ngx_svc_webhook_batch_again(batch, op);
    written = op->status == NGX_SVC_PG_OK;

    if (written && batch->audit) {
        ngx_svc_redis_publish(NGX_SVC_AUDIT_CHANNEL, &batch->node.str);
    }

    ngx_destroy_pool(op->pool);
    batch->op = NULL;

    if (again) {
        ngx_svc_webhook_batch_return(batch);
        batch->due = ngx_current_msec + NGX_SVC_WEBHOOK_RECORD_PAUSE;

    } else {
        if (written) {
            batch->op = ngx_svc_webhook_trim(batch,
                                             ngx_svc_webhook_batch_trimmed);
        }

        ngx_svc_webhook_batch_next(batch);
    }

    if (batch->op == NULL) {
        ngx_svc_webhook_batch_end(batch, again);
    }

    ngx_svc_webhook_records_flushed();
}


/* The rows were written, or given up. */

static void
ngx_svc_webhook_batch_next(ngx_svc_webhook_batch_t *batch)
{
    ngx_svc_webhook_batch_written(batch);

    if (batch->nrows < NGX_SVC_WEBHOOK_ROWS) {
        ngx_svc_webhook_batch_due(batch, NGX_SVC_WEBHOOK_DELAY);

    } else {
        batch->due = ngx_current_msec;
    }
}


static void
ngx_svc_webhook_batch_trimmed(ngx_svc_pg_op_t *op)
{
    ngx_svc_webhook_batch_t  *batch;

    batch = op->data;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, "the delivery log of webhooks cannot be "
                             "trimmed: it will be tried again");
    }

    ngx_destroy_pool(op->pool);
    batch->op = NULL;

    ngx_svc_webhook_batch_end(batch, 0);
}


/* A batch's op has ended: another batch may have one. */

static void
ngx_svc_webhook_batch_end(ngx_svc_webhook_batch_t *batch, ngx_uint_t again)
{
    ngx_svc_webhook_records_t  *records;

    records = &ngx_svc_webhook_records;

    records->nops--;

    ngx_queue_remove(&batch->queue);
    ngx_queue_insert_tail(&records->waiting, &batch->queue);

    if (records->flushed && !again) {
        ngx_svc_webhook_records_soon(1);

    } else {
        ngx_svc_webhook_records_next();
    }
}


/* Returns whether to send the rows again. */

static ngx_uint_t
ngx_svc_webhook_batch_again(ngx_svc_webhook_batch_t *batch,
    ngx_svc_pg_op_t *op)
{
    if (op->status == NGX_SVC_PG_OK) {
        batch->tries = 0;
        return 0;
    }

    ngx_svc_pg_op_failed(op, "attempts to deliver webhooks cannot be "
                         "written to the delivery log");

    if (op->status == NGX_SVC_PG_FAILED && !ngx_svc_pg_op_transient(op)
        && ++batch->tries >= NGX_SVC_WEBHOOK_TRIES)
    {
        ngx_svc_webhook_records.nlost += batch->nsent;
        batch->tries = 0;
        return 0;
    }

    return 1;
}


static void
ngx_svc_webhook_records_flushed(void)
{
    if (ngx_svc_webhook_batches_rows() == 0) {
        ngx_svc_lane_done(&ngx_svc_webhook_records.flushed);
    }
}
