/*
 * The check that a policy does not lock out everybody, or the administrator who
 * changes it.
 */

#ifndef _NGX_SVC_ACCESS_LOCKOUT_H_INCLUDED_
#define _NGX_SVC_ACCESS_LOCKOUT_H_INCLUDED_


#include "ngx_svc_access.h"


typedef struct {
    ngx_svc_addr_t            addr;     /* AF_UNSPEC: the caller came by a unix
                                           socket, which is in no network */
    ngx_svc_access_country_t  country;
    int64_t                   now;      /* seconds since the epoch */
} ngx_svc_access_caller_t;

/*
 * Returns 1 if a policy denies everybody, everywhere, at any time.  *rule: the
 * rule that denies, or -1.
 */
NGX_SVC_API ngx_uint_t ngx_svc_access_denies_all(
    const ngx_svc_access_policy_t *policy, ngx_int_t *rule);

/*
 * Returns NGX_OK, or NGX_DECLINED with err set (NGX_SVC_E_ANTI_LOCKOUT) when a
 * policy denies everybody, or the caller.  The message names the rule and the
 * address.
 */
NGX_SVC_API ngx_int_t ngx_svc_access_lockout(
    const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_caller_t *caller, ngx_svc_error_t *err);

/* Returns 1 if the caller would be denied at some hour of the next week. */
NGX_SVC_API ngx_uint_t ngx_svc_access_time_limited(
    const ngx_svc_access_policy_t *policy,
    const ngx_svc_access_caller_t *caller);


#endif /* _NGX_SVC_ACCESS_LOCKOUT_H_INCLUDED_ */
