/*
 * Events become deliveries, in a worker.
 */

#ifndef _NGX_SVC_WEBHOOK_EMIT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_EMIT_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* A worker's start and end: listens to what happens to users, or no more. */
void ngx_svc_webhook_emit_init(void);
void ngx_svc_webhook_emit_exit(void);

/*
 * Sends an event of a user that does not exist to one endpoint.  id and
 * event_id: of ngx_svc_webhook_id().  NGX_OK: it is on its way; NGX_DECLINED:
 * Redis is down; NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_webhook_emit_test(const ngx_str_t *tenant,
    const ngx_str_t *endpoint, u_char *id, u_char *event_id);


#endif /* _NGX_SVC_WEBHOOK_EMIT_H_INCLUDED_ */
