/*
 * Applying a plan: the second round trip.
 */

#ifndef _NGX_SVC_ADMIN_APPLY_H_INCLUDED_
#define _NGX_SVC_ADMIN_APPLY_H_INCLUDED_


#include "ngx_svc_admin_config.h"


/* What became of the plan, by the result of the statement. */

typedef enum {
    NGX_SVC_ADMIN_APPLIED = 0,
    NGX_SVC_ADMIN_APPLY_MOVED,      /* the revision has changed */
    NGX_SVC_ADMIN_APPLY_IN_USE      /* users have a role to be deleted */
} ngx_svc_admin_apply_e;


/*
 * ngx_svc_admin_apply_write.c.  Adds the calls of the lock and of the statement
 * that does all of the plan or nothing; what they bind is allocated from both
 * pools.
 */
ngx_int_t ngx_svc_admin_apply_call(ngx_svc_request_t *sr, ngx_pool_t *pool,
    const ngx_svc_admin_plan_t *plan, const ngx_str_t *revision);

/* role: a role that is in use; points into the result. */
ngx_svc_admin_apply_e ngx_svc_admin_apply_result(ngx_svc_request_t *sr,
    ngx_str_t *role);

extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_config_apply;


#endif /* _NGX_SVC_ADMIN_APPLY_H_INCLUDED_ */
