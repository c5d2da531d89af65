/*
 * Redis: one connection of each worker, in nginx's event loop.
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

ngx_int_t ngx_svc_redis_init_worker(ngx_cycle_t *cycle,
    ngx_svc_redis_conf_t *conf);
void ngx_svc_redis_exit_worker(void);

/* As of the last PING, which is at most a second and the timeout ago. */
ngx_svc_redis_state_e ngx_svc_redis_state(void);


#endif /* _NGX_SVC_REDIS_H_INCLUDED_ */
