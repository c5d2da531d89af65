/*
 * Parsed access policies of a worker.
 */

#ifndef _NGX_SVC_ACCESS_CACHE_H_INCLUDED_
#define _NGX_SVC_ACCESS_CACHE_H_INCLUDED_


#include "ngx_svc_access.h"


/*
 * A worker keeps a bounded number of parsed policies, by tenant and version,
 * each in its own pool.
 *
 * Returns the policy of json, which ngx_svc_access_write() has written; a
 * version whose text has changed is parsed again.  The policy lives at least
 * until control returns to the event loop.  Returns NULL when memory runs out,
 * or the text is no policy, which is logged.
 */
NGX_SVC_API const ngx_svc_access_policy_t *ngx_svc_access_cached(
    const ngx_svc_zones_t *zones, const ngx_str_t *tenant, int64_t version,
    ngx_str_t *json, ngx_log_t *log);

/* Frees all policies, when the worker exits. */
void ngx_svc_access_cache_exit(void);


#endif /* _NGX_SVC_ACCESS_CACHE_H_INCLUDED_ */
