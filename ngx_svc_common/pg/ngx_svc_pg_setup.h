/*
 * The setup of a new connection.
 */

#ifndef _NGX_SVC_PG_SETUP_H_INCLUDED_
#define _NGX_SVC_PG_SETUP_H_INCLUDED_


#include "ngx_svc_pg_conn.h"
#include "ngx_svc_pg_trouble.h"


/* The reason why a setup has failed. */

typedef struct {
    ngx_svc_pg_trouble_e       trouble;
    const char                *message;     /* may be part of the result */
    PGresult                  *result;      /* the caller clears it */
} ngx_svc_pg_setup_t;

/* The statement that ends a backend, given its pid and when it was started. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_end_backend;

/* Sends the statements of the setup, without the Sync. */
ngx_int_t ngx_svc_pg_setup_send(ngx_svc_pg_conn_t *conn);

/*
 * Reads the answers.  Returns NGX_AGAIN before that of the Sync, and NGX_OK
 * then; NGX_DECLINED with *setup set when the setup has failed; or NGX_ERROR
 * when the connection is gone.
 */
ngx_int_t ngx_svc_pg_setup_read(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_setup_t *setup);


#endif /* _NGX_SVC_PG_SETUP_H_INCLUDED_ */
