/*
 * The helper process itself; ngx_svc_helper.h is the worker's side.
 */

#ifndef _NGX_SVC_HELPER_PROCESS_H_INCLUDED_
#define _NGX_SVC_HELPER_PROCESS_H_INCLUDED_


#include "ngx_svc_webhook.h"


#define NGX_SVC_HELPER_RESERVE  32      /* connections besides those of
                                           attempts and fetches */
#define NGX_SVC_HELPER_FETCHES  256     /* fetches at a time; a quarter of the
                                           rest of the connections, at most */


/*
 * Runs in the child of a worker, and never returns.  fd: a socket to the
 * worker.  When the worker closes it for writing, the helper ends what is in
 * flight, and exits; when the worker sends a byte, the helper exits as soon as
 * it can.  The helper sends its id when that has changed.
 */
void ngx_svc_helper_process(ngx_cycle_t *cycle, ngx_socket_t fd,
    const u_char *id, const ngx_str_t *before);


#endif /* _NGX_SVC_HELPER_PROCESS_H_INCLUDED_ */
