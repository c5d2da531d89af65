/*
 * In a worker: events on their way to the queue, which wait while Redis is
 * away.
 */

#ifndef _NGX_SVC_WEBHOOK_KEEP_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_KEEP_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* What is kept of a tenant. */

typedef struct {
    ngx_str_node_t   node;              /* by the tenant's id, behind it */
    ngx_uint_t       n;                 /* events */
    size_t           size;              /* bytes of them */
} ngx_svc_webhook_share_t;


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
ngx_int_t ngx_svc_webhook_keep_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_keep_exit(void);

/*
 * Takes the event, and frees it when Redis has answered, or when it has been
 * kept for svc_webhook_keep_time.  NGX_DECLINED: too much is kept already, the
 * event is dropped, and freed.  A worker that quits does not end before it has
 * handed over its events, svc_webhook_shutdown_timeout later at most.
 */
ngx_int_t ngx_svc_webhook_keep(ngx_svc_webhook_event_t *event);


/*
 * ngx_svc_webhook_share.c: of the event's tenant, NULL when memory runs out;
 * one that has no events goes.
 */
void ngx_svc_webhook_share_init(void);
ngx_svc_webhook_share_t *ngx_svc_webhook_share(const ngx_str_t *tenant);
void ngx_svc_webhook_share_add(ngx_svc_webhook_event_t *event);
void ngx_svc_webhook_share_remove(ngx_svc_webhook_event_t *event);
void ngx_svc_webhook_share_unused(ngx_svc_webhook_share_t *share);


#endif /* _NGX_SVC_WEBHOOK_KEEP_H_INCLUDED_ */
