/*
 * In a worker: queues an event's deliveries in Redis, by one call that is not
 * repeated.
 */

#include "ngx_svc_webhook_enqueue.h"
#include "ngx_svc_webhook_drop.h"
#include "ngx_svc_webhook_entry.h"
#include "ngx_svc_webhook_script.h"

#include "ngx_svc_metrics.h"


/* A call, in a block of its own, which is freed after the answer. */

struct ngx_svc_webhook_enqueue_s {
    ngx_uint_t                    n;        /* deliveries */
    ngx_uint_t                    one;      /* the outbox does not have it */
    ngx_svc_webhook_enqueued_pt   handler;  /* NULL: nobody waits */
    void                         *data;
    ngx_str_t                     tenant;   /* its bytes follow this struct */
};


static ngx_int_t ngx_svc_webhook_enqueue_call(ngx_pool_t *pool,
    ngx_svc_webhook_delivery_t *deliveries, ngx_svc_webhook_enqueue_t *call);
static ngx_svc_webhook_enqueue_t *ngx_svc_webhook_enqueue_create(
    const ngx_str_t *tenant, ngx_uint_t n);
static void ngx_svc_webhook_enqueue_answered(redisReply *reply, void *data);
static ngx_int_t ngx_svc_webhook_enqueue_code(ngx_svc_webhook_enqueue_t *call,
    const redisReply *reply);
static void ngx_svc_webhook_enqueue_missed(ngx_svc_webhook_enqueue_t *call,
    const redisReply *reply);


void
ngx_svc_webhook_enqueue(ngx_pool_t *pool,
    ngx_svc_webhook_delivery_t *deliveries, ngx_uint_t n)
{
    ngx_int_t                   rc;
    ngx_svc_webhook_enqueue_t  *call;

    call = ngx_svc_webhook_enqueue_create(&deliveries[0].tenant, n);
    rc = call ? ngx_svc_webhook_enqueue_call(pool, deliveries, call)
              : NGX_ERROR;

    if (rc != NGX_OK) {
        ngx_svc_webhook_drop(rc == NGX_ERROR ? NGX_SVC_WEBHOOK_DROP_MEMORY
                                             : NGX_SVC_WEBHOOK_DROP_DOWN,
                             n, &deliveries[0].tenant);
    }
}


ngx_int_t
ngx_svc_webhook_enqueue_one(ngx_pool_t *pool, ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_enqueued_pt handler, void *data,
    ngx_svc_webhook_enqueue_t **call)
{
    *call = ngx_svc_webhook_enqueue_create(&d->tenant, 1);
    if (*call == NULL) {
        return NGX_ERROR;
    }

    (*call)->one = 1;
    (*call)->handler = handler;
    (*call)->data = data;

    return ngx_svc_webhook_enqueue_call(pool, d, *call);
}


void
ngx_svc_webhook_enqueue_cancel(ngx_svc_webhook_enqueue_t *call)
{
    call->handler = NULL;
}


/*
 * Sends the call.  Returns NGX_OK.  Otherwise frees the call, and returns
 * NGX_DECLINED when Redis does not take it, or NGX_ERROR when memory runs out.
 */

static ngx_int_t
ngx_svc_webhook_enqueue_call(ngx_pool_t *pool,
    ngx_svc_webhook_delivery_t *deliveries, ngx_svc_webhook_enqueue_t *call)
{
    u_char      number[NGX_INT_T_LEN];
    ngx_int_t   rc;
    ngx_str_t  *args, *arg;
    ngx_uint_t  i;

    rc = NGX_ERROR;

    args = ngx_palloc(pool, (NGX_SVC_WEBHOOK_ENQUEUE_HEAD
                             + NGX_SVC_WEBHOOK_ENQUEUE_EVENT + call->n)
                            * sizeof(ngx_str_t));

    if (args == NULL || ngx_svc_webhook_enqueue_head(args, pool) != NGX_OK) {
        goto failed;
    }

    arg = args + NGX_SVC_WEBHOOK_ENQUEUE_HEAD;

    *arg++ = call->tenant;
    arg->data = number;
    arg->len = ngx_sprintf(number, "%ui", call->n) - number;
    arg++;

    for (i = 0; i < call->n; i++) {
        if (ngx_svc_webhook_enqueue_entry(arg++, pool, &deliveries[i])
            != NGX_OK)
        {
            goto failed;
        }
    }

    rc = ngx_svc_redis_call(&ngx_svc_webhook_enqueue_script, args, arg - args,
                            2, ngx_svc_webhook_enqueue_answered, call);
    if (rc == NGX_OK) {
        return NGX_OK;
    }

failed:

    ngx_free(call);

    return rc == NGX_ERROR ? NGX_ERROR : NGX_DECLINED;
}


