/*
 * Outbound SCIM: the helper's statements about targets.
 */

#ifndef _NGX_SVC_PUSH_SQL_H_INCLUDED_
#define _NGX_SVC_PUSH_SQL_H_INCLUDED_


#include "ngx_svc_pg.h"


/* The columns of ngx_svc_sql_push_poll, in order. */

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
    NGX_SVC_PUSH_C_WAIT,                /* ms; NULL: no pause */
    NGX_SVC_PUSH_C_FAILURES,
    NGX_SVC_PUSH_C_CONFIG,              /* ServiceProviderConfig is to be asked
                                           for */
    NGX_SVC_PUSH_C_STATUS,
    NGX_SVC_PUSH_C_LOOKING,
    NGX_SVC_PUSH_C_TEST,                /* a test's id, or NULL */
    NGX_SVC_PUSH_C_DUE,                 /* ms until a user is due; NULL: none
                                           is */
    NGX_SVC_PUSH_C_LEFT,                /* users are left of a sync */
    NGX_SVC_PUSH_C_TROUBLE,             /* the target failed, or says so */
    NGX_SVC_PUSH_C_LIST                 /* next user of the list; NULL: done */
};

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
