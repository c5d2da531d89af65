/*
 * Events become deliveries, in a worker.
 */

#include "ngx_svc_http.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_time.h"
#include "ngx_svc_webhook_emit.h"
#include "ngx_svc_webhook_push.h"


/* The members of an event's "data". */

#define NGX_SVC_WEBHOOK_D_USER    0x01
#define NGX_SVC_WEBHOOK_D_EMAIL   0x02
#define NGX_SVC_WEBHOOK_D_TENANT  0x04
#define NGX_SVC_WEBHOOK_D_TEST    0x08


static void ngx_svc_webhook_emit(const ngx_svc_event_t *event);
static ngx_int_t ngx_svc_webhook_emit_all(ngx_pool_t *pool,
    const ngx_svc_event_t *event);
static ngx_int_t ngx_svc_webhook_emit_one(ngx_pool_t *pool,
    const ngx_svc_event_t *event, u_char *id, u_char *event_id);
static ngx_int_t ngx_svc_webhook_deliveries(ngx_pool_t *pool,
    const ngx_str_t *subscribers, ngx_array_t *deliveries);
static void ngx_svc_webhook_delivery(ngx_svc_webhook_delivery_t *d,
    const ngx_svc_event_t *event, u_char *event_id, const ngx_str_t *body);
static ngx_int_t ngx_svc_webhook_body(ngx_pool_t *pool,
    const ngx_svc_event_t *event, ngx_uint_t data, const u_char *event_id,
    ngx_str_t *body);
static void ngx_svc_webhook_body_data(ngx_svc_json_writer_t *w,
    const ngx_svc_event_t *event, ngx_uint_t data);
static void ngx_svc_webhook_now(u_char *text);


static const ngx_uint_t  ngx_svc_webhook_data[NGX_SVC_EVENTS] = {
    NGX_SVC_WEBHOOK_D_USER|NGX_SVC_WEBHOOK_D_EMAIL,
    NGX_SVC_WEBHOOK_D_USER|NGX_SVC_WEBHOOK_D_TENANT,
    NGX_SVC_WEBHOOK_D_USER
};


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
    u_char *id, u_char *event_id)
{
    u_char            uuid[NGX_SVC_UUID_LEN], user[NGX_SVC_UUID_TEXT_LEN];
    ngx_int_t         rc;
    ngx_pool_t       *pool;
    ngx_svc_event_t   event;

    if (ngx_svc_uuid_new(uuid) != NGX_OK) {
        return NGX_ERROR;
    }

    event.kind = NGX_SVC_EVENT_USER_CREATED;
    event.tenant = *tenant;
    event.subscribers = *endpoint;
    event.user.data = user;
    event.user.len = ngx_svc_uuid_text(user, uuid) - user;
    ngx_str_set(&event.email, "test@example.com");

    pool = ngx_create_pool(NGX_MIN_POOL_SIZE, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_webhook_emit_one(pool, &event, id, event_id);

    ngx_destroy_pool(pool);

    return rc;
}


/* Whatever the queue does not take, it counts and logs itself. */

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
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "the webhook event \"%V\" of tenant %V is dropped: no "
                      "memory", ngx_svc_event_name(event->kind),
                      &event->tenant);
    }
}


static ngx_int_t
ngx_svc_webhook_emit_all(ngx_pool_t *pool, const ngx_svc_event_t *event)
{
    u_char                       event_id[NGX_SVC_WEBHOOK_ID];
    ngx_str_t                    body;
    ngx_uint_t                   i;
    ngx_array_t                  deliveries;
    ngx_svc_webhook_delivery_t  *d;

    if (ngx_svc_webhook_id(event_id) != NGX_OK
        || ngx_svc_webhook_body(pool, event, ngx_svc_webhook_data[event->kind],
                                event_id, &body)
           != NGX_OK
        || ngx_svc_webhook_deliveries(pool, &event->subscribers, &deliveries)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    d = deliveries.elts;

    for (i = 0; i < deliveries.nelts; i++) {
        ngx_svc_webhook_delivery(&d[i], event, event_id, &body);
    }

    return ngx_svc_webhook_push(d, deliveries.nelts);
}


static ngx_int_t
ngx_svc_webhook_emit_one(ngx_pool_t *pool, const ngx_svc_event_t *event,
    u_char *id, u_char *event_id)
{
    ngx_str_t                   body;
    ngx_svc_webhook_delivery_t  d;

    if (ngx_svc_webhook_body(pool, event,
                             ngx_svc_webhook_data[event->kind]
                             |NGX_SVC_WEBHOOK_D_TEST,
                             event_id, &body)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_memzero(&d, sizeof(ngx_svc_webhook_delivery_t));

    d.id.data = id;
    d.id.len = NGX_SVC_WEBHOOK_ID;
    d.endpoint = event->subscribers;

    ngx_svc_webhook_delivery(&d, event, event_id, &body);

    return ngx_svc_webhook_push(&d, 1);
}


/* One for each subscriber, with an id of its own. */

static ngx_int_t
ngx_svc_webhook_deliveries(ngx_pool_t *pool, const ngx_str_t *subscribers,
    ngx_array_t *deliveries)
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
        d->id.len = NGX_SVC_WEBHOOK_ID;
        d->id.data = ngx_pnalloc(pool, NGX_SVC_WEBHOOK_ID);

        if (d->id.data == NULL || ngx_svc_webhook_id(d->id.data) != NGX_OK) {
            return NGX_ERROR;
        }

        if (comma == NULL) {
            return NGX_OK;
        }

        p = comma + 1;
    }
}


