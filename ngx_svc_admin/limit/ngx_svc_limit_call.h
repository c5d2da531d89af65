/*
 * A call of Redis that a request waits for.
 */

#ifndef _NGX_SVC_LIMIT_CALL_H_INCLUDED_
#define _NGX_SVC_LIMIT_CALL_H_INCLUDED_


#include "ngx_svc_limit.h"
#include "ngx_svc_redis_script.h"


/*
 * Makes limit->call and has send() call a script, whose callback gets the call
 * as its data.  Returns NGX_OK: the callback will be called, once;
 * NGX_DECLINED: Redis does not answer; NGX_ERROR: no memory.  When the pool is
 * destroyed, or ngx_svc_limit_cancel() is called, nothing waits for the reply
 * any more.
 */
ngx_int_t ngx_svc_limit_ask(ngx_svc_limit_t *limit, ngx_pool_t *pool,
    ngx_int_t (*send)(ngx_svc_limit_t *limit, ngx_svc_limit_call_t *call));

/*
 * Called by the callback: frees the call, and returns the limit that waits for
 * the reply; NULL if none does.
 */
ngx_svc_limit_t *ngx_svc_limit_taken(redisReply *reply,
    ngx_svc_limit_call_t *call);


#endif /* _NGX_SVC_LIMIT_CALL_H_INCLUDED_ */
