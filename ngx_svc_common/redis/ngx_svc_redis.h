/*
 * Redis in a worker: its state, and messages between workers and nodes.
 */

#ifndef _NGX_SVC_REDIS_H_INCLUDED_
#define _NGX_SVC_REDIS_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_event.h>


typedef struct {
    ngx_str_t      name;            /* as configured; empty: no Redis */
    ngx_str_t      address;         /* NUL-terminated path or IP address */
    in_port_t      port;            /* 0: address is a unix socket's path */
    ngx_msec_t     timeout;         /* of a connect, and of an answer */
} ngx_svc_redis_conf_t;


typedef enum {
    NGX_SVC_REDIS_OFF = 0,
    NGX_SVC_REDIS_DOWN,
    NGX_SVC_REDIS_UP
} ngx_svc_redis_state_e;


/* Parses "unix:/path" or "address[:port]"; NGX_CONF_OK, or a message. */
char *ngx_svc_redis_address(ngx_conf_t *cf, ngx_svc_redis_conf_t *conf);

/* A worker's start and end; a child that a worker forked calls these too. */
NGX_SVC_API ngx_int_t ngx_svc_redis_init_worker(ngx_cycle_t *cycle,
    ngx_svc_redis_conf_t *conf);
NGX_SVC_API void ngx_svc_redis_exit_worker(void);

/*
 * In such a child, first of all: forgets its parent's connections, of which the
 * sockets are closed by the caller.
 */
NGX_SVC_API void ngx_svc_redis_forked(void);

/* As of the last PING, which is at most a second and the timeout ago. */
NGX_SVC_API ngx_svc_redis_state_e ngx_svc_redis_state(void);

/*
 * 1 when it takes commands: it is up, or nothing is known against it, since a
 * connection has just been begun.
 */
NGX_SVC_API ngx_uint_t ngx_svc_redis_ready(void);

/*
 * Called whenever Redis answers a PING that was down before, at the start too.
 * One handler in a process; a child that a worker forked begins with none.
 */
typedef void (*ngx_svc_redis_up_pt)(void);

NGX_SVC_API void ngx_svc_redis_on_up(ngx_svc_redis_up_pt handler);

/*
 * While Redis is up: asks it whether it may throw away or lose what is stored
 * in it, of which the log warns.  A Redis that does not tell is left alone.
 */
NGX_SVC_API void ngx_svc_redis_check_storage(void);


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


#endif /* _NGX_SVC_REDIS_H_INCLUDED_ */
