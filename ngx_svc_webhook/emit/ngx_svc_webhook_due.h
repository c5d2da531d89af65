/*
 * In a worker: tells the outbox which tenants have events to be queued.
 */

#ifndef _NGX_SVC_WEBHOOK_DUE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_DUE_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* Called at a worker's start. */
void ngx_svc_webhook_due_init(ngx_cycle_t *cycle);

/* Called at a worker's end. */
void ngx_svc_webhook_due_exit(void);

/*
 * The tenant's log is looked at when svc_webhook_outbox has passed; without
 * this a tenant in which little happens could be a minute later.  Never waits.
 * If there are many tenants at a time, or PostgreSQL is down, some are left
 * out.
 */
void ngx_svc_webhook_due(const ngx_str_t *tenant);


#endif /* _NGX_SVC_WEBHOOK_DUE_H_INCLUDED_ */
