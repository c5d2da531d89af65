/*
 * What the helper keeps of the files that it has inherited: its logs.
 */

#ifndef _NGX_SVC_WEBHOOK_FDS_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_FDS_H_INCLUDED_


#include "ngx_svc_common.h"


/* Closes all others, but fd and the standard ones. */
void ngx_svc_webhook_fds_close(ngx_cycle_t *cycle, ngx_socket_t fd);

/* Opens the log files again, by their names; and only if they have changed. */
void ngx_svc_webhook_fds_reopen(ngx_cycle_t *cycle);
void ngx_svc_webhook_fds_look(ngx_cycle_t *cycle);


#endif /* _NGX_SVC_WEBHOOK_FDS_H_INCLUDED_ */
