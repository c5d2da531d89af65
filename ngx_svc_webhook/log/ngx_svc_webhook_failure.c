/*
 * Failed deliveries in the error log.
 */

#include "ngx_svc_webhook_failure.h"

#include "ngx_svc_log_limit.h"


#define NGX_SVC_WEBHOOK_MINUTE    60000     /* ms */
#define NGX_SVC_WEBHOOK_FAILURES  10        /* lines per minute, of an
                                               endpoint */
#define NGX_SVC_WEBHOOK_FAILING   10000     /* endpoints that are counted, at
                                               most */


/* An endpoint with failures within the last minute. */

typedef struct {
    ngx_str_node_t        node;     /* tenant and endpoint */
    ngx_queue_t           queue;    /* oldest first */
    ngx_msec_t            since;
    ngx_svc_log_limit_t   limit;
    ngx_uint_t            more;     /* failures without a line */
    u_char                key[2 * NGX_SVC_UUID_TEXT_LEN];
} ngx_svc_webhook_failing_t;


typedef struct {
    ngx_rbtree_t      tree;
    ngx_rbtree_node_t sentinel;
    ngx_queue_t       queue;
    ngx_uint_t        n;
    ngx_event_t       timer;        /* the end of the oldest one's minute */
    ngx_svc_webhook_failure_pt  more;
} ngx_svc_webhook_failures_t;


static ngx_svc_webhook_failing_t *ngx_svc_webhook_failing(
    ngx_svc_webhook_delivery_t *d);
static void ngx_svc_webhook_failing_over(ngx_svc_webhook_failing_t *failing);
static void ngx_svc_webhook_failures_timer(ngx_event_t *ev);


static ngx_svc_webhook_failures_t  ngx_svc_webhook_failures;


ngx_int_t
ngx_svc_webhook_failure_init(ngx_cycle_t *cycle,
    ngx_svc_webhook_failure_pt more)
{
    ngx_svc_webhook_failures_t  *f;

    f = &ngx_svc_webhook_failures;

    ngx_memzero(f, sizeof(ngx_svc_webhook_failures_t));

    ngx_rbtree_init(&f->tree, &f->sentinel, ngx_str_rbtree_insert_value);
    ngx_queue_init(&f->queue);

    f->timer.handler = ngx_svc_webhook_failures_timer;
    f->timer.data = f;
    f->timer.log = cycle->log;
    f->timer.cancelable = 1;

    f->more = more;

    return NGX_OK;
}


void
ngx_svc_webhook_failure_exit(void)
{
    ngx_svc_webhook_failure_flush();
}


ngx_uint_t
ngx_svc_webhook_failure(ngx_svc_webhook_delivery_t *d,
    ngx_svc_outbound_result_t *result, ngx_svc_webhook_record_e outcome)
{
    ngx_str_t                  *why;
    ngx_svc_webhook_failing_t  *failing;

    failing = ngx_svc_webhook_failing(d);
    why = result->detail.len ? &result->detail : &result->error;

    if (failing
        && !ngx_svc_log_limit(&failing->limit, NGX_SVC_WEBHOOK_FAILURES,
                              NGX_SVC_WEBHOOK_MINUTE))
    {
        failing->more++;
        return 0;
    }

    if (result->refused) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "webhook delivery %V of tenant %V to endpoint %V is "
                      "%V", &d->id, &d->tenant, &d->endpoint, why);
        return 1;
    }

    if (outcome == NGX_SVC_WEBHOOK_R_DROPPED) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "webhook delivery %V of tenant %V to endpoint %V is "
                      "dropped: %V", &d->id, &d->tenant, &d->endpoint, why);
        return 1;
    }

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "webhook delivery %V of tenant %V to endpoint %V is "
                  "abandoned, attempts: %ui, the last one: %V", &d->id,
                  &d->tenant, &d->endpoint, d->attempts, why);

    return 1;
}


/* Finds or adds the endpoint.  NULL: no memory. */

