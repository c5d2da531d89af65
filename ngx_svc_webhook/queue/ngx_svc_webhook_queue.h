/*
 * Deliveries in Redis.
 */

#ifndef _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* Of the scheduler, that takes what the queue has. */

typedef struct {
    /* takes a delivery, until it calls ngx_svc_webhook_queue_done() */
    void  (*deliver)(ngx_svc_webhook_delivery_t *d);

    /* the end of a delivery is known to Redis, or will never be */
    void  (*told)(ngx_svc_webhook_delivery_t *d);

    /* whether no attempts may begin: if the deliveries are still ours is not
       known */
    void  (*pause)(ngx_uint_t pause);

    /* the deliveries belong to another helper now, those in flight too: they
       are to be freed without telling the queue */
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
 * Tells Redis the last outcomes, and leaves what is still in hand to others;
 * calls left, once, when it is done, or when Redis is down.
 */
void ngx_svc_webhook_queue_leave(void (*left)(void));

/*
 * The outcome of a delivery is final: it leaves Redis, and is freed.  An
 * attempt has ended, another one is due: d->attempts is kept for a successor.
 */
void ngx_svc_webhook_queue_done(ngx_svc_webhook_delivery_t *d);
void ngx_svc_webhook_queue_retry(ngx_svc_webhook_delivery_t *d);

/*
 * What will not be attempted by this helper any more goes back to the queue,
 * with d->attempts, and is freed.
 */
void ngx_svc_webhook_queue_return(ngx_svc_webhook_delivery_t *d);

/* For the handler deliver: no memory.  Frees it; it will come again. */
void ngx_svc_webhook_queue_refuse(ngx_svc_webhook_delivery_t *d);


#endif /* _NGX_SVC_WEBHOOK_QUEUE_H_INCLUDED_ */
