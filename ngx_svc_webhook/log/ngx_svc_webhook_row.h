/*
 * Rows of the delivery log that wait to be written; between the files that do
 * so.
 */

#ifndef _NGX_SVC_WEBHOOK_ROW_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ROW_H_INCLUDED_


#include "ngx_svc_webhook_entry.h"
#include "ngx_svc_webhook_op.h"
#include "ngx_svc_webhook_record.h"


#define NGX_SVC_WEBHOOK_ROWS  256       /* in an op, at most */
#define NGX_SVC_WEBHOOK_KEPT  100       /* acknowledged ones of an endpoint, and
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


/*
 * ngx_svc_webhook_acked.c: a row that was acknowledged and waits; returns the
 * oldest one of its endpoint when that need not be written any more, or NULL.
 */
ngx_svc_webhook_row_t *ngx_svc_webhook_acked_add(ngx_svc_webhook_row_t *row);

/* A row waits no more; nothing happens to one that was not added. */
void ngx_svc_webhook_acked_remove(ngx_svc_webhook_row_t *row);

/*
 * ngx_svc_webhook_record_write.c: takes rows that wait into batch->sent, as
 * many as go out in an op; gives them back, as the first ones of the next op;
 * adds the statement for them.
 */
void ngx_svc_webhook_batch_take(ngx_svc_webhook_batch_t *batch);
void ngx_svc_webhook_batch_return(ngx_svc_webhook_batch_t *batch);
ngx_int_t ngx_svc_webhook_batch_bind(ngx_svc_webhook_batch_t *batch,
    ngx_svc_pg_op_t *op);

/*
 * ngx_svc_webhook_trim.c: sends an op that deletes what is too much of the
 * endpoints in batch->sent.  The handler destroys its pool.  NULL when memory
 * runs out or no place is free.
 */
ngx_svc_pg_op_t *ngx_svc_webhook_trim(ngx_svc_webhook_batch_t *batch,
    ngx_svc_pg_handler_pt handler);

/* ngx_svc_webhook_expire.c: deletes what is older than a week, once an hour. */
void ngx_svc_webhook_expire_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_expire_exit(void);


#endif /* _NGX_SVC_WEBHOOK_ROW_H_INCLUDED_ */
