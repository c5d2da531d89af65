/*
 * The states of a connection.
 */

#ifndef _NGX_SVC_PG_STATE_H_INCLUDED_
#define _NGX_SVC_PG_STATE_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/* Counts a new connection in its first state. */
void ngx_svc_pg_conn_count(ngx_svc_pg_conn_t *conn);

/* Puts a connection into another state, and counts it there. */
void ngx_svc_pg_conn_state(ngx_svc_pg_conn_t *conn, ngx_svc_pg_state_e state);

/* Marks a connection as BROKEN; the event loop will close it. */
void ngx_svc_pg_conn_break(ngx_svc_pg_conn_t *conn);


#endif /* _NGX_SVC_PG_STATE_H_INCLUDED_ */
