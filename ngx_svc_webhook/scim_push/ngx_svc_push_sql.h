/*
 * Outbound SCIM: the statements of the helper, about targets.
 */

#ifndef _NGX_SVC_PUSH_SQL_H_INCLUDED_
#define _NGX_SVC_PUSH_SQL_H_INCLUDED_


#include "ngx_svc_pg.h"


/* Columns, in order, of what they answer. */

enum {
    NGX_SVC_PUSH_C_VERSION = 0,
    NGX_SVC_PUSH_C_ENABLED,
    NGX_SVC_PUSH_C_URL,
    NGX_SVC_PUSH_C_TOKEN,
    NGX_SVC_PUSH_C_PATCH,
    NGX_SVC_PUSH_C_XID,
    NGX_SVC_PUSH_C_EVENT,
    NGX_SVC_PUSH_C_SINCE,
    NGX_SVC_PUSH_C_BEGIN,               /* all users are to be looked at */
    NGX_SVC_PUSH_C_WAIT,                /* ms; NULL: not to wait */
    NGX_SVC_PUSH_C_FAILURES,
    NGX_SVC_PUSH_C_CONFIG,              /* is to be asked for its config */
    NGX_SVC_PUSH_C_STATUS,
    NGX_SVC_PUSH_C_LOOKING,
    NGX_SVC_PUSH_C_TEST,                /* a test's id, or NULL */
    NGX_SVC_PUSH_C_DUE,                 /* ms; NULL: nobody is */
    NGX_SVC_PUSH_C_LEFT,                /* of a sync */
    NGX_SVC_PUSH_C_TROUBLE,             /* it has failed, or so it says */
    NGX_SVC_PUSH_C_LIST                 /* of its list; NULL: it is not read */
};

/* Of no tenant: see sql/0030_outbound.sql. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_claim;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_release;

/* Of a tenant; $1 is the target, $2 the helper. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_poll;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_state;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_config;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_tested;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_count;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_hold;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_keep;


#endif /* _NGX_SVC_PUSH_SQL_H_INCLUDED_ */
