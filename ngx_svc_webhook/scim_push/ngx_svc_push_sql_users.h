/*
 * Outbound SCIM: the statements that take users, and record their outcomes.
 */

#ifndef _NGX_SVC_PUSH_SQL_USERS_H_INCLUDED_
#define _NGX_SVC_PUSH_SQL_USERS_H_INCLUDED_


#include "ngx_svc_pg.h"


/* Statements of a tenant; $1 is the target, $2 the helper. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_take;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_record;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_owner;


#endif /* _NGX_SVC_PUSH_SQL_USERS_H_INCLUDED_ */
