/*
 * The body of an event, and its ids, which are the same however often it is
 * sent, and by whichever process.
 */

#ifndef _NGX_SVC_WEBHOOK_EVENT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_EVENT_H_INCLUDED_


#include "ngx_svc_event.h"
#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_EVENT_LABEL  "svc.webhook.event"


/* Finds the kind of an event's name.  NGX_OK; NGX_DECLINED: there is none. */
ngx_int_t ngx_svc_webhook_event_kind(const ngx_str_t *name,
    ngx_svc_event_e *kind);

/* Makes an event's id, of NGX_SVC_ID_DIGITS digits.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_webhook_event_id(ngx_pool_t *pool,
    const ngx_svc_event_t *event, u_char *id);

/* Makes a delivery's id, of NGX_SVC_ID_DIGITS digits.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_webhook_delivery_id(ngx_pool_t *pool, const u_char *event_id,
    const ngx_str_t *endpoint, u_char *id);

/*
 * Writes the body, in the pool; test: it says that this is a test.  In a
 * user.created an email without data means that the user is gone.  NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_webhook_event_body(ngx_pool_t *pool,
    const ngx_svc_event_t *event, const u_char *event_id, ngx_uint_t test,
    ngx_str_t *body);

/*
 * Sets what all deliveries of an event have in common; they share its memory.
 */
void ngx_svc_webhook_event_delivery(ngx_svc_webhook_delivery_t *d,
    const ngx_svc_event_t *event, u_char *event_id, const ngx_str_t *body);


#endif /* _NGX_SVC_WEBHOOK_EVENT_H_INCLUDED_ */
