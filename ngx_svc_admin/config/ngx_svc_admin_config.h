/*
 * What plan and apply have in common.
 */

#ifndef _NGX_SVC_ADMIN_CONFIG_H_INCLUDED_
#define _NGX_SVC_ADMIN_CONFIG_H_INCLUDED_


#include "ngx_svc_admin_plan.h"


/* candidate: first, see ngx_svc_sql_admin_bundle. */

typedef struct {
    ngx_svc_admin_bundle_t  candidate;
    ngx_svc_admin_bundle_t  live;
    ngx_svc_admin_plan_t    plan;
    ngx_uint_t              detail;
} ngx_svc_admin_config_t;


/*
 * The arguments and the body of a request, of whose pool config and candidate
 * are.  For a check, and returns the same.
 */
ngx_int_t ngx_svc_admin_config_take(ngx_svc_request_t *sr,
    ngx_svc_admin_config_t *config);

/*
 * The live bundle and the plan, of the pool, from the result of that statement,
 * into which they point; the live access policy is of the cache, and gone with
 * this turn of the event loop.  NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_config_plan(ngx_svc_request_t *sr, ngx_pool_t *pool,
    ngx_svc_admin_config_t *config);


#endif /* _NGX_SVC_ADMIN_CONFIG_H_INCLUDED_ */
