/*
 * Rows of the delivery log that wait to be written, in a batch for each tenant.
 */

#ifndef _NGX_SVC_WEBHOOK_BATCH_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_BATCH_H_INCLUDED_


#include "ngx_svc_webhook_entry.h"
#include "ngx_svc_webhook_op.h"
#include "ngx_svc_webhook_failure.h"


#define NGX_SVC_WEBHOOK_ROWS      256   /* in an op, at most */
#define NGX_SVC_WEBHOOK_INTERVAL  3000  /* ms between ops of a tenant */
#define NGX_SVC_WEBHOOK_RETAINED  100   /* acknowledged ones of an endpoint, and
                                           others */


/*
 * Attempts of an endpoint that were acknowledged and wait to be written: more
 * than are kept need not be.
 */

typedef struct {
    ngx_queue_t                queue;       /* the batch's */
    ngx_queue_t                rows;        /* the oldest one first */
    ngx_uint_t                 nrows;
    u_char                     endpoint[NGX_SVC_UUID_TEXT_LEN];
} ngx_svc_webhook_acked_t;


typedef struct ngx_svc_webhook_batch_s  ngx_svc_webhook_batch_t;


typedef struct {
    ngx_queue_t                queue;
    ngx_svc_webhook_batch_t   *batch;
    ngx_queue_t                acked_queue;
    ngx_svc_webhook_acked_t   *acked;       /* whose queue it is in, or NULL */
    int64_t                    began;
    ngx_msec_t                 duration;
    ngx_uint_t                 attempt;
    ngx_uint_t                 status;
    ngx_uint_t                 more;        /* no attempt, but a number */
    ngx_svc_webhook_record_e   outcome;
    unsigned                   audit:1;
    size_t                     error_len;
    size_t                     event_len;
    u_char                     id[NGX_SVC_WEBHOOK_ID];
    u_char                     event_id[NGX_SVC_WEBHOOK_ID];
    u_char                     endpoint[NGX_SVC_UUID_TEXT_LEN];
    u_char                     event[NGX_SVC_WEBHOOK_EVENT_MAX];
    u_char                     error[NGX_SVC_WEBHOOK_REASON];
} ngx_svc_webhook_row_t;


/* Rows of a tenant. */

struct ngx_svc_webhook_batch_s {
    ngx_str_node_t             node;        /* the tenant */
    ngx_queue_t                queue;       /* of those that wait */
    ngx_queue_t                rows;
    ngx_uint_t                 nrows;
    ngx_queue_t                acked;       /* ngx_svc_webhook_acked_t */
    ngx_queue_t                sent;        /* in the op */
    ngx_uint_t                 nsent;
    ngx_uint_t                 tries;
    ngx_msec_t                 due;         /* when the rows are to go */
    ngx_msec_t                 began;       /* of the last op */
    ngx_svc_pg_op_t           *op;          /* in flight */
    unsigned                   audit:1;     /* the op has audit events */
    u_char                     tenant[NGX_SVC_UUID_TEXT_LEN];
};


/* At the helper's start. */
void ngx_svc_webhook_batches_init(void);

/* How many rows there are in all batches. */
ngx_uint_t ngx_svc_webhook_batches_rows(void);

/*
 * That of a tenant; a new one is added to the list.  NULL when memory runs out.
 * Free takes it off its list, with its rows, and its op.
 */
ngx_svc_webhook_batch_t *ngx_svc_webhook_batch(ngx_str_t *tenant,
    ngx_queue_t *list);
void ngx_svc_webhook_batch_free(ngx_svc_webhook_batch_t *batch);

/*
 * A new row, zeroed but for its endpoint, which waits; the batch frees it.
 * NULL when memory runs out.
 */
ngx_svc_webhook_row_t *ngx_svc_webhook_batch_row(
    ngx_svc_webhook_batch_t *batch, ngx_str_t *endpoint);

/* Due in so many ms, but not before the tenant's next op may be sent. */
void ngx_svc_webhook_batch_due(ngx_svc_webhook_batch_t *batch, ngx_msec_t ms);

/*
 * Takes rows that wait into batch->sent, as many as go out in an op; gives them
 * back, as the first ones of the next op; frees them.
 */
void ngx_svc_webhook_batch_take(ngx_svc_webhook_batch_t *batch);
void ngx_svc_webhook_batch_return(ngx_svc_webhook_batch_t *batch);
void ngx_svc_webhook_batch_written(ngx_svc_webhook_batch_t *batch);

/*
 * The row was acknowledged: it takes the place of its endpoint's oldest one, if
 * there are enough.
 */
void ngx_svc_webhook_batch_acked(ngx_svc_webhook_row_t *row);


#endif /* _NGX_SVC_WEBHOOK_BATCH_H_INCLUDED_ */
