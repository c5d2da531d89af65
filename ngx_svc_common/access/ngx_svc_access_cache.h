/*
 * Parsed access policies of a worker.
 */

#ifndef _NGX_SVC_ACCESS_CACHE_H_INCLUDED_
#define _NGX_SVC_ACCESS_CACHE_H_INCLUDED_


#include "ngx_svc_access.h"


/*
 * Parsed policies of this worker, by tenant and version, a bounded number of
 * them, each in a pool of its own.
 *
 * A policy from json, which is what ngx_svc_access_write() wrote; a version
 * whose text is another one than before is parsed again.  NULL: memory has run
 * out, or the text is no policy, as the log says.  It lives at least until
 * control goes back to the event loop.
 */
NGX_SVC_API const ngx_svc_access_policy_t *ngx_svc_access_cached(
    const ngx_svc_zones_t *zones, const ngx_str_t *tenant, int64_t version,
    ngx_str_t *json, ngx_log_t *log);

/* Frees all of them, when the worker exits. */
void ngx_svc_access_cache_exit(void);


#endif /* _NGX_SVC_ACCESS_CACHE_H_INCLUDED_ */
