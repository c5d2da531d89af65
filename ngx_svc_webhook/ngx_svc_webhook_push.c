/*
 * In a worker: deliveries on their way to the queue.
 */

#include "ngx_svc_webhook_entry.h"
#include "ngx_svc_webhook_queue.h"
#include "ngx_svc_webhook_script.h"

#include "ngx_svc_metrics.h"


#define NGX_SVC_WEBHOOK_SAID  10        /* seconds between lines of a kind */


/* Why deliveries are dropped. */

typedef struct {
    ngx_svc_metric_e    metric;
    const char         *why;
    time_t              said;
    ngx_uint_t          unsaid;         /* dropped since */
} ngx_svc_webhook_drop_t;


typedef struct {
    ngx_uint_t          n;
    size_t              len;
    u_char              tenant[NGX_SVC_WEBHOOK_UUID];
} ngx_svc_webhook_pushed_t;


static ngx_int_t ngx_svc_webhook_push_call(
    ngx_svc_webhook_delivery_t *deliveries, ngx_uint_t n,
    ngx_svc_webhook_pushed_t *pushed);
static void ngx_svc_webhook_push_head(ngx_str_t *args, u_char *numbers,
    ngx_str_t *tenant);
static void ngx_svc_webhook_pushed(redisReply *reply, void *data);
static void ngx_svc_webhook_drop(ngx_svc_webhook_drop_t *drop, ngx_uint_t n,
    ngx_str_t *tenant);


static ngx_svc_webhook_drop_t  ngx_svc_webhook_full = {
    .metric = NGX_SVC_M_DROPPED_FULL,
    .why = "the queue is full (see \"svc_webhook_queue\")"
};

static ngx_svc_webhook_drop_t  ngx_svc_webhook_tenant_full = {
    .metric = NGX_SVC_M_DROPPED_TENANT,
    .why = "the tenant's share of the queue is full (see "
           "\"svc_webhook_queue\")"
};

static ngx_svc_webhook_drop_t  ngx_svc_webhook_down = {
    .metric = NGX_SVC_M_DROPPED_REDIS,
    .why = "Redis is down"
};

static ngx_svc_webhook_drop_t  ngx_svc_webhook_busy = {
    .metric = NGX_SVC_M_DROPPED_REDIS,
    .why = "Redis is too slow"
};

static ngx_svc_webhook_drop_t  ngx_svc_webhook_unknown = {
    .metric = NGX_SVC_M_DROPPED_REDIS,
    .why = "Redis refuses them, or has not answered"
};


ngx_int_t
ngx_svc_webhook_queue_push(ngx_svc_webhook_delivery_t *deliveries,
    ngx_uint_t n)
{
    ngx_int_t                  rc;
    ngx_str_t                 *tenant;
    ngx_svc_webhook_pushed_t  *pushed;

    tenant = &deliveries[0].tenant;

    pushed = ngx_alloc(sizeof(ngx_svc_webhook_pushed_t), ngx_cycle->log);
    if (pushed == NULL) {
        ngx_svc_webhook_drop(&ngx_svc_webhook_busy, n, tenant);
        return NGX_DECLINED;
    }

    pushed->n = n;
    pushed->len = ngx_min(tenant->len, NGX_SVC_WEBHOOK_UUID);
    ngx_memcpy(pushed->tenant, tenant->data, pushed->len);

    rc = ngx_svc_webhook_push_call(deliveries, n, pushed);

    if (rc == NGX_OK) {
        return NGX_OK;
    }

    ngx_free(pushed);

    ngx_svc_webhook_drop((rc == NGX_DECLINED) ? &ngx_svc_webhook_down
                                              : &ngx_svc_webhook_busy,
                         n, tenant);

    return NGX_DECLINED;
}


static ngx_int_t
ngx_svc_webhook_push_call(ngx_svc_webhook_delivery_t *deliveries,
    ngx_uint_t n, ngx_svc_webhook_pushed_t *pushed)
{
    u_char      *p;
    size_t       size;
    ngx_int_t    rc;
    ngx_str_t   *args;
    ngx_uint_t   i;

    size = (5 + n) * sizeof(ngx_str_t) + 2 * NGX_INT_T_LEN;

    for (i = 0; i < n; i++) {
        size += ngx_svc_webhook_entry_len(&deliveries[i]);
    }

    args = ngx_alloc(size, ngx_cycle->log);
    if (args == NULL) {
        return NGX_ERROR;
    }

    p = (u_char *) (args + 5 + n);
    ngx_svc_webhook_push_head(args, p, &deliveries[0].tenant);
    p += 2 * NGX_INT_T_LEN;

    for (i = 0; i < n; i++) {
        args[5 + i].data = p;
        p = ngx_svc_webhook_entry_write(p, &deliveries[i]);
        args[5 + i].len = p - args[5 + i].data;
    }

    rc = ngx_svc_redis_call(&ngx_svc_webhook_push_script, args, 5 + n, 2,
                            ngx_svc_webhook_pushed, pushed);

    ngx_free(args);

    return rc;
}


/* numbers: a place for two of them. */

static void
ngx_svc_webhook_push_head(ngx_str_t *args, u_char *numbers, ngx_str_t *tenant)
{
    u_char                  *p;
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_svc_webhook_conf();

    ngx_str_set(&args[0], NGX_SVC_WEBHOOK_QUEUE);
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_PENDING);

    p = ngx_sprintf(numbers, "%ui", wcf->capacity);
    args[2].data = numbers;
    args[2].len = p - numbers;

    args[3].data = p;
    args[3].len = ngx_sprintf(p, "%ui", wcf->tenant_capacity) - p;

    args[4] = *tenant;
}


static void
ngx_svc_webhook_pushed(redisReply *reply, void *data)
{
    ngx_svc_webhook_pushed_t *pushed = data;

    ngx_str_t  tenant;

    tenant.data = pushed->tenant;
    tenant.len = pushed->len;

    if (reply == NULL || reply->type != REDIS_REPLY_INTEGER) {
        ngx_svc_webhook_drop(&ngx_svc_webhook_unknown, pushed->n, &tenant);

    } else if (reply->integer == 1) {
        ngx_svc_webhook_drop(&ngx_svc_webhook_full, pushed->n, &tenant);

    } else if (reply->integer == 2) {
        ngx_svc_webhook_drop(&ngx_svc_webhook_tenant_full, pushed->n, &tenant);

    } else {
        ngx_svc_metric_add(NGX_SVC_M_QUEUED, pushed->n);
    }

    ngx_free(pushed);
}


/* Each of them counts; the log has one line in a while, with how many. */

static void
ngx_svc_webhook_drop(ngx_svc_webhook_drop_t *drop, ngx_uint_t n,
    ngx_str_t *tenant)
{
    ngx_uint_t  level;

    ngx_svc_metric_add(drop->metric, n);

    level = NGX_LOG_INFO;
    drop->unsaid += n;

    if (ngx_time() - drop->said >= NGX_SVC_WEBHOOK_SAID) {
        level = NGX_LOG_ERR;
        n = drop->unsaid;
        drop->said = ngx_time();
        drop->unsaid = 0;
    }

    ngx_log_error(level, ngx_cycle->log, 0,
                  "%ui webhook deliveries dropped, the last ones of tenant "
                  "%V: %s", n, tenant, drop->why);
}
