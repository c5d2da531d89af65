/*
 * Deliveries that a worker could not queue.
 */

#ifndef _NGX_SVC_WEBHOOK_DROP_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_DROP_H_INCLUDED_


#include "ngx_svc_webhook.h"


typedef enum {
    NGX_SVC_WEBHOOK_DROP_FULL = 0,      /* the queue is full */
    NGX_SVC_WEBHOOK_DROP_TENANT,        /* the tenant's share of it is full */
    NGX_SVC_WEBHOOK_DROP_DOWN,          /* Redis is down, or does not answer */
    NGX_SVC_WEBHOOK_DROP_LOST,          /* Redis' answer was lost */
    NGX_SVC_WEBHOOK_DROP_REFUSED,       /* Redis answered with an error */
    NGX_SVC_WEBHOOK_DROP_MEMORY,
    NGX_SVC_WEBHOOK_DROPS
} ngx_svc_webhook_drop_e;


/*
 * Counts n deliveries that had no place in the queue.  For other reasons it
 * tells the outbox that the tenant is due, or counts them where the outbox is
 * off.  The log has one line for each reason in a while, with the number since
 * the last line.  tenant: that of the last delivery.
 */
void ngx_svc_webhook_drop(ngx_svc_webhook_drop_e why, ngx_uint_t n,
    const ngx_str_t *tenant);


#endif /* _NGX_SVC_WEBHOOK_DROP_H_INCLUDED_ */
