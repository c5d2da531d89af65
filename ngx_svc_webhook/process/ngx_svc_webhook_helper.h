/*
 * The helper process: of an nginx with svc_webhooks there is one, which worker
 * 0 forks and watches.
 */

#ifndef _NGX_SVC_WEBHOOK_HELPER_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_HELPER_H_INCLUDED_


#include "ngx_svc_webhook.h"


/*
 * At a worker's start: lets the event loop fork the helper.  At its end: the
 * helper, if there is one still, ends at once.
 */
void ngx_svc_webhook_helper_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_helper_exit(void);


#endif /* _NGX_SVC_WEBHOOK_HELPER_H_INCLUDED_ */
