/*
 * Deliveries that a worker could not queue.
 */

#ifndef _NGX_SVC_WEBHOOK_DROP_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_DROP_H_INCLUDED_


#include "ngx_svc_webhook.h"


typedef enum {
    NGX_SVC_WEBHOOK_DROP_FULL = 0,      /* the queue is full */
    NGX_SVC_WEBHOOK_DROP_TENANT,        /* the tenant's share of it is */
    NGX_SVC_WEBHOOK_DROP_DOWN,          /* Redis is down, or does not answer */
    NGX_SVC_WEBHOOK_DROP_LOST,          /* its answer is */
    NGX_SVC_WEBHOOK_DROP_REFUSED,       /* it answered with an error */
    NGX_SVC_WEBHOOK_DROP_MEMORY,
    NGX_SVC_WEBHOOK_DROPS
} ngx_svc_webhook_drop_e;


/*
 * n deliveries; the log has one line for each reason in a while, with how many
 * they were since the last one.  tenant: that of the last of them.  Those for
 * which there is no place are counted; all others are, where the outbox does
 * not have them, and where it has it is told.
 */
void ngx_svc_webhook_drop(ngx_svc_webhook_drop_e why, ngx_uint_t n,
    const ngx_str_t *tenant);


#endif /* _NGX_SVC_WEBHOOK_DROP_H_INCLUDED_ */
