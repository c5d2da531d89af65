/*
 * The end of a PostgreSQL connection.
 */

#ifndef _NGX_SVC_PG_CLOSE_H_INCLUDED_
#define _NGX_SVC_PG_CLOSE_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/*
 * One that could not be made: closes, and comes back after a pause; message, of
 * libpq or ours, goes to the log, NULL: nothing.  One that was READY: the same
 * with the ops in flight; silent: its backend is to end first.  libpq finds it
 * dead: one of the two.
 */
void ngx_svc_pg_conn_failed(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_trouble_e trouble, const char *message);
void ngx_svc_pg_conn_lost(ngx_svc_pg_conn_t *conn, ngx_uint_t silent);
void ngx_svc_pg_conn_gone(ngx_svc_pg_conn_t *conn);

/* One that is ENDING: its backend is gone. */
void ngx_svc_pg_conn_ended(ngx_svc_pg_conn_t *conn);

/* Closes for good, without a word to the ops in flight. */
void ngx_svc_pg_conn_destroy(ngx_svc_pg_conn_t *conn);

/* nginx lets go of the socket; the handler of conn->close. */
void ngx_svc_pg_conn_detach(ngx_svc_pg_conn_t *conn);
void ngx_svc_pg_conn_close_event(ngx_event_t *ev);


#endif /* _NGX_SVC_PG_CLOSE_H_INCLUDED_ */
