/*
 * Outbound SCIM: the statements that find the users to be pushed.
 */

#ifndef _NGX_SVC_PUSH_SQL_LOG_H_INCLUDED_
#define _NGX_SVC_PUSH_SQL_LOG_H_INCLUDED_


#include "ngx_svc_pg.h"


#define NGX_SVC_PUSH_LOG    1000        /* events that a poll looks at, at
                                           most */
#define NGX_SVC_PUSH_EVENTS 200         /* events that are followed at once */

/* Statements of a tenant; $1 is the target, $2 the helper. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_log;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_begin;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_follow;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_look;


#endif /* _NGX_SVC_PUSH_SQL_LOG_H_INCLUDED_ */
