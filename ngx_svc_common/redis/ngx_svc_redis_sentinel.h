/*
 * Redis Sentinel: which server is the master.
 */

#ifndef _NGX_SVC_REDIS_SENTINEL_H_INCLUDED_
#define _NGX_SVC_REDIS_SENTINEL_H_INCLUDED_


#include "ngx_svc_redis_link.h"


/* A process' start and end; nothing, when there are no sentinels. */
void ngx_svc_redis_sentinel_init(ngx_cycle_t *cycle,
    ngx_svc_redis_conf_t *conf);
void ngx_svc_redis_sentinel_exit(void);

/* In a child process: forgets what was the parent's. */
void ngx_svc_redis_sentinel_forked(void);

/*
 * The function "find" of a link, of which there are two: asks the sentinels in
 * turn, until one of them knows the master.  When they name another one the
 * link breaks.  A link that stops is to be left out first.
 */
void ngx_svc_redis_sentinel_find(ngx_svc_redis_link_t *link);


#endif /* _NGX_SVC_REDIS_SENTINEL_H_INCLUDED_ */
