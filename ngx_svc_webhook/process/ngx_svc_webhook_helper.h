/*
 * The helper process: of an nginx with svc_webhooks there is one, which worker
 * 0 forks and watches.
 */

#ifndef _NGX_SVC_WEBHOOK_HELPER_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_HELPER_H_INCLUDED_


#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_RESERVE  32     /* connections beside the attempts */


/*
 * At a worker's start: lets the event loop fork the helper.  At its end: the
 * helper, if there is one still, ends at once.
 */
void ngx_svc_webhook_helper_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_helper_exit(void);

/*
 * In the child, never returns (ngx_svc_webhook_process.c).  fd: a socket to the
 * worker.  When it is closed for writing the helper ends what is in flight, and
 * exits; when a message comes it exits as soon as it can.  The helper sends its
 * id when it has taken another one.
 */
void ngx_svc_webhook_process(ngx_cycle_t *cycle, ngx_socket_t fd,
    const u_char *id, const ngx_str_t *before);


#endif /* _NGX_SVC_WEBHOOK_HELPER_H_INCLUDED_ */
