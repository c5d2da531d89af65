/*
 * The work of OAuth that no request asks for: it looks for anomalies in the
 * tokens that were issued, sweeps what has expired, and fetches keys.
 */

#include "ngx_svc_oauth_sweep.h"
#include "ngx_svc_anomaly.h"
#include "ngx_svc_oauth_jwks.h"
#include "ngx_svc_pg_task.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_OAUTH_SWEEP   5000      /* tokens in a round */
#define NGX_SVC_OAUTH_EXPIRE  1000      /* rows of a table in a round */


static ngx_int_t ngx_svc_oauth_sweep_bind(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call);
static void ngx_svc_oauth_sweep_done(ngx_svc_pg_op_t *op);


#include "ngx_svc_oauth_sweep.sql.h"


static ngx_svc_pg_task_t  ngx_svc_oauth_sweep = {
    .statement = &ngx_svc_sql_oauth_sweep,
    .bind = ngx_svc_oauth_sweep_bind,
    .done = ngx_svc_oauth_sweep_done,
    .pool = NGX_SVC_PG_SLOW,
    .period = 2000,
    .pause = 1,
    .full = NGX_SVC_OAUTH_SWEEP,
    .failed = "the tokens of agents cannot be looked at"
};

static ngx_svc_pg_task_t  ngx_svc_oauth_expire = {
    .statement = &ngx_svc_sql_oauth_expire,
    .pool = NGX_SVC_PG_WRITE,
    .period = 60000,
    .pause = 10,
    .full = NGX_SVC_OAUTH_EXPIRE,
    .failed = "codes, grants and tokens that are over cannot be deleted"
};

static int32_t  ngx_svc_oauth_sweep_lag;        /* ms */


void
ngx_svc_oauth_sweep_init_worker(ngx_cycle_t *cycle, ngx_msec_t timeout)
{
    if (ngx_worker != 0) {
        return;
    }

    ngx_svc_oauth_sweep_lag = 2 * ngx_min(timeout, 86400000) + 1000;

    ngx_svc_pg_task_init(&ngx_svc_oauth_sweep, cycle);
    ngx_svc_pg_task_init(&ngx_svc_oauth_expire, cycle);
    ngx_svc_oauth_jwks_init_worker(cycle);
}


void
ngx_svc_oauth_sweep_exit_worker(void)
{
    ngx_svc_oauth_jwks_exit_worker();
    ngx_svc_pg_task_exit(&ngx_svc_oauth_expire);
    ngx_svc_pg_task_exit(&ngx_svc_oauth_sweep);
}


static ngx_int_t
ngx_svc_oauth_sweep_bind(ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call)
{
    return ngx_svc_pg_bind_int(op, call, ngx_svc_oauth_sweep_lag);
}


/* Behind the first row there is one for each new anomaly, sorted by tenant. */

static void
ngx_svc_oauth_sweep_done(ngx_svc_pg_op_t *op)
{
    int                        i;
    ngx_str_t                  last;
    PGresult                  *res;
    ngx_svc_row_oauth_sweep_t  row;

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_oauth_sweep);
    ngx_str_null(&last);

    for (i = 1; i < PQntuples(res); i++) {
        ngx_svc_row_oauth_sweep(&row, res, i);

        ngx_svc_anomaly_count(&row.raised);

        if (!ngx_svc_same(&row.raised_for, &last)) {
            ngx_svc_redis_publish(NGX_SVC_AUDIT_CHANNEL, &row.raised_for);
            last = row.raised_for;
        }
    }
}
