/*
 * The states of a connection.
 */

#ifndef _NGX_SVC_PG_STATE_H_INCLUDED_
#define _NGX_SVC_PG_STATE_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/*
 * A new connection is counted in its first state; goes to another one; is dead,
 * and is closed from the event loop.
 */
void ngx_svc_pg_conn_count(ngx_svc_pg_conn_t *conn);
void ngx_svc_pg_conn_state(ngx_svc_pg_conn_t *conn, ngx_svc_pg_state_e state);
void ngx_svc_pg_conn_break(ngx_svc_pg_conn_t *conn);


#endif /* _NGX_SVC_PG_STATE_H_INCLUDED_ */
