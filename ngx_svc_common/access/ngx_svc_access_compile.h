/*
 * The tables of an access policy that evaluation reads.
 */

#ifndef _NGX_SVC_ACCESS_COMPILE_H_INCLUDED_
#define _NGX_SVC_ACCESS_COMPILE_H_INCLUDED_


#include "ngx_svc_access_policy.h"


/*
 * Makes these tables from the policy's rules, which are complete.  Returns
 * NGX_OK, or NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_access_compile(ngx_pool_t *pool,
    ngx_svc_access_policy_t *policy);


#endif /* _NGX_SVC_ACCESS_COMPILE_H_INCLUDED_ */
