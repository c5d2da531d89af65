/*
 * What sign-ins come to: the numbers of days, what the risk of the next one is
 * told from, and incidents.
 */

#ifndef _NGX_SVC_SIGNIN_SWEEP_H_INCLUDED_
#define _NGX_SVC_SIGNIN_SWEEP_H_INCLUDED_


#include "ngx_svc_pg_task.h"


extern ngx_svc_pg_task_t  ngx_svc_signin_sweep;


#endif /* _NGX_SVC_SIGNIN_SWEEP_H_INCLUDED_ */
