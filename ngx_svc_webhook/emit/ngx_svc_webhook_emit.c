/*
 * In a worker: makes deliveries of events.
 */

#include "ngx_svc_http.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_webhook_drop.h"
#include "ngx_svc_webhook_emit.h"
#include "ngx_svc_webhook_event.h"


static void ngx_svc_webhook_emit(const ngx_svc_event_t *event);
static ngx_int_t ngx_svc_webhook_emit_all(ngx_pool_t *pool,
    const ngx_svc_event_t *event);
static ngx_int_t ngx_svc_webhook_emit_one(const ngx_svc_event_t *event,
    ngx_uint_t test, ngx_svc_webhook_one_t *one);
static ngx_int_t ngx_svc_webhook_deliveries(ngx_pool_t *pool,
    const ngx_str_t *subscribers, const u_char *event_id,
    ngx_array_t *deliveries);


void
ngx_svc_webhook_emit_init(void)
{
    ngx_svc_event_listen(ngx_svc_webhook_emit);
}


void
ngx_svc_webhook_emit_exit(void)
{
    ngx_svc_event_listen(NULL);
}


ngx_int_t
ngx_svc_webhook_emit_test(const ngx_str_t *tenant, const ngx_str_t *endpoint,
    ngx_svc_webhook_one_t *one)
{
    u_char           uuid[NGX_SVC_UUID_LEN], user[NGX_SVC_UUID_TEXT_LEN];
    ngx_svc_event_t  event;

    if (ngx_svc_uuid_new(uuid) != NGX_OK) {
        return NGX_ERROR;
    }

    event.kind = NGX_SVC_EVENT_USER_CREATED;
    event.tenant = *tenant;
    event.subscribers = *endpoint;
    event.user.data = user;
    event.user.len = ngx_svc_uuid_text(user, uuid) - user;
    ngx_str_set(&event.email, "test@example.com");
    ngx_str_null(&event.number);
    ngx_str_null(&event.at);

    return ngx_svc_webhook_emit_one(&event, 1, one);
}


ngx_int_t
ngx_svc_webhook_emit_again(const ngx_svc_event_t *event,
    ngx_svc_webhook_one_t *one)
{
    return ngx_svc_webhook_emit_one(event, 0, one);
}


static void
ngx_svc_webhook_emit(const ngx_svc_event_t *event)
{
    ngx_int_t    rc;
    ngx_pool_t  *pool;

    ngx_svc_metric_add(NGX_SVC_M_EVENTS, 1);

    rc = NGX_ERROR;
    pool = ngx_create_pool(NGX_MIN_POOL_SIZE, ngx_cycle->log);

    if (pool) {
        rc = ngx_svc_webhook_emit_all(pool, event);
        ngx_destroy_pool(pool);
    }

    if (rc == NGX_ERROR) {
        ngx_svc_webhook_drop(NGX_SVC_WEBHOOK_DROP_MEMORY, 1, &event->tenant);
    }
}


/* Deliveries that cannot be queued are counted and logged there. */

static ngx_int_t
ngx_svc_webhook_emit_all(ngx_pool_t *pool, const ngx_svc_event_t *event)
{
    u_char                       event_id[NGX_SVC_ID_DIGITS];
    ngx_str_t                    body;
    ngx_uint_t                   i;
    ngx_array_t                  deliveries;
    ngx_svc_webhook_delivery_t  *d;

    if (ngx_svc_webhook_event_id(pool, event, event_id) != NGX_OK
        || ngx_svc_webhook_event_body(pool, event, event_id, 0, &body)
           != NGX_OK
        || ngx_svc_webhook_deliveries(pool, &event->subscribers, event_id,
                                      &deliveries)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    d = deliveries.elts;

    for (i = 0; i < deliveries.nelts; i++) {
        ngx_svc_webhook_event_delivery(&d[i], event, event_id, &body);
    }

    ngx_svc_webhook_enqueue(pool, d, deliveries.nelts);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_emit_one(const ngx_svc_event_t *event, ngx_uint_t test,
    ngx_svc_webhook_one_t *one)
{
    ngx_int_t                   rc;
    ngx_str_t                   body;
    ngx_pool_t                 *pool;
    ngx_svc_webhook_delivery_t  d;

    pool = ngx_create_pool(NGX_MIN_POOL_SIZE, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_webhook_event_body(pool, event, one->event_id, test, &body);

    if (rc == NGX_OK) {
        ngx_memzero(&d, sizeof(ngx_svc_webhook_delivery_t));

        d.id.data = one->id;
        d.id.len = NGX_SVC_ID_DIGITS;
        d.endpoint = event->subscribers;

        ngx_svc_webhook_event_delivery(&d, event, one->event_id, &body);

        rc = ngx_svc_webhook_enqueue_one(pool, &d, one->handler, one->data,
                                         &one->call);
    }

    ngx_destroy_pool(pool);

    return rc;
}


/* Makes a delivery for each subscriber, with an id of its own. */

static ngx_int_t
ngx_svc_webhook_deliveries(ngx_pool_t *pool, const ngx_str_t *subscribers,
    const u_char *event_id, ngx_array_t *deliveries)
{
    u_char                      *p, *end, *comma;
    ngx_svc_webhook_delivery_t  *d;

    p = subscribers->data;
    end = p + subscribers->len;

    if (ngx_array_init(deliveries, pool,
                       subscribers->len / NGX_SVC_UUID_TEXT_LEN + 1,
                       sizeof(ngx_svc_webhook_delivery_t))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    for ( ;; ) {
        comma = ngx_strlchr(p, end, ',');

        d = ngx_array_push(deliveries);
        if (d == NULL) {
            return NGX_ERROR;
        }

        ngx_memzero(d, sizeof(ngx_svc_webhook_delivery_t));

        d->endpoint.data = p;
        d->endpoint.len = (comma ? comma : end) - p;
        d->id.len = NGX_SVC_ID_DIGITS;
        d->id.data = ngx_pnalloc(pool, NGX_SVC_ID_DIGITS);

        if (d->id.data == NULL
            || ngx_svc_webhook_delivery_id(pool, event_id, &d->endpoint,
                                           d->id.data)
               != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (comma == NULL) {
            return NGX_OK;
        }

        p = comma + 1;
    }
}
