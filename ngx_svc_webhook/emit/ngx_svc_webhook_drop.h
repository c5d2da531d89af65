/*
 * Deliveries that a worker has to drop.
 */

#ifndef _NGX_SVC_WEBHOOK_DROP_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_DROP_H_INCLUDED_


#include "ngx_svc_webhook.h"


typedef enum {
    NGX_SVC_WEBHOOK_DROP_FULL = 0,      /* the queue is full */
    NGX_SVC_WEBHOOK_DROP_TENANT,        /* the tenant's share of it is */
    NGX_SVC_WEBHOOK_DROP_NUMBER,        /* too many events are buffered */
    NGX_SVC_WEBHOOK_DROP_SHARE,         /* too many of the tenant are */
    NGX_SVC_WEBHOOK_DROP_SIZE,          /* they are too large together */
    NGX_SVC_WEBHOOK_DROP_AGE,           /* they have waited for too long */
    NGX_SVC_WEBHOOK_DROP_REFUSED,       /* Redis answered with an error */
    NGX_SVC_WEBHOOK_DROP_MEMORY,
    NGX_SVC_WEBHOOK_DROP_EXIT,          /* the worker ends */
    NGX_SVC_WEBHOOK_DROPS
} ngx_svc_webhook_drop_e;


/*
 * Counts n deliveries; the log has one line for each reason in a while, with
 * how many they were since the last one.  tenant: that of the last of them.
 */
void ngx_svc_webhook_drop(ngx_svc_webhook_drop_e why, ngx_uint_t n,
    const ngx_str_t *tenant);


#endif /* _NGX_SVC_WEBHOOK_DROP_H_INCLUDED_ */
