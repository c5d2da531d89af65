/*
 * The statements for logout tokens.
 */

#ifndef _NGX_SVC_LOGOUT_SQL_H_INCLUDED_
#define _NGX_SVC_LOGOUT_SQL_H_INCLUDED_


#include "ngx_svc_pg.h"


/*
 * $1: number at most; $2: clients and $3: tenants that have enough under way;
 * see svc.oauth_logout_take().
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_logout_take;

/* Deletes a tenant's logout token.  $1: the client, $2: the session. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_logout_done;

/* Makes it due again.  $1, $2: as above; $3: whether there was an attempt. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_logout_again;


#endif /* _NGX_SVC_LOGOUT_SQL_H_INCLUDED_ */