static ngx_svc_webhook_failing_t *
ngx_svc_webhook_failing(ngx_svc_webhook_delivery_t *d)
{
    u_char                       key[2 * NGX_SVC_UUID_TEXT_LEN];
    uint32_t                     hash;
    ngx_str_t                    name;
    ngx_queue_t                 *q;
    ngx_svc_webhook_failing_t   *failing;
    ngx_svc_webhook_failures_t  *f;

    f = &ngx_svc_webhook_failures;

    name.data = key;
    name.len = ngx_snprintf(key, sizeof(key), "%V%V", &d->tenant, &d->endpoint)
               - key;
    hash = ngx_crc32_short(name.data, name.len);

    failing = (ngx_svc_webhook_failing_t *)
                  ngx_str_rbtree_lookup(&f->tree, &name, hash);
    if (failing) {
        return failing;
    }

    if (f->n == NGX_SVC_WEBHOOK_FAILING) {
        q = ngx_queue_head(&f->queue);
        ngx_svc_webhook_failing_over(ngx_queue_data(q,
                                            ngx_svc_webhook_failing_t, queue));
    }

    failing = ngx_calloc(sizeof(ngx_svc_webhook_failing_t), ngx_cycle->log);
    if (failing == NULL) {
        return NULL;
    }

    ngx_memcpy(failing->key, key, name.len);
    failing->node.node.key = hash;
    failing->node.str.data = failing->key;
    failing->node.str.len = name.len;
    failing->since = ngx_current_msec;

    ngx_rbtree_insert(&f->tree, &failing->node.node);
    ngx_queue_insert_tail(&f->queue, &failing->queue);
    f->n++;

    if (!f->timer.timer_set) {
        ngx_add_timer(&f->timer, NGX_SVC_WEBHOOK_MINUTE);
    }

    return failing;
}


static void
ngx_svc_webhook_failing_over(ngx_svc_webhook_failing_t *failing)
{
    ngx_str_t                    tenant, endpoint;
    ngx_svc_webhook_failures_t  *f;

    f = &ngx_svc_webhook_failures;

    if (failing->more) {
        tenant.data = failing->key;
        tenant.len = NGX_SVC_UUID_TEXT_LEN;
        endpoint.data = failing->key + tenant.len;
        endpoint.len = failing->node.str.len - tenant.len;

        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "%ui more webhook deliveries of tenant %V to endpoint "
                      "%V have failed within a minute", failing->more, &tenant,
                      &endpoint);

        f->more(&tenant, &endpoint, failing->more);
    }

    ngx_queue_remove(&failing->queue);
    ngx_rbtree_delete(&f->tree, &failing->node.node);
    ngx_free(failing);
    f->n--;
}


void
ngx_svc_webhook_failure_flush(void)
{
    ngx_queue_t                 *q;
    ngx_svc_webhook_failures_t  *f;

    f = &ngx_svc_webhook_failures;

    while (!ngx_queue_empty(&f->queue)) {
        q = ngx_queue_head(&f->queue);
        ngx_svc_webhook_failing_over(ngx_queue_data(q,
                                            ngx_svc_webhook_failing_t, queue));
    }

    if (f->timer.timer_set) {
        ngx_del_timer(&f->timer);
    }
}


static void
ngx_svc_webhook_failures_timer(ngx_event_t *ev)
{
    ngx_msec_t                   age;
    ngx_queue_t                 *q;
    ngx_svc_webhook_failing_t   *failing;
    ngx_svc_webhook_failures_t  *f;

    f = &ngx_svc_webhook_failures;

    while (!ngx_queue_empty(&f->queue)) {
        q = ngx_queue_head(&f->queue);
        failing = ngx_queue_data(q, ngx_svc_webhook_failing_t, queue);
        age = ngx_current_msec - failing->since;

        if (age < NGX_SVC_WEBHOOK_MINUTE) {
            ngx_add_timer(ev, NGX_SVC_WEBHOOK_MINUTE - age);
            return;
        }

        ngx_svc_webhook_failing_over(failing);
    }
}
