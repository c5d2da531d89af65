/*
 * Attempts that are older than a week.
 */

#include "ngx_svc_webhook_expire.h"


#define NGX_SVC_WEBHOOK_HOUR     3600000    /* ms */
#define NGX_SVC_WEBHOOK_OLD      1000       /* rows that go at once */
#define NGX_SVC_WEBHOOK_NEXT     1000       /* ms, when there are more */


static void ngx_svc_webhook_expire_timer(ngx_event_t *ev);
static void ngx_svc_webhook_expired(ngx_svc_pg_op_t *op);


static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_expire = {
    .name = "webhook_expire",
    .text = "SELECT svc.webhook_attempt_expire()"
};

ngx_svc_pg_statements_t  ngx_svc_webhook_expire_statements[] = {
    &ngx_svc_sql_webhook_expire,
    NULL
};


static ngx_event_t       ngx_svc_webhook_expire;
static ngx_svc_pg_op_t  *ngx_svc_webhook_expire_op;     /* in flight */


/* Nodes that start at the same time do not do this at the same time. */

void
ngx_svc_webhook_expire_init(ngx_cycle_t *cycle)
{
    ngx_memzero(&ngx_svc_webhook_expire, sizeof(ngx_event_t));

    ngx_svc_webhook_expire.handler = ngx_svc_webhook_expire_timer;
    ngx_svc_webhook_expire.data = &ngx_svc_webhook_expire;
    ngx_svc_webhook_expire.log = cycle->log;
    ngx_svc_webhook_expire.cancelable = 1;

    ngx_add_timer(&ngx_svc_webhook_expire,
                  (ngx_msec_t) ngx_random() % NGX_SVC_WEBHOOK_HOUR);
}


void
ngx_svc_webhook_expire_exit(void)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_webhook_expire_op;

    if (op) {
        ngx_svc_pg_cancel(op);
        ngx_destroy_pool(op->pool);
        ngx_svc_webhook_expire_op = NULL;
    }

    if (ngx_svc_webhook_expire.timer_set) {
        ngx_del_timer(&ngx_svc_webhook_expire);
    }
}


static void
ngx_svc_webhook_expire_timer(ngx_event_t *ev)
{
    ngx_pool_t       *pool;
    ngx_svc_pg_op_t  *op;

    ngx_add_timer(ev, NGX_SVC_WEBHOOK_HOUR);

    pool = ngx_create_pool(1024, ev->log);
    if (pool == NULL) {
        return;
    }

    op = ngx_svc_pg_op_create(pool, NGX_SVC_PG_WRITE, ngx_svc_webhook_expired,
                              NULL);

    if (op == NULL
        || ngx_svc_pg_call(op, &ngx_svc_sql_webhook_expire) == NULL
        || ngx_svc_pg_submit(op) != NGX_OK)
    {
        ngx_destroy_pool(pool);
        return;
    }

    ngx_svc_webhook_expire_op = op;
}


static void
ngx_svc_webhook_expired(ngx_svc_pg_op_t *op)
{
    ngx_str_t  n;

    if (op->status == NGX_SVC_PG_OK) {
        n = ngx_svc_pg_value(op->results[0], 0, 0);

        if (ngx_atoi(n.data, n.len) >= NGX_SVC_WEBHOOK_OLD) {
            ngx_add_timer(&ngx_svc_webhook_expire, NGX_SVC_WEBHOOK_NEXT);
        }

    } else {
        ngx_svc_webhook_op_failed(op, "old attempts to deliver webhooks "
                                  "cannot be deleted");
    }

    ngx_destroy_pool(op->pool);
    ngx_svc_webhook_expire_op = NULL;
}
