/*
 * The work of OAuth that no request asks for: it looks for anomalies in the
 * tokens that were issued, sweeps what has expired, and fetches keys.
 */

#ifndef _NGX_SVC_OAUTH_SWEEP_H_INCLUDED_
#define _NGX_SVC_OAUTH_SWEEP_H_INCLUDED_


#include "ngx_svc_pg.h"


/*
 * Call these at the start and at the end of a worker; one worker of a node does
 * the work.  timeout: how many milliseconds a statement of ours may take.  A
 * token is looked at when it is older than twice that and a second; one whose
 * transaction commits later is never looked at.  No statement takes that long,
 * but a token's transaction has several, and COMMIT may wait for a standby:
 * that is rare, and nothing prevents it.
 */
void ngx_svc_oauth_sweep_init_worker(ngx_cycle_t *cycle, ngx_msec_t timeout);
void ngx_svc_oauth_sweep_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_SWEEP_H_INCLUDED_ */
