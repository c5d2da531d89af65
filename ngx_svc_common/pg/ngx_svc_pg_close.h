/*
 * The end of a PostgreSQL connection.
 */

#ifndef _NGX_SVC_PG_CLOSE_H_INCLUDED_
#define _NGX_SVC_PG_CLOSE_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/*
 * Closes a connection that could not be made, and begins it anew after a pause.
 * message: what is logged, libpq's text or ours; NULL: nothing.
 */
void ngx_svc_pg_conn_failed(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_trouble_e trouble, const char *message);

/*
 * Closes a connection that was READY, and begins it anew; ends its ops in
 * flight, or sends them again.  silent: its backend has to end first.
 */
void ngx_svc_pg_conn_lost(ngx_svc_pg_conn_t *conn, ngx_uint_t silent);

/* Does one of the two, by its state, for a connection that libpq finds dead. */
void ngx_svc_pg_conn_gone(ngx_svc_pg_conn_t *conn);

/* Called when the backend of a connection that is ENDING is gone. */
void ngx_svc_pg_conn_ended(ngx_svc_pg_conn_t *conn);

/* Closes a connection for good, without calling handlers of ops in flight. */
void ngx_svc_pg_conn_destroy(ngx_svc_pg_conn_t *conn);

/* Takes the socket, which libpq owns, out of nginx's event loop. */
void ngx_svc_pg_conn_detach(ngx_svc_pg_conn_t *conn);

/* The handler of conn->close. */
void ngx_svc_pg_conn_close_event(ngx_event_t *ev);


#endif /* _NGX_SVC_PG_CLOSE_H_INCLUDED_ */
