/*
 * In a worker: the buffer of events on their way to the queue, which wait in it
 * while Redis is away.
 */

#ifndef _NGX_SVC_WEBHOOK_BUFFER_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_BUFFER_H_INCLUDED_


#include "ngx_svc_webhook.h"
#include "ngx_svc_webhook_share.h"


/*
 * The deliveries of one event, as text, in one block of ngx_alloc(): all text
 * points into it.
 */

typedef struct {
    size_t         size;                /* of the block */
    ngx_str_t      tenant;
    ngx_uint_t     n;
    ngx_str_t      number;              /* the same, as text */

    /* private */

    ngx_queue_t                queue;
    ngx_msec_t                 since;
    ngx_svc_webhook_share_t   *share;

    ngx_str_t      entries[1];          /* n of them */
} ngx_svc_webhook_event_t;


/* A worker's start: NGX_OK or NGX_ERROR; its end: drops what is left. */
ngx_int_t ngx_svc_webhook_buffer_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_buffer_exit(void);

/*
 * Takes the event, and frees it when Redis has answered, or when it has waited
 * for svc_webhook_keep_time.  NGX_DECLINED: the buffer is full, the event is
 * dropped, and freed.  A worker that quits does not end before it has handed
 * over its events, svc_webhook_shutdown_timeout later at most.
 */
ngx_int_t ngx_svc_webhook_buffer_add(ngx_svc_webhook_event_t *event);


#endif /* _NGX_SVC_WEBHOOK_BUFFER_H_INCLUDED_ */
