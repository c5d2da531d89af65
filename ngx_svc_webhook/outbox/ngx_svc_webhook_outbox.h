/*
 * In the helper: queues events that were not delivered.  They are read from
 * the audit log, which is their outbox.
 */

#ifndef _NGX_SVC_WEBHOOK_OUTBOX_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_OUTBOX_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* Called at the helper's start. */
void ngx_svc_webhook_outbox_init(ngx_cycle_t *cycle);

/* Queues nothing any more. */
void ngx_svc_webhook_outbox_stop(void);

/* Called at the helper's end. */
void ngx_svc_webhook_outbox_exit(void);

/* Events may be due that were not at the last look. */
void ngx_svc_webhook_outbox_wake(void);


#endif /* _NGX_SVC_WEBHOOK_OUTBOX_H_INCLUDED_ */
