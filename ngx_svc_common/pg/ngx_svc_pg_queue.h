/*
 * Ops that wait for a place.
 */

#ifndef _NGX_SVC_PG_QUEUE_H_INCLUDED_
#define _NGX_SVC_PG_QUEUE_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/*
 * At a worker's start; an op that is new (as of
 * ngx_svc_pg_submit()); one that waits is not to any more.
 */
void ngx_svc_pg_queue_init(ngx_svc_pg_pool_t *pool, ngx_pool_t *memory);
ngx_int_t ngx_svc_pg_queue_submit(ngx_svc_pg_pool_t *pool,
    ngx_svc_pg_op_t *op);
void ngx_svc_pg_queue_leave(ngx_svc_pg_op_t *op);

/* As of ngx_svc_pg_cancel(). */
void ngx_svc_pg_queue_cancel(ngx_svc_pg_op_t *op);

/*
 * What a connection tells: one of the pool's has places; an op was in flight on
 * one that is gone.
 */
void ngx_svc_pg_queue_dispatch(ngx_svc_pg_pool_t *pool);
void ngx_svc_pg_queue_lost(ngx_svc_pg_pool_t *pool, ngx_svc_pg_op_t *op);


#endif /* _NGX_SVC_PG_QUEUE_H_INCLUDED_ */
