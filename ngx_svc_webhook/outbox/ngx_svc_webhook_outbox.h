/*
 * In the helper: events that nobody has delivered are queued from the audit
 * log, which is their outbox.
 */

#ifndef _NGX_SVC_WEBHOOK_OUTBOX_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_OUTBOX_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* At the helper's start; it takes no more; its end. */
void ngx_svc_webhook_outbox_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_outbox_stop(void);
void ngx_svc_webhook_outbox_exit(void);

/* Something may be due that was not when it was last looked. */
void ngx_svc_webhook_outbox_wake(void);


#endif /* _NGX_SVC_WEBHOOK_OUTBOX_H_INCLUDED_ */
