/*
 * The helper process itself: see ngx_svc_webhook_helper.h for who starts it.
 */

#ifndef _NGX_SVC_WEBHOOK_PROCESS_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_PROCESS_H_INCLUDED_


#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_RESERVE  32     /* connections beside the attempts */


/*
 * In the child of a worker; never returns.  fd: a socket to the
 * worker.  When it is closed for writing the helper ends what is in flight, and
 * exits; when a message comes it exits as soon as it can.  The helper sends its
 * id when it has taken another one.
 */
void ngx_svc_webhook_process(ngx_cycle_t *cycle, ngx_socket_t fd,
    const u_char *id, const ngx_str_t *before);


#endif /* _NGX_SVC_WEBHOOK_PROCESS_H_INCLUDED_ */
