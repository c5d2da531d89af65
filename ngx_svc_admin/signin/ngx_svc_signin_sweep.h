/*
 * A task of worker 0: counts the sign-ins of each day, and makes from them what
 * the risk of later ones is computed from, and incidents.
 */

#ifndef _NGX_SVC_SIGNIN_SWEEP_H_INCLUDED_
#define _NGX_SVC_SIGNIN_SWEEP_H_INCLUDED_


#include "ngx_svc_pg_task.h"


extern ngx_svc_pg_task_t  ngx_svc_signin_sweep;


#endif /* _NGX_SVC_SIGNIN_SWEEP_H_INCLUDED_ */
