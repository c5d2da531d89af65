/*
 * The statements that a connection has prepared.
 */

#ifndef _NGX_SVC_PG_PREPARED_H_INCLUDED_
#define _NGX_SVC_PG_PREPARED_H_INCLUDED_


#include "ngx_svc_pg.h"


/* A power of two, and more than twice the statements that there are. */

#define NGX_SVC_PG_PREPARED  2048


/* A set of statements, by their addresses; zeroed for a new connection. */

typedef struct {
    const ngx_svc_pg_statement_t  *statements[NGX_SVC_PG_PREPARED];
} ngx_svc_pg_prepared_t;


/*
 * Returns NGX_OK when the statement is in the set; NGX_DECLINED when it was
 * not, and is now; or NGX_ERROR when there is no room.
 */
ngx_int_t ngx_svc_pg_prepared_add(ngx_svc_pg_prepared_t *prepared,
    const ngx_svc_pg_statement_t *statement);


#endif /* _NGX_SVC_PG_PREPARED_H_INCLUDED_ */
