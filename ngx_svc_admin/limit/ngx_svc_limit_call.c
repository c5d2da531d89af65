/*
 * A call of Redis that a request waits for.
 */

#include "ngx_svc_limit_call.h"


/* Outlives the request: Redis may answer after the request is gone. */

struct ngx_svc_limit_call_s {
    ngx_svc_limit_t       *limit;       /* NULL: nobody waits */
};


static void ngx_svc_limit_gone(void *data);


ngx_int_t
ngx_svc_limit_ask(ngx_svc_limit_t *limit, ngx_pool_t *pool,
    ngx_int_t (*send)(ngx_svc_limit_t *limit, ngx_svc_limit_call_t *call))
{
    ngx_pool_cleanup_t    *cln;
    ngx_svc_limit_call_t  *call;

    if (!ngx_svc_redis_ready()) {
        return NGX_DECLINED;
    }

    cln = ngx_pool_cleanup_add(pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    call = ngx_alloc(sizeof(ngx_svc_limit_call_t), ngx_cycle->log);
    if (call == NULL) {
        return NGX_ERROR;
    }

    if (send(limit, call) != NGX_OK) {
        ngx_free(call);
        return NGX_DECLINED;
    }

    call->limit = limit;
    limit->call = call;

    cln->handler = ngx_svc_limit_gone;
    cln->data = limit;

    return NGX_OK;
}


static void
ngx_svc_limit_gone(void *data)
{
    ngx_svc_limit_cancel(data);
}


void
ngx_svc_limit_cancel(ngx_svc_limit_t *limit)
{
    if (limit->call) {
        limit->call->limit = NULL;
        limit->call = NULL;
    }
}


ngx_svc_limit_t *
ngx_svc_limit_taken(redisReply *reply, ngx_svc_limit_call_t *call)
{
    ngx_svc_limit_t  *limit;

    limit = call->limit;

    ngx_free(call);

    if (limit == NULL) {
        return NULL;
    }

    limit->call = NULL;

    /* a process that ends breaks its connection: no handler is called */

    return reply == NULL && (ngx_terminate || ngx_quit) ? NULL : limit;
}
