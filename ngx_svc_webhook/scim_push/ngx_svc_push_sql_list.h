/*
 * Outbound SCIM: the statements that compare a target's list.
 */

#ifndef _NGX_SVC_PUSH_SQL_LIST_H_INCLUDED_
#define _NGX_SVC_PUSH_SQL_LIST_H_INCLUDED_


#include "ngx_svc_pg.h"


/* Statements of a tenant; $1 is the target, $2 the helper. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_match;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_listed;


#endif /* _NGX_SVC_PUSH_SQL_LIST_H_INCLUDED_ */