/* What all deliveries of an event have in common. */

static void
ngx_svc_webhook_delivery(ngx_svc_webhook_delivery_t *d,
    const ngx_svc_event_t *event, u_char *event_id, const ngx_str_t *body)
{
    d->event_id.data = event_id;
    d->event_id.len = NGX_SVC_WEBHOOK_ID;
    d->event = *ngx_svc_event_name(event->kind);
    d->tenant = event->tenant;
    d->body = *body;
}


static ngx_int_t
ngx_svc_webhook_body(ngx_pool_t *pool, const ngx_svc_event_t *event,
    ngx_uint_t data, const u_char *event_id, ngx_str_t *body)
{
    u_char                  now[NGX_SVC_TIME_LEN + 1];
    const ngx_str_t        *name;
    ngx_svc_json_writer_t   w;

    if (ngx_svc_json_writer_init(&w, pool, 512) != NGX_OK) {
        return NGX_ERROR;
    }

    name = ngx_svc_event_name(event->kind);
    ngx_svc_webhook_now(now);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_plain(&w, "id", event_id, NGX_SVC_WEBHOOK_ID);
    ngx_svc_json_plain(&w, "event", name->data, name->len);
    ngx_svc_json_plain(&w, "tenantId", event->tenant.data, event->tenant.len);
    ngx_svc_json_plain(&w, "createdAt", now, NGX_SVC_TIME_LEN);
    ngx_svc_webhook_body_data(&w, event, data);
    ngx_svc_json_close(&w, '}');

    if (w.failed) {
        return NGX_ERROR;
    }

    body->data = w.start;
    body->len = w.last - w.start;

    return NGX_OK;
}


static void
ngx_svc_webhook_body_data(ngx_svc_json_writer_t *w,
    const ngx_svc_event_t *event, ngx_uint_t data)
{
    ngx_svc_json_open(w, "data", '{');

    if (data & NGX_SVC_WEBHOOK_D_USER) {
        ngx_svc_json_plain(w, "userId", event->user.data, event->user.len);
    }

    if (data & NGX_SVC_WEBHOOK_D_EMAIL) {
        ngx_svc_json_string(w, "email", event->email.data, event->email.len);
    }

    if (data & NGX_SVC_WEBHOOK_D_TENANT) {
        ngx_svc_json_plain(w, "tenantId", event->tenant.data,
                           event->tenant.len);
    }

    if (data & NGX_SVC_WEBHOOK_D_TEST) {
        ngx_svc_json_boolean(w, "test", 1);
    }

    ngx_svc_json_close(w, '}');
}


/* NGX_SVC_TIME_LEN bytes, and a NUL. */

static void
ngx_svc_webhook_now(u_char *text)
{
    ngx_tm_t     tm;
    ngx_time_t  *tp;

    tp = ngx_timeofday();
    ngx_gmtime(tp->sec, &tm);

    (void) ngx_sprintf(text, "%04d-%02d-%02dT%02d:%02d:%02d.%03MZ%Z",
                       tm.ngx_tm_year, tm.ngx_tm_mon, tm.ngx_tm_mday,
                       tm.ngx_tm_hour, tm.ngx_tm_min, tm.ngx_tm_sec, tp->msec);
}
