/*
 * Lua scripts in Redis, over a worker's link for commands.
 */

#ifndef _NGX_SVC_REDIS_SCRIPT_H_INCLUDED_
#define _NGX_SVC_REDIS_SCRIPT_H_INCLUDED_


#include "ngx_svc_log_limit.h"
#include "ngx_svc_redis.h"

#include <hiredis/hiredis.h>


typedef struct {
    const char           *name;     /* in the log */
    const char           *text;
    unsigned              errors:1; /* the handler is given those too */

    /* private */

    u_char                sha1[41]; /* hexadecimal; empty: not yet known */
    ngx_svc_log_limit_t   refused;  /* lines of it */
} ngx_svc_redis_script_t;


/*
 * reply: gone after the call.  NULL: what has happened is unknown, since the
 * connection broke, or since Redis answered with an error, which is logged, and
 * given to the handler if the script asks for it.
 */

typedef void (*ngx_svc_redis_reply_pt)(redisReply *reply, void *data);


/*
 * Calls a script; the first nkeys of nargs arguments are its keys.  The script
 * lives as long as the process, the arguments are copied.  NGX_OK: the handler
 * will be called, once, and never from within this call; at the latest when
 * the worker ends.  NGX_DECLINED: Redis is down or off.  NGX_BUSY: too much is
 * not answered yet.  NGX_ERROR: memory.
 *
 * A worker that quits does not end before its calls are answered.
 */
NGX_SVC_API ngx_int_t ngx_svc_redis_call(ngx_svc_redis_script_t *script,
    const ngx_str_t *args, ngx_uint_t nargs, ngx_uint_t nkeys,
    ngx_svc_redis_reply_pt handler, void *data);

/*
 * 1: an error of Redis' state, not of the call, which has changed nothing, and
 * may succeed when it is made again later.
 */
NGX_SVC_API ngx_uint_t ngx_svc_redis_transient(const redisReply *reply);

/* In a child process, beside ngx_svc_redis_forked(): likewise for the calls. */
NGX_SVC_API void ngx_svc_redis_script_forked(void);


#endif /* _NGX_SVC_REDIS_SCRIPT_H_INCLUDED_ */
