/*
 * Outbound SCIM: the statements by which the helper finds who is to be pushed.
 */

#ifndef _NGX_SVC_PUSH_SQL_LOG_H_INCLUDED_
#define _NGX_SVC_PUSH_SQL_LOG_H_INCLUDED_


#include "ngx_svc_pg.h"


#define NGX_SVC_PUSH_LOG    1000        /* events that a poll looks at */
#define NGX_SVC_PUSH_EVENTS 200         /* that are followed at once */

/* Columns, in order. */

enum {
    NGX_SVC_PUSH_L_N = 0,
    NGX_SVC_PUSH_L_FINAL,
    NGX_SVC_PUSH_L_RELEVANT,
    NGX_SVC_PUSH_L_XID,
    NGX_SVC_PUSH_L_EVENT,
    NGX_SVC_PUSH_L_SINCE
};


/* Of a tenant; $1 is the target, $2 the helper. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_log;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_begin;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_follow;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_look;


#endif /* _NGX_SVC_PUSH_SQL_LOG_H_INCLUDED_ */
