/*
 * Redis in a worker: its state, and messages between workers and nodes.
 */

#ifndef _NGX_SVC_REDIS_H_INCLUDED_
#define _NGX_SVC_REDIS_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_event.h>


#define NGX_SVC_REDIS_SENTINELS  16     /* in the configuration, at most */


typedef struct {
    ngx_str_t                name;      /* in the log */
    ngx_str_t                address;   /* NUL-terminated path or IP address */
    in_port_t                port;      /* 0: address is a unix socket's path */
} ngx_svc_redis_server_t;


/* Either there is a server, or the sentinels tell where it is. */

typedef struct {
    ngx_str_t                name;      /* as configured, or the master's;
                                           empty: no Redis */
    ngx_svc_redis_server_t   server;
    ngx_svc_redis_server_t   sentinels[NGX_SVC_REDIS_SENTINELS];
    ngx_uint_t               nsentinels;
    ngx_msec_t               timeout;   /* of connecting, and of an answer */
} ngx_svc_redis_conf_t;


typedef enum {
    NGX_SVC_REDIS_OFF = 0,
    NGX_SVC_REDIS_DOWN,
    NGX_SVC_REDIS_UP
} ngx_svc_redis_state_e;


typedef struct ngx_svc_redis_link_s  ngx_svc_redis_link_t;


/* Called when a worker starts, or a child that a worker has forked. */
NGX_SVC_API ngx_int_t ngx_svc_redis_init_worker(ngx_cycle_t *cycle,
    ngx_svc_redis_conf_t *conf);

/* Called when a worker, or such a child, ends. */
NGX_SVC_API void ngx_svc_redis_exit_worker(void);

/*
 * Forgets the parent's connections, whose sockets the caller closes.  Such a
 * child calls this first of all.
 */
NGX_SVC_API void ngx_svc_redis_forked(void);

/*
 * Returns the state as of the last PING, which is at most a second and the
 * timeout ago.  A replica, which takes no writes, is down.
 */
NGX_SVC_API ngx_svc_redis_state_e ngx_svc_redis_state(void);

/*
 * Returns 1 if commands can be sent: Redis is up, or a connection has just been
 * begun, and is not known to fail.
 */
NGX_SVC_API ngx_uint_t ngx_svc_redis_ready(void);

/*
 * Called whenever Redis answers a PING after it was down, also at the start.
 * A process has one handler; a child that a worker has forked begins with none.
 */
typedef void (*ngx_svc_redis_up_pt)(void);

NGX_SVC_API void ngx_svc_redis_on_up(ngx_svc_redis_up_pt handler);

/* Returns the worker's link for commands, for other files of this folder. */
ngx_svc_redis_link_t *ngx_svc_redis_commands(void);

/*
 * Sends a PING at once, since a command was refused by a server that has become
 * a replica.
 */
void ngx_svc_redis_doubt(void);


#endif /* _NGX_SVC_REDIS_H_INCLUDED_ */
