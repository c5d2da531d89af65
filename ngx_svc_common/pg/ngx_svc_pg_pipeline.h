/*
 * Ops on a connection.
 */

#ifndef _NGX_SVC_PG_PIPELINE_H_INCLUDED_
#define _NGX_SVC_PG_PIPELINE_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/*
 * Sends an op: it goes out at the end of this iteration of the event loop,
 * with all other ops that the connection is given until then.  Returns NGX_OK,
 * or NGX_ERROR when the op could not be sent, and the connection is BROKEN.
 */
ngx_int_t ngx_svc_pg_pipeline_send(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_op_t *op);

/* Writes what libpq holds, with a write event as long as there is more. */
ngx_int_t ngx_svc_pg_pipeline_flush(ngx_svc_pg_conn_t *conn);

/* The handler of conn->flush. */
void ngx_svc_pg_pipeline_flush_event(ngx_event_t *ev);

/*
 * Reads results, and hands them to their ops.  Returns NGX_OK; NGX_ERROR when
 * the connection is gone; NGX_DONE when it has broken meanwhile.
 */
ngx_int_t ngx_svc_pg_pipeline_read(ngx_svc_pg_conn_t *conn);

/* Frees a slot's results. */
void ngx_svc_pg_pipeline_clear(ngx_svc_pg_slot_t *slot);


#endif /* _NGX_SVC_PG_PIPELINE_H_INCLUDED_ */
