/*
 * The helper's scheduler: which delivery is attempted when.
 */

#ifndef _NGX_SVC_WEBHOOK_DELIVER_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_DELIVER_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* Called at the helper's start. */
ngx_int_t ngx_svc_webhook_deliver_init(ngx_cycle_t *cycle);

/* Called at the helper's end. */
void ngx_svc_webhook_deliver_exit(void);

/*
 * Takes a delivery, until the scheduler calls ngx_svc_webhook_ack_final() or
 * ngx_svc_webhook_ack_requeue().
 */
void ngx_svc_webhook_deliver(ngx_svc_webhook_delivery_t *d);

/* Redis has confirmed the end of a delivery, or never will. */
void ngx_svc_webhook_deliver_confirmed(ngx_svc_webhook_delivery_t *d);

/* While paused, no attempt starts: the deliveries may not be ours any more. */
void ngx_svc_webhook_deliver_pause(ngx_uint_t pause);

/*
 * The deliveries belong to another helper now, those in flight, too: frees
 * them without an acknowledgement, at once or when their attempt has ended.
 */
void ngx_svc_webhook_deliver_forget(void);

/*
 * Starts no attempt any more, and returns deliveries without one to the queue.
 * done() is called when no attempt is under way, or after
 * svc_webhook_shutdown_timeout; never from within this call.
 */
void ngx_svc_webhook_deliver_drain(void (*done)(void));


#endif /* _NGX_SVC_WEBHOOK_DELIVER_H_INCLUDED_ */
