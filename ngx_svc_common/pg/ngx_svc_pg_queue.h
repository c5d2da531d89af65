/*
 * Ops that wait for a slot.
 */

#ifndef _NGX_SVC_PG_QUEUE_H_INCLUDED_
#define _NGX_SVC_PG_QUEUE_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/* Called when a worker starts.  memory: the pool for backlogs. */
void ngx_svc_pg_queue_init(ngx_svc_pg_pool_t *pool, ngx_pool_t *memory);

/* Does what ngx_svc_pg_submit() promises. */
ngx_int_t ngx_svc_pg_queue_submit(ngx_svc_pg_pool_t *pool,
    ngx_svc_pg_op_t *op);

/* Takes an op that waits out of the queue. */
void ngx_svc_pg_queue_leave(ngx_svc_pg_op_t *op);

/* Does what ngx_svc_pg_cancel() promises. */
void ngx_svc_pg_queue_cancel(ngx_svc_pg_op_t *op);

/* Sends ops that wait; called when a connection of the pool has free slots. */
void ngx_svc_pg_queue_dispatch(ngx_svc_pg_pool_t *pool);

/* Ends an op, or sends it again, whose connection is gone. */
void ngx_svc_pg_queue_lost(ngx_svc_pg_pool_t *pool, ngx_svc_pg_op_t *op);


#endif /* _NGX_SVC_PG_QUEUE_H_INCLUDED_ */
