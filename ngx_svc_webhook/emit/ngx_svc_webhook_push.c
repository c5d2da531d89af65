/*
 * In a worker: an event's deliveries become text for the queue.
 */

#include "ngx_svc_webhook_push.h"
#include "ngx_svc_webhook_drop.h"
#include "ngx_svc_webhook_entry.h"
#include "ngx_svc_webhook_buffer.h"


static ngx_svc_webhook_event_t *ngx_svc_webhook_push_event(
    const ngx_svc_webhook_delivery_t *deliveries, ngx_uint_t n);


ngx_int_t
ngx_svc_webhook_push(ngx_svc_webhook_delivery_t *deliveries, ngx_uint_t n)
{
    ngx_svc_webhook_event_t  *event;

    event = ngx_svc_webhook_push_event(deliveries, n);

    if (event == NULL) {
        ngx_svc_webhook_drop(NGX_SVC_WEBHOOK_DROP_MEMORY, n,
                             &deliveries[0].tenant);
        return NGX_DECLINED;
    }

    return ngx_svc_webhook_buffer_add(event);
}


static ngx_svc_webhook_event_t *
ngx_svc_webhook_push_event(const ngx_svc_webhook_delivery_t *deliveries,
    ngx_uint_t n)
{
    u_char                   *p;
    size_t                    size;
    ngx_uint_t                i;
    ngx_svc_webhook_event_t  *event;

    size = sizeof(ngx_svc_webhook_event_t) + n * sizeof(ngx_str_t)
           + deliveries[0].tenant.len + NGX_INT_T_LEN;

    for (i = 0; i < n; i++) {
        size += ngx_svc_webhook_entry_len(&deliveries[i]);
    }

    event = ngx_alloc(size, ngx_cycle->log);
    if (event == NULL) {
        return NULL;
    }

    event->size = size;
    event->n = n;

    p = (u_char *) (event->entries + n);

    event->tenant.data = p;
    event->tenant.len = deliveries[0].tenant.len;
    p = ngx_cpymem(p, deliveries[0].tenant.data, event->tenant.len);

    event->number.data = p;
    p = ngx_sprintf(p, "%ui", n);
    event->number.len = p - event->number.data;

    for (i = 0; i < n; i++) {
        event->entries[i].data = p;
        p = ngx_svc_webhook_entry_write(p, &deliveries[i]);

        if (p == NULL) {
            ngx_free(event);
            return NULL;
        }

        event->entries[i].len = p - event->entries[i].data;
    }

    return event;
}
