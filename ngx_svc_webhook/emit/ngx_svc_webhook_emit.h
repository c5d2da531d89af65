/*
 * Events become deliveries, in a worker.
 */

#ifndef _NGX_SVC_WEBHOOK_EMIT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_EMIT_H_INCLUDED_


#include "ngx_svc_webhook_push.h"


/* A worker's start and end: listens to what happens to users, or no more. */
void ngx_svc_webhook_emit_init(void);
void ngx_svc_webhook_emit_exit(void);


/* A test, which its caller has: the ids are of ngx_svc_webhook_id(). */

typedef struct {
    u_char                      id[NGX_SVC_WEBHOOK_ID];
    u_char                      event_id[NGX_SVC_WEBHOOK_ID];
    ngx_svc_webhook_pushed_pt   handler;
    void                       *data;
    ngx_svc_webhook_push_t     *push;   /* not answered yet */
} ngx_svc_webhook_test_t;


/*
 * Sends an event of a user that does not exist to one endpoint: of a test there
 * is nothing in the outbox.  Returns what ngx_svc_webhook_push_one() does.
 */
ngx_int_t ngx_svc_webhook_emit_test(const ngx_str_t *tenant,
    const ngx_str_t *endpoint, ngx_svc_webhook_test_t *test);


#endif /* _NGX_SVC_WEBHOOK_EMIT_H_INCLUDED_ */
