/*
 * Which statements a session has prepared.
 */

#ifndef _NGX_SVC_PG_PREPARED_H_INCLUDED_
#define _NGX_SVC_PG_PREPARED_H_INCLUDED_


#include "ngx_svc_pg.h"


/* A power of two, and more than twice the statements that there are. */

#define NGX_SVC_PG_PREPARED  1024


/* Of the addresses of statements; zeroed when a session begins. */

typedef struct {
    const ngx_svc_pg_statement_t  *statements[NGX_SVC_PG_PREPARED];
} ngx_svc_pg_prepared_t;


/*
 * NGX_OK: the statement is in the set; NGX_DECLINED: it was not, and is now;
 * NGX_ERROR: there is no room.
 */
ngx_int_t ngx_svc_pg_prepared_add(ngx_svc_pg_prepared_t *prepared,
    const ngx_svc_pg_statement_t *statement);


#endif /* _NGX_SVC_PG_PREPARED_H_INCLUDED_ */
