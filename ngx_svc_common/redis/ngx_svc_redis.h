/*
 * Redis in a worker: its state, and messages between workers and nodes.
 */

#ifndef _NGX_SVC_REDIS_H_INCLUDED_
#define _NGX_SVC_REDIS_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_event.h>


#define NGX_SVC_REDIS_SENTINELS  16     /* at most */


typedef struct {
    ngx_str_t                name;      /* in the log */
    ngx_str_t                address;   /* NUL-terminated path or IP address */
    in_port_t                port;      /* 0: address is a unix socket's path */
} ngx_svc_redis_server_t;


/* Without sentinels there is a server, with them it is found by their word. */

typedef struct {
    ngx_str_t                name;      /* as configured, or the master's;
                                           empty: no Redis */
    ngx_svc_redis_server_t   server;
    ngx_svc_redis_server_t   sentinels[NGX_SVC_REDIS_SENTINELS];
    ngx_uint_t               nsentinels;
    ngx_msec_t               timeout;   /* of a connect, and of an answer */
} ngx_svc_redis_conf_t;


typedef enum {
    NGX_SVC_REDIS_OFF = 0,
    NGX_SVC_REDIS_DOWN,
    NGX_SVC_REDIS_UP
} ngx_svc_redis_state_e;


typedef struct ngx_svc_redis_link_s  ngx_svc_redis_link_t;


/* A worker's start and end; a child that a worker forked calls these too. */
NGX_SVC_API ngx_int_t ngx_svc_redis_init_worker(ngx_cycle_t *cycle,
    ngx_svc_redis_conf_t *conf);
NGX_SVC_API void ngx_svc_redis_exit_worker(void);

/*
 * In such a child, first of all: forgets its parent's connections, of which the
 * sockets are closed by the caller.
 */
NGX_SVC_API void ngx_svc_redis_forked(void);

/*
 * As of the last PING, which is at most a second and the timeout ago.  A
 * replica, which takes no writes, is down.
 */
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
 * For the other files of this folder: the worker's link for commands; a command
 * was refused since the server is a replica, which is looked into at once.
 */
ngx_svc_redis_link_t *ngx_svc_redis_commands(void);
void ngx_svc_redis_doubt(void);


#endif /* _NGX_SVC_REDIS_H_INCLUDED_ */
