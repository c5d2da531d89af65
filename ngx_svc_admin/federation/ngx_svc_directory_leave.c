/*
 * The end of an import: who has left the directory is deactivated.
 */

#include "ngx_svc_directory_leave.h"


#define NGX_SVC_DIRECTORY_COUNTED   2000    /* identities, of a step */
#define NGX_SVC_DIRECTORY_LEAVERS   500
#define NGX_SVC_DIRECTORY_MAY_LEAVE 20      /* users that are never too many */


static void ngx_svc_directory_leave_count(ngx_svc_directory_run_t *run);
static void ngx_svc_directory_leave_counted(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op);
static void ngx_svc_directory_leave_decide(ngx_svc_directory_run_t *run);
static void ngx_svc_directory_leave_write(ngx_svc_directory_run_t *run);
static void ngx_svc_directory_leave_written(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op);
static void ngx_svc_directory_leave_step(ngx_svc_directory_run_t *run,
    const ngx_svc_pg_statement_t *statement, int32_t most,
    ngx_svc_directory_step_pt next);
static void ngx_svc_directory_leave_last(ngx_svc_directory_run_t *run,
    const ngx_str_t *last);


#include "ngx_svc_directory_leave.sql.h"


void
ngx_svc_directory_leave(ngx_svc_directory_run_t *run)
{
    run->active = 0;
    run->ending = 0;
    run->after_len = 0;

    ngx_svc_directory_leave_count(run);
}


static void
ngx_svc_directory_leave_count(ngx_svc_directory_run_t *run)
{
    ngx_svc_directory_leave_step(run, &ngx_svc_sql_directory_leave_count,
                                 NGX_SVC_DIRECTORY_COUNTED,
                                 ngx_svc_directory_leave_counted);
}


static void
ngx_svc_directory_leave_counted(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op)
{
    ngx_svc_row_directory_leave_count_t  row;

    ngx_svc_row_directory_leave_count(&row,
                ngx_svc_pg_op_result(op, &ngx_svc_sql_directory_leave_count),
                0);

    run->active += row.active;
    run->ending += row.ending;

    if (row.taken == NGX_SVC_DIRECTORY_COUNTED) {
        ngx_svc_directory_leave_last(run, &row.last);
        ngx_svc_directory_leave_count(run);
        return;
    }

    ngx_svc_directory_leave_decide(run);
}


static void
ngx_svc_directory_leave_decide(ngx_svc_directory_run_t *run)
{
    if (run->ending > NGX_SVC_DIRECTORY_MAY_LEAVE
        && 2 * run->ending > run->active && !run->forced)
    {
        ngx_svc_directory_run_end(run, NGX_SVC_DIRECTORY_HELD, NULL);
        return;
    }

    if (run->ending == 0) {
        ngx_svc_directory_run_end(run, NGX_SVC_DIRECTORY_OK, NULL);
        return;
    }

    run->after_len = 0;

    ngx_svc_directory_leave_write(run);
}


static void
ngx_svc_directory_leave_write(ngx_svc_directory_run_t *run)
{
    ngx_svc_directory_leave_step(run, &ngx_svc_sql_directory_leave,
                                 NGX_SVC_DIRECTORY_LEAVERS,
                                 ngx_svc_directory_leave_written);
}


static void
ngx_svc_directory_leave_written(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op)
{
    ngx_svc_row_directory_leave_t  row;

    ngx_svc_row_directory_leave(&row,
                      ngx_svc_pg_op_result(op, &ngx_svc_sql_directory_leave),
                      0);

    if (row.taken == NGX_SVC_DIRECTORY_LEAVERS) {
        ngx_svc_directory_leave_last(run, &row.last);
        ngx_svc_directory_leave_write(run);
        return;
    }

    ngx_svc_directory_run_end(run, NGX_SVC_DIRECTORY_OK, NULL);
}


static void
ngx_svc_directory_leave_step(ngx_svc_directory_run_t *run,
    const ngx_svc_pg_statement_t *statement, int32_t most,
    ngx_svc_directory_step_pt next)
{
    ngx_int_t           rc;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    rc = NGX_ERROR;
    op = ngx_svc_directory_run_step(run) ? ngx_svc_directory_run_op(run) : NULL;
    call = op ? ngx_svc_pg_call(op, statement) : NULL;

    if (call) {
        ngx_svc_directory_run_bind(run, call);
        ngx_svc_pg_bind(call, run->after, run->after_len);
        rc = ngx_svc_pg_bind_int(op, call, most);
    }

    ngx_svc_directory_run_submit(run, op, rc, next);
}


static void
ngx_svc_directory_leave_last(ngx_svc_directory_run_t *run,
    const ngx_str_t *last)
{
    run->after_len = ngx_min(last->len, sizeof(run->after));
    ngx_memcpy(run->after, last->data, run->after_len);
}
