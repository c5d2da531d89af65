/*
 * What is sent of an event, and its ids: the same ones however often, and by
 * whomever, it is sent.
 */

#ifndef _NGX_SVC_WEBHOOK_EVENT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_EVENT_H_INCLUDED_


#include "ngx_svc_event.h"
#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_EVENT_LABEL  "svc.webhook.event"


/* The ids, of NGX_SVC_WEBHOOK_ID digits; NGX_OK, or NGX_ERROR. */
ngx_int_t ngx_svc_webhook_event_id(ngx_pool_t *pool,
    const ngx_svc_event_t *event, u_char *id);
ngx_int_t ngx_svc_webhook_delivery_id(ngx_pool_t *pool, const u_char *event_id,
    const ngx_str_t *endpoint, u_char *id);

/*
 * The body, in the pool; test: it says that it is one.  A user.created whose
 * email has no data is of a user who is gone.  NGX_OK, or NGX_ERROR.
 */
ngx_int_t ngx_svc_webhook_event_body(ngx_pool_t *pool,
    const ngx_svc_event_t *event, const u_char *event_id, ngx_uint_t test,
    ngx_str_t *body);

/* What all deliveries of an event have in common; all of it stays theirs. */
void ngx_svc_webhook_event_delivery(ngx_svc_webhook_delivery_t *d,
    const ngx_svc_event_t *event, u_char *event_id, const ngx_str_t *body);


#endif /* _NGX_SVC_WEBHOOK_EVENT_H_INCLUDED_ */
