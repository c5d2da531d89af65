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
    unsigned              errors:1; /* 1: the handler gets errors, too */

    /* private */

    u_char                sha1[41]; /* hexadecimal; empty: not computed yet */
    ngx_svc_log_limit_t   refused;  /* of log lines on its errors */
} ngx_svc_redis_script_t;


/*
 * reply is freed after the call.  NULL: what has happened is not known, since
 * the connection broke, or Redis has answered with an error.  Errors are
 * logged; the handler of a script with "errors" set gets them as replies.
 */

typedef void (*ngx_svc_redis_reply_pt)(redisReply *reply, void *data);


/*
 * Calls a script; the first nkeys of nargs arguments are its keys.  The script
 * lives as long as the process; the arguments are copied.  Returns NGX_OK, and
 * the handler will be called, once, and never from within this call, at the
 * latest when the worker ends.  Returns NGX_DECLINED when Redis is down or off;
 * NGX_BUSY when too many calls, or too many bytes, are not answered yet; or
 * NGX_ERROR when memory runs out.
 *
 * A worker that quits does not end before its calls are answered.
 */
NGX_SVC_API ngx_int_t ngx_svc_redis_call(ngx_svc_redis_script_t *script,
    const ngx_str_t *args, ngx_uint_t nargs, ngx_uint_t nkeys,
    ngx_svc_redis_reply_pt handler, void *data);

/*
 * Returns 1 if a reply is an error of Redis's state, and not of the call: it
 * has changed nothing, and may succeed when it is made again later.
 */
NGX_SVC_API ngx_uint_t ngx_svc_redis_transient(const redisReply *reply);

/* Forgets the parent's calls, in a child, beside ngx_svc_redis_forked(). */
NGX_SVC_API void ngx_svc_redis_script_forked(void);


#endif /* _NGX_SVC_REDIS_SCRIPT_H_INCLUDED_ */
