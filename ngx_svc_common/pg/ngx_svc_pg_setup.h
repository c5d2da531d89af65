/*
 * The setup of a new session.
 */

#ifndef _NGX_SVC_PG_SETUP_H_INCLUDED_
#define _NGX_SVC_PG_SETUP_H_INCLUDED_


#include "ngx_svc_pg_conn.h"
#include "ngx_svc_pg_trouble.h"


/* Why a setup has failed. */

typedef struct {
    ngx_svc_pg_trouble_e       trouble;
    const char                *message;     /* maybe of the result */
    PGresult                  *result;      /* the caller's to clear */
} ngx_svc_pg_setup_t;

/* Ends a backend: its pid, and when it was started. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_end_backend;

/*
 * Sends the statements of the setup, without the Sync, and reads what comes
 * back.  The second: NGX_OK at the Sync's answer; NGX_AGAIN before it;
 * NGX_DECLINED with *setup when the setup failed; NGX_ERROR when the connection
 * is gone.
 */
ngx_int_t ngx_svc_pg_setup_send(ngx_svc_pg_conn_t *conn);
ngx_int_t ngx_svc_pg_setup_read(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_setup_t *setup);


#endif /* _NGX_SVC_PG_SETUP_H_INCLUDED_ */
