/*
 * Rows of the delivery log that are to be written, in a batch for each tenant.
 */

#ifndef _NGX_SVC_WEBHOOK_BATCH_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_BATCH_H_INCLUDED_


#include "ngx_svc_webhook_entry.h"
#include "ngx_svc_helper_op.h"
#include "ngx_svc_webhook_failure.h"


#define NGX_SVC_WEBHOOK_ROWS      256   /* rows of an op, at most */
#define NGX_SVC_WEBHOOK_INTERVAL  3000  /* ms between ops of a tenant */
#define NGX_SVC_WEBHOOK_RETAINED  100   /* rows kept of an endpoint:
                                           acknowledged, and as many others */


/*
 * Acknowledged attempts of an endpoint that are to be written: never more than
 * the log keeps.
 */

typedef struct {
    ngx_queue_t                queue;       /* in the batch's acked */
    ngx_queue_t                rows;        /* oldest first */
    ngx_uint_t                 nrows;
    u_char                     endpoint[NGX_SVC_UUID_TEXT_LEN];
} ngx_svc_webhook_acked_t;


typedef struct ngx_svc_webhook_batch_s  ngx_svc_webhook_batch_t;


typedef struct {
    ngx_queue_t                queue;
    ngx_svc_webhook_batch_t   *batch;
    ngx_queue_t                acked_queue;
    ngx_svc_webhook_acked_t   *acked;       /* the list that has the row; or
                                               NULL */
    int64_t                    began;
    ngx_msec_t                 duration;
    ngx_uint_t                 attempt;
    ngx_uint_t                 status;
    ngx_uint_t                 more;        /* 0, or number of failures without
                                               rows: then this is no attempt */
    ngx_svc_webhook_record_e   outcome;
    unsigned                   audit:1;
    size_t                     error_len;
    size_t                     event_len;
    u_char                     id[NGX_SVC_ID_DIGITS];
    u_char                     event_id[NGX_SVC_ID_DIGITS];
    u_char                     endpoint[NGX_SVC_UUID_TEXT_LEN];
    u_char                     event[NGX_SVC_WEBHOOK_EVENT_MAX];
    u_char                     error[NGX_SVC_OUTBOUND_REASON];
} ngx_svc_webhook_row_t;


/* The rows of a tenant. */

struct ngx_svc_webhook_batch_s {
    ngx_str_node_t             node;        /* the tenant */
    ngx_queue_t                queue;       /* in the list of waiting or sending
                                               batches */
    ngx_queue_t                rows;
    ngx_uint_t                 nrows;
    ngx_queue_t                acked;       /* ngx_svc_webhook_acked_t */
    ngx_queue_t                sent;        /* rows in the op */
    ngx_uint_t                 nsent;
    ngx_uint_t                 tries;
    ngx_msec_t                 due;         /* when rows are to be written */
    ngx_msec_t                 began;       /* when the last op began */
    ngx_svc_pg_op_t           *op;          /* under way, or NULL */
    unsigned                   audit:1;     /* the op has audit events */
    u_char                     tenant[NGX_SVC_UUID_TEXT_LEN];
};


/* Called at the helper's start. */
void ngx_svc_webhook_batches_init(void);

/* Returns the number of rows in all batches. */
ngx_uint_t ngx_svc_webhook_batches_rows(void);

/*
 * Returns the batch of a tenant; a new one is added to the list.  NULL: no
 * memory.
 */
ngx_svc_webhook_batch_t *ngx_svc_webhook_batch(ngx_str_t *tenant,
    ngx_queue_t *list);

/* Removes a batch from its list, and frees it with its rows and its op. */
void ngx_svc_webhook_batch_free(ngx_svc_webhook_batch_t *batch);

/*
 * Adds a row, zeroed except its endpoint; the batch frees it.  NULL: no
 * memory.
 */
ngx_svc_webhook_row_t *ngx_svc_webhook_batch_row(
    ngx_svc_webhook_batch_t *batch, ngx_str_t *endpoint);

/* Sets the batch due in ms, but not before the tenant's next op may be sent. */
void ngx_svc_webhook_batch_due(ngx_svc_webhook_batch_t *batch, ngx_msec_t ms);

/* Moves rows into batch->sent, as many as an op may have. */
void ngx_svc_webhook_batch_take(ngx_svc_webhook_batch_t *batch);

/* Moves batch->sent back, to be first in the next op. */
void ngx_svc_webhook_batch_return(ngx_svc_webhook_batch_t *batch);

/* Frees batch->sent. */
void ngx_svc_webhook_batch_written(ngx_svc_webhook_batch_t *batch);

/*
 * The row was acknowledged: it replaces its endpoint's oldest row if there are
 * enough.
 */
void ngx_svc_webhook_batch_acked(ngx_svc_webhook_row_t *row);


#endif /* _NGX_SVC_WEBHOOK_BATCH_H_INCLUDED_ */
