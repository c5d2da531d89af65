/*
 * Logout tokens: the helper's statements.
 */

#ifndef _NGX_SVC_LOGOUT_SQL_H_INCLUDED_
#define _NGX_SVC_LOGOUT_SQL_H_INCLUDED_


#include "ngx_svc_pg.h"


/*
 * $1: at most so many, $2: of no such application, and $3: of no such tenant;
 * see svc.oauth_logout_take().
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_logout_take;

/*
 * Of the tenant, $1: the application, $2: the session.  It goes; or it is due
 * again, $3: after an attempt.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_logout_done;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_logout_again;


#endif /* _NGX_SVC_LOGOUT_SQL_H_INCLUDED_ */
