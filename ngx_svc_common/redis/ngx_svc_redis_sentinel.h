/*
 * Redis Sentinel, which tells which server is the master.
 */

#ifndef _NGX_SVC_REDIS_SENTINEL_H_INCLUDED_
#define _NGX_SVC_REDIS_SENTINEL_H_INCLUDED_


#include "ngx_svc_redis_link.h"


/* Called when a process starts; does nothing when there are no sentinels. */
void ngx_svc_redis_sentinel_init(ngx_cycle_t *cycle,
    ngx_svc_redis_conf_t *conf);

/* Called when a process ends. */
void ngx_svc_redis_sentinel_exit(void);

/* Forgets the parent's link, in a child process. */
void ngx_svc_redis_sentinel_forked(void);

/*
 * The function "find" of a link; a process has two such links.  Asks the
 * sentinels in turn, until one of them knows the master.  When they name
 * another master the link breaks.  Call ngx_svc_redis_sentinel_exit() before
 * the links are stopped.
 */
void ngx_svc_redis_sentinel_find(ngx_svc_redis_link_t *link);


#endif /* _NGX_SVC_REDIS_SENTINEL_H_INCLUDED_ */
