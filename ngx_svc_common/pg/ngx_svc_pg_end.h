/*
 * The end of a backend whose session is silent.
 */

#ifndef _NGX_SVC_PG_END_H_INCLUDED_
#define _NGX_SVC_PG_END_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/*
 * Asks PostgreSQL on another connection of the process to end the connection's
 * backend.  NGX_OK: ngx_svc_pg_conn_ended() is called when there is none, and
 * the socket is closed by PostgreSQL when there was.  NGX_DECLINED: there is
 * no other connection; NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_pg_end(ngx_svc_pg_conn_t *conn);


#endif /* _NGX_SVC_PG_END_H_INCLUDED_ */
