/*
 * Deliveries in Redis: the helper registers there, takes deliveries from the
 * queue, and sends heartbeats as long as it lives.
 */

#ifndef _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* The handlers of the scheduler, which takes the deliveries. */

typedef struct {
    /*
     * takes a delivery; the scheduler has it until it calls
     * ngx_svc_webhook_ack_final() or ngx_svc_webhook_ack_requeue()
     */
    void  (*deliver)(ngx_svc_webhook_delivery_t *d);

    /*
     * Redis has confirmed the end of a delivery, or never will; the delivery
     * is freed after this
     */
    void  (*confirmed)(ngx_svc_webhook_delivery_t *d);

    /* pause: no attempt may start, since the deliveries may not be ours */
    void  (*pause)(ngx_uint_t pause);

    /*
     * the deliveries belong to another helper, those in flight, too: they are
     * to be freed without an acknowledgement
     */
    void  (*forget)(void);

    /* the helper has a new id */
    void  (*renamed)(const u_char *id);
} ngx_svc_webhook_queue_handlers_t;


/*
 * Called in the helper: begins to take deliveries.  id: the helper's, of
 * NGX_SVC_ID_DIGITS digits.  before: id of a helper that has ended, or empty.
 * The handlers must stay valid.
 */
ngx_int_t ngx_svc_webhook_queue_start(ngx_cycle_t *cycle, const u_char *id,
    const ngx_str_t *before,
    const ngx_svc_webhook_queue_handlers_t *handlers);

/* Takes no more deliveries. */
void ngx_svc_webhook_queue_stop(void);

/*
 * Sends the last acknowledgements, and leaves what is still in flight to other
 * helpers.  done() is called once, when Redis has answered, or is down.
 */
void ngx_svc_webhook_queue_unregister(void (*done)(void));


#endif /* _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_ */
