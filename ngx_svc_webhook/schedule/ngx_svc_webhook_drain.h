/*
 * How long the scheduler may take to end.
 */

#ifndef _NGX_SVC_WEBHOOK_DRAIN_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_DRAIN_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* At the helper's start and end. */
void ngx_svc_webhook_drain_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_drain_exit(void);

/*
 * Calls done, once and never from within these calls: when nothing is under way
 * any more, which idle says, and what has happened is written; or when either
 * takes too long.
 */
void ngx_svc_webhook_drain(void (*done)(void));
void ngx_svc_webhook_drain_idle(void);


#endif /* _NGX_SVC_WEBHOOK_DRAIN_H_INCLUDED_ */