static ngx_svc_webhook_enqueue_t *
ngx_svc_webhook_enqueue_create(const ngx_str_t *tenant, ngx_uint_t n)
{
    ngx_svc_webhook_enqueue_t  *call;

    call = ngx_alloc(sizeof(ngx_svc_webhook_enqueue_t) + tenant->len,
                     ngx_cycle->log);
    if (call == NULL) {
        return NULL;
    }

    call->n = n;
    call->one = 0;
    call->handler = NULL;
    call->tenant.data = (u_char *) (call + 1);
    call->tenant.len = tenant->len;
    ngx_memcpy(call->tenant.data, tenant->data, tenant->len);

    return call;
}


ngx_int_t
ngx_svc_webhook_enqueue_head(ngx_str_t *args, ngx_pool_t *pool)
{
    u_char                  *p;
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_svc_webhook_conf();

    p = ngx_pnalloc(pool, 2 * NGX_INT_T_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_str_set(&args[0], NGX_SVC_WEBHOOK_QUEUE);
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_PENDING);

    args[2].data = p;
    args[2].len = ngx_sprintf(p, "%ui", wcf->capacity) - p;

    p += args[2].len;

    args[3].data = p;
    args[3].len = ngx_sprintf(p, "%ui", wcf->tenant_capacity) - p;

    return NGX_OK;
}


ngx_int_t
ngx_svc_webhook_enqueue_entry(ngx_str_t *entry, ngx_pool_t *pool,
    const ngx_svc_webhook_delivery_t *d)
{
    u_char  *last;

    entry->data = ngx_pnalloc(pool, ngx_svc_webhook_entry_len(d));
    if (entry->data == NULL) {
        return NGX_ERROR;
    }

    last = ngx_svc_webhook_entry_write(entry->data, d);
    if (last == NULL) {
        return NGX_ERROR;
    }

    entry->len = last - entry->data;

    return NGX_OK;
}


static void
ngx_svc_webhook_enqueue_answered(redisReply *reply, void *data)
{
    ngx_svc_webhook_enqueue_t *call = data;

    ngx_int_t  rc;

    rc = ngx_svc_webhook_enqueue_code(call, reply);

    if (rc == NGX_DECLINED && !call->one) {
        ngx_svc_webhook_enqueue_missed(call, reply);
    }

    if (call->handler) {
        call->handler(rc, call->data);
    }

    ngx_free(call);
}


/* Counts what was queued.  Returns what the handler is told. */

static ngx_int_t
ngx_svc_webhook_enqueue_code(ngx_svc_webhook_enqueue_t *call,
    const redisReply *reply)
{
    if (reply == NULL || reply->type != REDIS_REPLY_STRING || reply->len != 1)
    {
        return NGX_DECLINED;
    }

    switch (reply->str[0]) {

    case '0':
        ngx_svc_metric_add(NGX_SVC_M_QUEUED, call->n);
        return NGX_OK;

    case '1':
        ngx_svc_webhook_drop(NGX_SVC_WEBHOOK_DROP_FULL, call->n,
                             &call->tenant);
        return NGX_BUSY;

    case '3':
        return NGX_DONE;

    default: /* '2' */
        ngx_svc_webhook_drop(NGX_SVC_WEBHOOK_DROP_TENANT, call->n,
                             &call->tenant);
        return NGX_BUSY;
    }
}


static void
ngx_svc_webhook_enqueue_missed(ngx_svc_webhook_enqueue_t *call,
    const redisReply *reply)
{
    ngx_svc_webhook_drop(reply ? NGX_SVC_WEBHOOK_DROP_REFUSED
                               : NGX_SVC_WEBHOOK_DROP_LOST,
                         call->n, &call->tenant);
}
