/*
 * Tasks: statements that a process runs from time to time, without a request.
 */

#include "ngx_svc_pg_task.h"


static void ngx_svc_pg_task_timer(ngx_event_t *ev);
static void ngx_svc_pg_task_done(ngx_svc_pg_op_t *op);
static void ngx_svc_pg_task_log(ngx_svc_pg_task_t *task, ngx_svc_pg_op_t *op);


void
ngx_svc_pg_task_init(ngx_svc_pg_task_t *task, ngx_cycle_t *cycle)
{
    ngx_memzero(&task->timer, sizeof(ngx_event_t));

    task->op = NULL;
    task->trouble = NGX_SVC_PG_OK;

    task->timer.handler = ngx_svc_pg_task_timer;
    task->timer.data = task;
    task->timer.log = cycle->log;
    task->timer.cancelable = 1;

    ngx_add_timer(&task->timer, (ngx_msec_t) ngx_random() % task->period);
}


void
ngx_svc_pg_task_exit(ngx_svc_pg_task_t *task)
{
    ngx_svc_pg_drop(&task->op);

    if (task->timer.timer_set) {
        ngx_del_timer(&task->timer);
    }
}


static void
ngx_svc_pg_task_timer(ngx_event_t *ev)
{
    ngx_pool_t         *pool;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;
    ngx_svc_pg_task_t  *task;

    task = ev->data;

    /* an op that waits for a connection would keep the worker from ending */

    if (ngx_exiting) {
        return;
    }

    ngx_add_timer(ev, task->period);

    if (task->op) {
        return;
    }

    pool = ngx_create_pool(1024, ev->log);
    if (pool == NULL) {
        return;
    }

    op = ngx_svc_pg_op_create(pool, task->pool, ngx_svc_pg_task_done, task);
    if (op == NULL) {
        goto failed;
    }

    call = ngx_svc_pg_call(op, task->statement);

    if (call == NULL
        || (task->bind && task->bind(op, call) != NGX_OK)
        || ngx_svc_pg_submit(op) != NGX_OK)
    {
        goto failed;
    }

    task->op = op;

    return;

failed:

    ngx_destroy_pool(pool);
}


static void
ngx_svc_pg_task_done(ngx_svc_pg_op_t *op)
{
    ngx_str_t           n;
    ngx_svc_pg_task_t  *task;

    task = op->data;

    ngx_svc_pg_task_log(task, op);

    if (op->status == NGX_SVC_PG_OK) {
        n = ngx_svc_pg_value(ngx_svc_pg_op_result(op, task->statement), 0, 0);

        if (ngx_atoi(n.data, n.len) >= task->full) {
            ngx_add_timer(&task->timer, task->pause);
        }

        if (task->done) {
            task->done(op);
        }
    }

    task->op = NULL;
    ngx_destroy_pool(op->pool);
}


static void
ngx_svc_pg_task_log(ngx_svc_pg_task_t *task, ngx_svc_pg_op_t *op)
{
    char      *text;
    uint32_t   trouble;

    trouble = op->status;

    if (op->status == NGX_SVC_PG_FAILED) {
        text = PQresultErrorMessage(op->error);
        trouble = ngx_crc32_short((u_char *) text, ngx_strlen(text));
    }

    if (trouble == task->trouble) {
        return;
    }

    task->trouble = trouble;

    if (op->status == NGX_SVC_PG_OK) {
        ngx_log_error(NGX_LOG_NOTICE, task->timer.log, 0,
                      "PostgreSQL: no longer: %s", task->failed);

    } else {
        ngx_svc_pg_op_failed(op, task->failed);
    }
}
