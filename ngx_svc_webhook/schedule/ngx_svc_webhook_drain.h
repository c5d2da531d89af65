/*
 * The time that the scheduler may take to end.
 */

#ifndef _NGX_SVC_WEBHOOK_DRAIN_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_DRAIN_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* Called at the helper's start. */
void ngx_svc_webhook_drain_init(ngx_cycle_t *cycle);

/* Called at the helper's end. */
void ngx_svc_webhook_drain_exit(void);

/*
 * Waits until no attempt is under way and all is recorded, or until either
 * takes too long; then calls done(), once and never from within these calls.
 */
void ngx_svc_webhook_drain(void (*done)(void));

/* No attempt is under way any more. */
void ngx_svc_webhook_drain_idle(void);


#endif /* _NGX_SVC_WEBHOOK_DRAIN_H_INCLUDED_ */
