/*
 * In a worker: an event's deliveries become text for the queue.
 */

#ifndef _NGX_SVC_WEBHOOK_PUSH_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_PUSH_H_INCLUDED_


#include "ngx_svc_webhook.h"


/*
 * Deliveries of one event, all of one tenant, or none of them when there is no
 * room for all.  Never waits; the text is copied, and buffered while Redis is
 * away.  What Redis does not take is counted and logged.  NGX_OK: it is on its
 * way; NGX_DECLINED: dropped, the buffer is full.
 */
ngx_int_t ngx_svc_webhook_push(ngx_svc_webhook_delivery_t *deliveries,
    ngx_uint_t n);


#endif /* _NGX_SVC_WEBHOOK_PUSH_H_INCLUDED_ */
