/*
 * Deliveries in Redis: the helper registers there, takes them from the queue,
 * and sends heartbeats for as long as it lives.
 */

#ifndef _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* Of the scheduler, that takes what the queue has. */

typedef struct {
    /* takes a delivery, until it calls ngx_svc_webhook_ack_final() or
       ngx_svc_webhook_ack_requeue() */
    void  (*deliver)(ngx_svc_webhook_delivery_t *d);

    /* Redis has confirmed the end of a delivery, or never will; it is freed
       behind this */
    void  (*confirmed)(ngx_svc_webhook_delivery_t *d);

    /* whether no attempts may start: if the deliveries are still ours is not
       known */
    void  (*pause)(ngx_uint_t pause);

    /* the deliveries belong to another helper now, those in flight too: they
       are to be freed without an acknowledgement */
    void  (*forget)(void);

    /* the helper has taken another id */
    void  (*renamed)(const u_char *id);
} ngx_svc_webhook_queue_handlers_t;


/*
 * In the helper: begins to take deliveries; and takes no more.  id: the
 * helper's, of NGX_SVC_WEBHOOK_ID digits.  before: of a helper that has ended,
 * or empty.  The handlers stay the caller's.
 */
ngx_int_t ngx_svc_webhook_queue_start(ngx_cycle_t *cycle, const u_char *id,
    const ngx_str_t *before,
    const ngx_svc_webhook_queue_handlers_t *handlers);
void ngx_svc_webhook_queue_stop(void);

/*
 * Sends the last acknowledgements, and leaves what is still in flight to other
 * helpers; calls done, once, when Redis has answered, or is down.
 */
void ngx_svc_webhook_queue_unregister(void (*done)(void));


#endif /* _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_ */
