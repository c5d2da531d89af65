/*
 * Outbound SCIM: the statements of the helper.
 */

#ifndef _NGX_SVC_PUSH_SQL_H_INCLUDED_
#define _NGX_SVC_PUSH_SQL_H_INCLUDED_


#include "ngx_svc_pg.h"


#define NGX_SVC_PUSH_LOG    1000        /* events that a poll looks at */
#define NGX_SVC_PUSH_EVENTS 200         /* that are followed at once */
#define NGX_SVC_PUSH_PAGE   500         /* users of a look */


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
    NGX_SVC_PUSH_C_TROUBLE              /* it has failed, or so it says */
};

enum {
    NGX_SVC_PUSH_L_N = 0,
    NGX_SVC_PUSH_L_FINAL,
    NGX_SVC_PUSH_L_RELEVANT,
    NGX_SVC_PUSH_L_XID,
    NGX_SVC_PUSH_L_EVENT,
    NGX_SVC_PUSH_L_SINCE
};

enum {
    NGX_SVC_PUSH_I_HELD = 0,
    NGX_SVC_PUSH_I_ENDED,
    NGX_SVC_PUSH_I_USERS,
    NGX_SVC_PUSH_I_ID,                  /* NULL: there is nobody */
    NGX_SVC_PUSH_I_REV,
    NGX_SVC_PUSH_I_REMOTE,
    NGX_SVC_PUSH_I_REMOTE_HASH,
    NGX_SVC_PUSH_I_REMOTE_ACTIVE,
    NGX_SVC_PUSH_I_COMPARE,
    NGX_SVC_PUSH_I_ATTEMPTS,
    NGX_SVC_PUSH_I_GONE,
    NGX_SVC_PUSH_I_ACTIVE,
    NGX_SVC_PUSH_I_HASH,
    NGX_SVC_PUSH_I_USER_NAME,
    NGX_SVC_PUSH_I_DISPLAY_NAME,
    NGX_SVC_PUSH_I_FIRST_NAME,
    NGX_SVC_PUSH_I_LAST_NAME,
    NGX_SVC_PUSH_I_TITLE,
    NGX_SVC_PUSH_I_LOCALE,
    NGX_SVC_PUSH_I_DEPARTMENT
};


/* Of no tenant: see sql/0030_outbound.sql. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_claim;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_release;

/* Of a tenant; $1 is the target, $2 the helper. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_poll;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_begin;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_follow;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_look;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_take;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_record;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_state;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_config;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_tested;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_count;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_hold;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_keep;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_log;

extern ngx_svc_pg_statements_t  ngx_svc_push_statements[];


#endif /* _NGX_SVC_PUSH_SQL_H_INCLUDED_ */
