/*
 * The helper's scheduler: which delivery is attempted when.
 */

#ifndef _NGX_SVC_WEBHOOK_DELIVER_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_DELIVER_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* At the helper's start and end. */
ngx_int_t ngx_svc_webhook_deliver_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_deliver_exit(void);

/* Takes a delivery, until it calls ngx_svc_webhook_ack_final(). */
void ngx_svc_webhook_deliver(ngx_svc_webhook_delivery_t *d);

/* Redis has confirmed the end of a delivery, or never will. */
void ngx_svc_webhook_deliver_confirmed(ngx_svc_webhook_delivery_t *d);

/*
 * Starts no more attempts while paused: whether the deliveries are still ours
 * is not known.
 */
void ngx_svc_webhook_deliver_pause(ngx_uint_t pause);

/*
 * The deliveries belong to another helper now, those in flight too: frees them,
 * at once or when their attempt has ended, without an acknowledgement.
 */
void ngx_svc_webhook_deliver_forget(void);

/*
 * Starts no more attempts, returns what has none under way to the queue, and
 * calls done when none is, at the latest after svc_webhook_shutdown_timeout;
 * never from within this call.
 */
void ngx_svc_webhook_deliver_drain(void (*done)(void));


#endif /* _NGX_SVC_WEBHOOK_DELIVER_H_INCLUDED_ */
