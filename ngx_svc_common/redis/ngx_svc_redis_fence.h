/*
 * Shares PostgreSQL's timelines with other nodes.
 */

#ifndef _NGX_SVC_REDIS_FENCE_H_INCLUDED_
#define _NGX_SVC_REDIS_FENCE_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * Called when a process starts, if there is a fence, after
 * ngx_svc_redis_init_worker() and ngx_svc_pg_watch_init().
 */
NGX_SVC_API void ngx_svc_redis_fence_init(ngx_cycle_t *cycle);

/* Called when a process ends. */
NGX_SVC_API void ngx_svc_redis_fence_exit(void);


#endif /* _NGX_SVC_REDIS_FENCE_H_INCLUDED_ */
