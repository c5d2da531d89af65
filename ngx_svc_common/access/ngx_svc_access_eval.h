/*
 * The evaluation of an access policy for a sign-in.
 */

#ifndef _NGX_SVC_ACCESS_EVAL_H_INCLUDED_
#define _NGX_SVC_ACCESS_EVAL_H_INCLUDED_


#include "ngx_svc_access.h"


/*
 * Finds the first enabled rule whose networks, countries and windows all match.
 * now: seconds since the epoch.  Allocates nothing, and changes nothing.
 */
NGX_SVC_API ngx_svc_access_result_t ngx_svc_access_evaluate(
    const ngx_svc_access_policy_t *policy, const ngx_svc_addr_t *addr,
    ngx_svc_access_country_t country, int64_t now);


#endif /* _NGX_SVC_ACCESS_EVAL_H_INCLUDED_ */
