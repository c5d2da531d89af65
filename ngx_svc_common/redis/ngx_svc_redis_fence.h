/*
 * What nodes tell each other of PostgreSQL's timelines.
 */

#ifndef _NGX_SVC_REDIS_FENCE_H_INCLUDED_
#define _NGX_SVC_REDIS_FENCE_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * At a process's start, behind ngx_svc_redis_init_worker() and
 * ngx_svc_pg_watch_init(), where there is a fence; and end.
 */
NGX_SVC_API void ngx_svc_redis_fence_init(ngx_cycle_t *cycle);
NGX_SVC_API void ngx_svc_redis_fence_exit(void);


#endif /* _NGX_SVC_REDIS_FENCE_H_INCLUDED_ */
