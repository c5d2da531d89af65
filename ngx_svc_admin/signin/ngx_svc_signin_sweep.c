/*
 * A task of worker 0: counts the sign-ins of each day, and makes from them what
 * the risk of later ones is computed from, and incidents.
 */

#include "ngx_svc_signin_sweep.h"


#define NGX_SVC_SIGNIN_SWEEP  1000      /* events in a round */


#include "ngx_svc_signin_sweep.sql.h"


ngx_svc_pg_task_t  ngx_svc_signin_sweep = {
    .statement = &ngx_svc_sql_signin_sweep,
    .pool = NGX_SVC_PG_SLOW,
    .period = 2000,
    .pause = 1,
    .full = NGX_SVC_SIGNIN_SWEEP,
    .failed = "sign-ins cannot be counted"
};
