/*
 * Ops on a connection.
 */

#ifndef _NGX_SVC_PG_PIPELINE_H_INCLUDED_
#define _NGX_SVC_PG_PIPELINE_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/*
 * Sending: NGX_ERROR when the op could not be sent; the
 * connection is then BROKEN.  What is sent goes out at the end of this turn of
 * the event loop, with all else that the connection is given until then.
 * Flushing: what libpq holds, with a write event as long as there is more.
 * Reading: hands results to their ops; NGX_OK; NGX_ERROR when the connection is
 * gone; NGX_DONE when it has broken meanwhile.  Clearing: frees a slot's
 * results.
 */
ngx_int_t ngx_svc_pg_pipeline_send(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_op_t *op);
ngx_int_t ngx_svc_pg_pipeline_flush(ngx_svc_pg_conn_t *conn);
void ngx_svc_pg_pipeline_flush_event(ngx_event_t *ev);
ngx_int_t ngx_svc_pg_pipeline_read(ngx_svc_pg_conn_t *conn);
void ngx_svc_pg_pipeline_clear(ngx_svc_pg_slot_t *slot);


#endif /* _NGX_SVC_PG_PIPELINE_H_INCLUDED_ */
