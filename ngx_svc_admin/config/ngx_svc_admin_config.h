/*
 * The common parts of plan and apply.
 */

#ifndef _NGX_SVC_ADMIN_CONFIG_H_INCLUDED_
#define _NGX_SVC_ADMIN_CONFIG_H_INCLUDED_


#include "ngx_svc_admin_plan.h"


/* candidate comes first: see ngx_svc_sql_admin_bundle. */

typedef struct {
    ngx_svc_admin_bundle_t  candidate;
    ngx_svc_admin_bundle_t  live;
    ngx_svc_admin_plan_t    plan;
    ngx_uint_t              detail;
} ngx_svc_admin_config_t;


/*
 * Reads the arguments and the body of a request into config, which is allocated
 * from the request's pool, as the candidate's arrays are.  Returns what a check
 * hook returns.
 */
ngx_int_t ngx_svc_admin_config_take(ngx_svc_request_t *sr,
    ngx_svc_admin_config_t *config);

/*
 * Makes the live bundle and the plan from the result of
 * ngx_svc_sql_admin_bundle, into which they point; allocates from pool.  The
 * live access policy is in the cache, and may be gone after this iteration of
 * the event loop.  Returns NGX_OK; NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_config_plan(ngx_svc_request_t *sr, ngx_pool_t *pool,
    ngx_svc_admin_config_t *config);


#endif /* _NGX_SVC_ADMIN_CONFIG_H_INCLUDED_ */
