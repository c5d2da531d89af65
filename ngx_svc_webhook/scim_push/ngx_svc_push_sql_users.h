/*
 * Outbound SCIM: the statements that take users, and record their outcomes.
 */

#ifndef _NGX_SVC_PUSH_SQL_USERS_H_INCLUDED_
#define _NGX_SVC_PUSH_SQL_USERS_H_INCLUDED_


#include "ngx_svc_pg.h"


/* The columns of ngx_svc_sql_push_take, in order. */

enum {
    NGX_SVC_PUSH_I_HELD = 0,
    NGX_SVC_PUSH_I_ENDED,
    NGX_SVC_PUSH_I_USERS,
    NGX_SVC_PUSH_I_ID,                  /* NULL: no user is due */
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
    NGX_SVC_PUSH_I_DEPARTMENT,
    NGX_SVC_PUSH_I_ABSENT,
    NGX_SVC_PUSH_I_SENT                 /* NULL: not known */
};


/* Statements of a tenant; $1 is the target, $2 the helper. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_take;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_record;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_push_owner;


#endif /* _NGX_SVC_PUSH_SQL_USERS_H_INCLUDED_ */
