/*
 * Messages between the workers of all nodes.
 */

#ifndef _NGX_SVC_REDIS_PUBSUB_H_INCLUDED_
#define _NGX_SVC_REDIS_PUBSUB_H_INCLUDED_


#include "ngx_svc_redis.h"


/*
 * Called for a message.  payload->data is NULL when the subscription has begun,
 * or has begun again: messages may have been missed.  A payload of "*" stands
 * for messages that were too many to be sent.
 */

typedef void (*ngx_svc_redis_message_pt)(ngx_str_t *payload);

#define NGX_SVC_REDIS_CHANNELS  6
#define NGX_SVC_REDIS_PAYLOAD   64      /* bytes, at most */

/*
 * Subscribes a worker that has started.  channel: a literal, which has one
 * handler.  Returns NGX_OK, also when Redis is down or off; or NGX_ERROR when
 * there are too many channels.
 */
NGX_SVC_API ngx_int_t ngx_svc_redis_subscribe(const char *channel,
    ngx_svc_redis_message_pt handler);

/* Calls the channel's handler no more. */
NGX_SVC_API void ngx_svc_redis_unsubscribe(const char *channel);

/* Returns 1 if messages were arriving here a second ago, at most. */
NGX_SVC_API ngx_uint_t ngx_svc_redis_subscribed(void);

/*
 * Sends a message within some milliseconds, equal messages once.  Keeps as many
 * as it can while Redis is down.  Messages of a worker that is killed are lost.
 * The sender gets its own messages, too.
 */
NGX_SVC_API void ngx_svc_redis_publish(const char *channel,
    ngx_str_t *payload);


/* The functions below are for ngx_svc_redis.c. */

/* commands: the worker's other link, over which messages are sent. */
ngx_int_t ngx_svc_redis_pubsub_init(ngx_cycle_t *cycle,
    ngx_svc_redis_conf_t *conf, ngx_svc_redis_link_t *commands);
void ngx_svc_redis_pubsub_exit(void);

/* Forgets the parent's link and its channels, in a child process. */
void ngx_svc_redis_pubsub_forked(void);

/* Called once a second while Redis answers commands. */
void ngx_svc_redis_pubsub_beat(void);


#endif /* _NGX_SVC_REDIS_PUBSUB_H_INCLUDED_ */
