/*
 * The end of the backend of a connection that is silent.
 */

#ifndef _NGX_SVC_PG_END_H_INCLUDED_
#define _NGX_SVC_PG_END_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/*
 * Asks PostgreSQL, on another connection of the process, to end the
 * connection's backend.  Returns NGX_OK: if there is such a backend PostgreSQL
 * will close the socket, and if there is none ngx_svc_pg_conn_ended() will be
 * called.  Returns NGX_DECLINED when there is no other connection, or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_pg_end(ngx_svc_pg_conn_t *conn);


#endif /* _NGX_SVC_PG_END_H_INCLUDED_ */
