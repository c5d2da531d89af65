/*
 * The body of an event, and its ids.
 */

#include "ngx_svc_webhook_event.h"

#include "ngx_svc_http.h"
#include "ngx_svc_time.h"


/* The members of an event's "data". */

#define NGX_SVC_WEBHOOK_D_USER    0x01
#define NGX_SVC_WEBHOOK_D_EMAIL   0x02
#define NGX_SVC_WEBHOOK_D_TENANT  0x04
#define NGX_SVC_WEBHOOK_D_TEST    0x08


static ngx_int_t ngx_svc_webhook_event_hash(u_char *text, u_char *last,
    u_char *id);
static void ngx_svc_webhook_event_data(ngx_svc_json_writer_t *w,
    const ngx_svc_event_t *event, ngx_uint_t data);
static void ngx_svc_webhook_event_now(u_char *text);


static const ngx_uint_t  ngx_svc_webhook_data[] = {
    NGX_SVC_WEBHOOK_D_USER|NGX_SVC_WEBHOOK_D_EMAIL,
    NGX_SVC_WEBHOOK_D_USER|NGX_SVC_WEBHOOK_D_TENANT,
    NGX_SVC_WEBHOOK_D_USER
};

_Static_assert(sizeof(ngx_svc_webhook_data) / sizeof(ngx_svc_webhook_data[0])
               == NGX_SVC_EVENTS, "each kind of event has its data");


ngx_int_t
ngx_svc_webhook_event_kind(const ngx_str_t *name, ngx_svc_event_e *kind)
{
    ngx_uint_t        i;
    const ngx_str_t  *known;

    for (i = 0; i < NGX_SVC_EVENTS; i++) {
        known = ngx_svc_event_name(i);

        if (known->len == name->len
            && ngx_memcmp(known->data, name->data, name->len) == 0)
        {
            *kind = i;
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


/*
 * webhook_outbox_look and webhook_redeliver make the same id from the audit
 * log.
 */

ngx_int_t
ngx_svc_webhook_event_id(ngx_pool_t *pool, const ngx_svc_event_t *event,
    u_char *id)
{
    u_char           *text, *last;
    const ngx_str_t  *name, *of;

    name = ngx_svc_event_name(event->kind);
    of = (event->kind == NGX_SVC_EVENT_USER_LOGIN) ? &event->number
                                                   : &event->user;

    text = ngx_pnalloc(pool, sizeof(NGX_SVC_WEBHOOK_EVENT_LABEL "   ") - 1
                             + event->tenant.len + name->len + of->len);
    if (text == NULL) {
        return NGX_ERROR;
    }

    last = ngx_sprintf(text, NGX_SVC_WEBHOOK_EVENT_LABEL " %V %V %V",
                       &event->tenant, name, of);

    return ngx_svc_webhook_event_hash(text, last, id);
}


ngx_int_t
ngx_svc_webhook_delivery_id(ngx_pool_t *pool, const u_char *event_id,
    const ngx_str_t *endpoint, u_char *id)
{
    u_char  *text, *last;

    text = ngx_pnalloc(pool, NGX_SVC_ID_DIGITS + 1 + endpoint->len);
    if (text == NULL) {
        return NGX_ERROR;
    }

    last = ngx_sprintf(text, "%*s %V", (size_t) NGX_SVC_ID_DIGITS, event_id,
                       endpoint);

    return ngx_svc_webhook_event_hash(text, last, id);
}


static ngx_int_t
ngx_svc_webhook_event_hash(u_char *text, u_char *last, u_char *id)
{
    u_char  digest[NGX_SVC_SHA256_LEN];

    if (ngx_svc_sha256(text, last - text, digest) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_hex_dump(id, digest, NGX_SVC_ID_DIGITS / 2);

    return NGX_OK;
}


ngx_int_t
ngx_svc_webhook_event_body(ngx_pool_t *pool, const ngx_svc_event_t *event,
    const u_char *event_id, ngx_uint_t test, ngx_str_t *body)
{
    u_char                  at[NGX_SVC_TIME_LEN + 1];
    const ngx_str_t        *name;
    ngx_svc_json_writer_t   w;

    if (ngx_svc_json_writer_init(&w, pool, 512) != NGX_OK) {
        return NGX_ERROR;
    }

    name = ngx_svc_event_name(event->kind);

    if (event->at.len) {
        (void) ngx_svc_time_text(at, &event->at);

    } else {
        ngx_svc_webhook_event_now(at);
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_plain(&w, "id", event_id, NGX_SVC_ID_DIGITS);
    ngx_svc_json_plain(&w, "event", name->data, name->len);
    ngx_svc_json_plain(&w, "tenantId", event->tenant.data, event->tenant.len);
    ngx_svc_json_plain(&w, "createdAt", at, NGX_SVC_TIME_LEN);
    ngx_svc_webhook_event_data(&w, event,
                               ngx_svc_webhook_data[event->kind]
                               |(test ? NGX_SVC_WEBHOOK_D_TEST : 0));
    ngx_svc_json_close(&w, '}');

    if (w.failed) {
        return NGX_ERROR;
    }

    body->data = w.start;
    body->len = w.last - w.start;

    return NGX_OK;
}


static void
ngx_svc_webhook_event_data(ngx_svc_json_writer_t *w,
    const ngx_svc_event_t *event, ngx_uint_t data)
{
    ngx_svc_json_open(w, "data", '{');

    if (data & NGX_SVC_WEBHOOK_D_USER) {
        ngx_svc_json_plain(w, "userId", event->user.data, event->user.len);
    }

    if ((data & NGX_SVC_WEBHOOK_D_EMAIL) && event->email.data) {
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


void
ngx_svc_webhook_event_delivery(ngx_svc_webhook_delivery_t *d,
    const ngx_svc_event_t *event, u_char *event_id, const ngx_str_t *body)
{
    d->event_id.data = event_id;
    d->event_id.len = NGX_SVC_ID_DIGITS;
    d->event = *ngx_svc_event_name(event->kind);
    d->tenant = event->tenant;
    d->body = *body;
}


/* Writes the time: NGX_SVC_TIME_LEN bytes and a NUL. */

static void
ngx_svc_webhook_event_now(u_char *text)
{
    ngx_tm_t     tm;
    ngx_time_t  *tp;

    tp = ngx_timeofday();
    ngx_gmtime(tp->sec, &tm);

    (void) ngx_sprintf(text, "%04d-%02d-%02dT%02d:%02d:%02d.%03MZ%Z",
                       tm.ngx_tm_year, tm.ngx_tm_mon, tm.ngx_tm_mday,
                       tm.ngx_tm_hour, tm.ngx_tm_min, tm.ngx_tm_sec, tp->msec);
}
