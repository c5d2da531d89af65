/*
 * What OAuth does when nobody asks: the look through the tokens that were
 * issued, and an end for what is over.
 */

#ifndef _NGX_SVC_OAUTH_SWEEP_H_INCLUDED_
#define _NGX_SVC_OAUTH_SWEEP_H_INCLUDED_


#include "ngx_svc_pg.h"


/*
 * At a worker's start and end; one worker of a node does it.  timeout: the
 * milliseconds that a statement of ours may take.  A token is looked at when it
 * is older than two of them and a second; one that is committed later than that
 * never is.  No statement takes so long, but what issues one has several, and
 * COMMIT may wait for a standby: that is rare, and nothing prevents it.
 */
void ngx_svc_oauth_sweep_init_worker(ngx_cycle_t *cycle, ngx_msec_t timeout);
void ngx_svc_oauth_sweep_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_SWEEP_H_INCLUDED_ */
