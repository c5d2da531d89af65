/*
 * In a worker: makes deliveries of events.
 */

#ifndef _NGX_SVC_WEBHOOK_EMIT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_EMIT_H_INCLUDED_


#include "ngx_svc_event.h"
#include "ngx_svc_webhook_enqueue.h"


/* Called at a worker's start: listens to events of users. */
void ngx_svc_webhook_emit_init(void);

/* Called at a worker's end: listens no more. */
void ngx_svc_webhook_emit_exit(void);


/* One delivery that somebody waits for, in the memory of who does. */

typedef struct {
    u_char                        id[NGX_SVC_ID_DIGITS];
    u_char                        event_id[NGX_SVC_ID_DIGITS];
    ngx_svc_webhook_enqueued_pt   handler;
    void                         *data;
    ngx_svc_webhook_enqueue_t    *call; /* until it is answered */
} ngx_svc_webhook_one_t;


/*
 * Queues an event of a user who does not exist for one endpoint, under ids that
 * are made by ngx_svc_random_id(); the outbox does not have tests.  Returns as
 * ngx_svc_webhook_enqueue_one().
 */
ngx_int_t ngx_svc_webhook_emit_test(const ngx_str_t *tenant,
    const ngx_str_t *endpoint, ngx_svc_webhook_one_t *one);

/*
 * Queues an event once more for its one subscriber, under the ids that it had.
 * Returns as ngx_svc_webhook_enqueue_one().
 */
ngx_int_t ngx_svc_webhook_emit_again(const ngx_svc_event_t *event,
    ngx_svc_webhook_one_t *one);


#endif /* _NGX_SVC_WEBHOOK_EMIT_H_INCLUDED_ */
