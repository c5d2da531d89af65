/*
 * In a worker: the outbox is told of tenants whose events it has to queue.
 */

#ifndef _NGX_SVC_WEBHOOK_DUE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_DUE_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* A worker's start and end. */
void ngx_svc_webhook_due_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_due_exit(void);

/*
 * The tenant's log is looked at once svc_webhook_outbox has passed, where a
 * tenant in which little happens would be up to a minute later.  Never waits;
 * of many tenants at a time, or without PostgreSQL, some are not told of.
 */
void ngx_svc_webhook_due(const ngx_str_t *tenant);


#endif /* _NGX_SVC_WEBHOOK_DUE_H_INCLUDED_ */
