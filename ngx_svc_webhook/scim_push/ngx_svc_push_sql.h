/*
 * Outbound SCIM: the helper's statements about targets.
 */

#ifndef _NGX_SVC_PUSH_SQL_H_INCLUDED_
#define _NGX_SVC_PUSH_SQL_H_INCLUDED_


#include "ngx_svc_pg.h"


/* Statements without a tenant: see sql/0030_outbound.sql. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_claim;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_release;

/* Statements of a tenant; $1 is the target, $2 the helper. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_poll;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_state;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_config;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_tested;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_count;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_hold;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_keep;


#endif /* _NGX_SVC_PUSH_SQL_H_INCLUDED_ */
