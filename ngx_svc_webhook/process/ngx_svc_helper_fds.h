/*
 * The inherited files that the helper keeps open: its logs.
 */

#ifndef _NGX_SVC_HELPER_FDS_H_INCLUDED_
#define _NGX_SVC_HELPER_FDS_H_INCLUDED_


#include "ngx_svc_common.h"


/* Closes all other files, except fd and the standard ones. */
void ngx_svc_helper_fds_close(ngx_cycle_t *cycle, ngx_socket_t fd);

/* Opens the log files again, by their names. */
void ngx_svc_helper_fds_reopen(ngx_cycle_t *cycle);

/* Opens log files again if they were replaced. */
void ngx_svc_helper_fds_look(ngx_cycle_t *cycle);


#endif /* _NGX_SVC_HELPER_FDS_H_INCLUDED_ */
