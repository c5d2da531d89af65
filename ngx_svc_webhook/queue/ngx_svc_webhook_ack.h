/*
 * Acknowledgements to Redis of the outcomes of deliveries in flight.
 *
 * They are sent in batches, and again until Redis confirms them: the script
 * can take the same one twice.
 */

#ifndef _NGX_SVC_WEBHOOK_ACK_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ACK_H_INCLUDED_


#include "ngx_svc_webhook.h"


/*
 * Called at the helper's start.  hash: name of the in-flight set in Redis,
 * which may change.  release: frees a delivery whose end is confirmed.
 */
void ngx_svc_webhook_ack_init(ngx_log_t *log, ngx_str_t *hash,
    void (*release)(ngx_svc_webhook_delivery_t *d));

/* The outcome is final: the delivery leaves Redis, and is freed. */
void ngx_svc_webhook_ack_final(ngx_svc_webhook_delivery_t *d);

/* An attempt has ended, and another one is due: Redis keeps d->attempts. */
void ngx_svc_webhook_ack_retry(ngx_svc_webhook_delivery_t *d);

/*
 * This helper makes no more attempts: the delivery goes back to the queue, with
 * d->attempts, and is freed.
 */
void ngx_svc_webhook_ack_requeue(ngx_svc_webhook_delivery_t *d);

/* Sends the outcomes that wait. */
void ngx_svc_webhook_ack_flush(void);

/* Returns 1 if any outcome is not sent, or not confirmed. */
ngx_uint_t ngx_svc_webhook_ack_pending(void);

/* Sends no outcome any more; deliveries that have ended are freed. */
void ngx_svc_webhook_ack_forget(void);

/* Called after each batch, whether it was confirmed or not. */
extern void  (*ngx_svc_webhook_ack_confirmed)(void);

/* Called when Redis takes no outcomes: deliveries may come twice. */
extern void  (*ngx_svc_webhook_ack_failed)(void);


#endif /* _NGX_SVC_WEBHOOK_ACK_H_INCLUDED_ */
