/*
 * Messages between the workers of all nodes.
 */

#ifndef _NGX_SVC_REDIS_PUBSUB_H_INCLUDED_
#define _NGX_SVC_REDIS_PUBSUB_H_INCLUDED_


#include "ngx_svc_redis.h"


/*
 * Messages between the workers of all nodes.  payload->data is NULL when the
 * subscription has begun, or has begun again: messages may have been missed.
 * A payload of "*" stands for many that were one too many.
 */

typedef void (*ngx_svc_redis_message_pt)(ngx_str_t *payload);

#define NGX_SVC_REDIS_CHANNELS  4
#define NGX_SVC_REDIS_PAYLOAD   64      /* bytes, at most */

/*
 * In a worker, after its start.  channel: a literal.  NGX_OK also when Redis is
 * down or off; NGX_ERROR: too many channels.  One handler for each channel.
 */
NGX_SVC_API ngx_int_t ngx_svc_redis_subscribe(const char *channel,
    ngx_svc_redis_message_pt handler);
NGX_SVC_API void ngx_svc_redis_unsubscribe(const char *channel);

/* 1 when what is published now will arrive here, as of a second ago. */
NGX_SVC_API ngx_uint_t ngx_svc_redis_subscribed(void);

/*
 * Sends within some milliseconds, equal messages once; keeps what it can while
 * Redis is down.  Those of a worker that is killed are lost.  The sender gets
 * its own messages too.
 */
NGX_SVC_API void ngx_svc_redis_publish(const char *channel,
    ngx_str_t *payload);


/* For ngx_svc_redis.c. */

/* commands: the worker's other link, over which messages go out. */
ngx_int_t ngx_svc_redis_pubsub_init(ngx_cycle_t *cycle,
    ngx_svc_redis_conf_t *conf, ngx_svc_redis_link_t *commands);
void ngx_svc_redis_pubsub_exit(void);

/* In a child process: forgets what was the parent's, its channels too. */
void ngx_svc_redis_pubsub_forked(void);

/* Once a second while commands are answered. */
void ngx_svc_redis_pubsub_beat(void);


#endif /* _NGX_SVC_REDIS_PUBSUB_H_INCLUDED_ */
