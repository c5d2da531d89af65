/*
 * Access policies as evaluation reads them.
 */

#ifndef _NGX_SVC_ACCESS_COMPILE_H_INCLUDED_
#define _NGX_SVC_ACCESS_COMPILE_H_INCLUDED_


#include "ngx_svc_access_policy.h"


/*
 * Makes, of rules that are complete, what evaluation reads.  NGX_ERROR when
 * memory runs out.
 */
ngx_int_t ngx_svc_access_compile(ngx_pool_t *pool,
    ngx_svc_access_policy_t *policy);


#endif /* _NGX_SVC_ACCESS_COMPILE_H_INCLUDED_ */
