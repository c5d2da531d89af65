/*
 * In the helper: events that nobody has delivered are queued from the audit
 * log, which is their outbox.
 */

#ifndef _NGX_SVC_WEBHOOK_OUTBOX_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_OUTBOX_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* At the helper's start: NGX_OK or NGX_ERROR; it takes no more; its end. */
ngx_int_t ngx_svc_webhook_outbox_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_outbox_stop(void);
void ngx_svc_webhook_outbox_exit(void);


#endif /* _NGX_SVC_WEBHOOK_OUTBOX_H_INCLUDED_ */
