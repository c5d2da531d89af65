/*
 * Publishing and listening; see ngx_svc_redis.h for what others use.
 */

#ifndef _NGX_SVC_REDIS_PUBSUB_H_INCLUDED_
#define _NGX_SVC_REDIS_PUBSUB_H_INCLUDED_


#include "ngx_svc_redis_link.h"


/* commands: the worker's other link, over which messages go out. */
ngx_int_t ngx_svc_redis_pubsub_init(ngx_cycle_t *cycle,
    ngx_svc_redis_conf_t *conf, ngx_svc_redis_link_t *commands);
void ngx_svc_redis_pubsub_exit(void);

/* In a child process: forgets what was the parent's, its channels too. */
void ngx_svc_redis_pubsub_forked(void);

/* Once a second while commands are answered. */
void ngx_svc_redis_pubsub_beat(void);


#endif /* _NGX_SVC_REDIS_PUBSUB_H_INCLUDED_ */
