/*
 * Acknowledgements to Redis: what became of the deliveries in flight.
 *
 * They go in batches, and once more until Redis confirms them: the script takes
 * the same one twice.
 */

#ifndef _NGX_SVC_WEBHOOK_ACK_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ACK_H_INCLUDED_


#include "ngx_svc_webhook.h"


/*
 * At the helper's start.  hash: name of the in-flight set in Redis, which may
 * change.  release: frees a delivery whose end is confirmed.
 */
void ngx_svc_webhook_ack_init(ngx_log_t *log, ngx_str_t *hash,
    void (*release)(ngx_svc_webhook_delivery_t *d));

/* Its outcome is final: the delivery leaves Redis, and is freed. */
void ngx_svc_webhook_ack_final(ngx_svc_webhook_delivery_t *d);

/* An attempt has ended, another one is due: Redis keeps d->attempts. */
void ngx_svc_webhook_ack_retry(ngx_svc_webhook_delivery_t *d);

/*
 * This helper makes no more attempts: the delivery goes back to the queue, with
 * d->attempts, and is freed.
 */
void ngx_svc_webhook_ack_requeue(ngx_svc_webhook_delivery_t *d);

/* Sends those that wait. */
void ngx_svc_webhook_ack_flush(void);

/* 1: some are not sent, or not confirmed. */
ngx_uint_t ngx_svc_webhook_ack_pending(void);

/* None is sent any more; what is final is freed. */
void ngx_svc_webhook_ack_forget(void);

/* Called whenever a batch was confirmed, or was not. */
extern void  (*ngx_svc_webhook_ack_confirmed)(void);

/* Called when Redis takes none: deliveries may come twice. */
extern void  (*ngx_svc_webhook_ack_failed)(void);


#endif /* _NGX_SVC_WEBHOOK_ACK_H_INCLUDED_ */
