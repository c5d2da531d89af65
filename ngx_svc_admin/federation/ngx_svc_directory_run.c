/*
 * One import that is under way, and its steps.
 */

#include "ngx_svc_directory_run.h"
#include "ngx_svc_ldap_page.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_published.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_DIRECTORY_INTERVAL  -1  /* the tenant's, as a pause */
#define NGX_SVC_DIRECTORY_RETRY     60  /* s, where PostgreSQL was at fault */


static ngx_svc_pg_op_t *ngx_svc_directory_run_start(
    ngx_svc_directory_run_t *run, ngx_svc_pg_handler_pt handler);
static void ngx_svc_directory_run_done(ngx_svc_pg_op_t *op);
static void ngx_svc_directory_run_lost(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op);
static void ngx_svc_directory_run_finish(ngx_svc_directory_run_t *run,
    ngx_svc_directory_end_e end, const ngx_str_t *error, int32_t pause);
static void ngx_svc_directory_run_ended(ngx_svc_pg_op_t *op);


#include "ngx_svc_directory_run.sql.h"


static const struct {
    const char        *status;
    ngx_svc_metric_e   metric;
} ngx_svc_directory_ends[NGX_SVC_DIRECTORY_ENDS] = {

    [NGX_SVC_DIRECTORY_OK]     = { "ok",     NGX_SVC_M_IMPORT_OK },
    [NGX_SVC_DIRECTORY_HELD]   = { "held",   NGX_SVC_M_IMPORT_HELD },
    [NGX_SVC_DIRECTORY_FAILED] = { "failed", NGX_SVC_M_IMPORT_FAILED }
};


ngx_pool_t *
ngx_svc_directory_run_step(ngx_svc_directory_run_t *run)
{
    if (run->step) {
        ngx_destroy_pool(run->step);
    }

    run->step = ngx_create_pool(16384, ngx_cycle->log);

    return run->step;
}


ngx_svc_pg_op_t *
ngx_svc_directory_run_op(ngx_svc_directory_run_t *run)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_directory_run_start(run, ngx_svc_directory_run_done);
    call = op ? ngx_svc_pg_call(op, &ngx_svc_sql_directory_lease) : NULL;

    if (call == NULL) {
        return NULL;
    }

    ngx_svc_pg_bind_str(call, &run->number);
    ngx_svc_pg_bind_str(call, run->directory.version.data
                              ? &run->directory.version : NULL);

    return op;
}


static ngx_svc_pg_op_t *
ngx_svc_directory_run_start(ngx_svc_directory_run_t *run,
    ngx_svc_pg_handler_pt handler)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_pg_op_create(run->step, NGX_SVC_PG_SLOW, handler, run);
    call = op ? ngx_svc_pg_call(op, &ngx_svc_sql_published_tenant) : NULL;

    if (call == NULL) {
        return NULL;
    }

    op->tenant = run->tenant;
    op->committed = ngx_svc_request_committed;
    ngx_svc_pg_bind_str(call, &run->tenant_id);

    return op;
}


void
ngx_svc_directory_run_bind(ngx_svc_directory_run_t *run,
    ngx_svc_pg_call_t *call)
{
    ngx_svc_pg_bind(call, run->directory.id, NGX_SVC_UUID_LEN);
    ngx_svc_pg_bind_str(call, &run->number);
}


void
ngx_svc_directory_run_submit(ngx_svc_directory_run_t *run, ngx_svc_pg_op_t *op,
    ngx_int_t rc, ngx_svc_directory_step_pt next)
{
    if (op == NULL || rc != NGX_OK || ngx_svc_pg_submit(op) != NGX_OK) {
        ngx_svc_directory_run_drop(run);
        return;
    }

    run->op = op;
    run->next = next;
}


static void
ngx_svc_directory_run_done(ngx_svc_pg_op_t *op)
{
    ngx_svc_directory_run_t        *run;
    ngx_svc_row_directory_lease_t   row;

    static const ngx_str_t  other =
        ngx_string("The directory was configured otherwise meanwhile.");
    static const ngx_str_t  late =
        ngx_string("The import has taken more than an hour.");

    run = op->data;
    run->op = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_directory_run_lost(run, op);
        return;
    }

    ngx_svc_row_directory_lease(&row,
                      ngx_svc_pg_op_result(op, &ngx_svc_sql_directory_lease),
                      0);

    run->forced = row.forced;
    run->deactivates = row.deactivates;

    if (!row.kept) {
        ngx_svc_directory_run_drop(run);

    } else if (!row.same) {
        ngx_svc_directory_run_finish(run, NGX_SVC_DIRECTORY_FAILED, &other, 0);

    } else if (row.late) {
        ngx_svc_directory_run_end(run, NGX_SVC_DIRECTORY_FAILED, &late);

    } else {
        run->next(run, op);
    }
}


/* PostgreSQL that is away cannot be told that the run is over. */

static void
ngx_svc_directory_run_lost(ngx_svc_directory_run_t *run, ngx_svc_pg_op_t *op)
{
    static const ngx_str_t  failed =
        ngx_string("What the directory has could not be stored: the operator's "
                   "error log says why.");

    ngx_svc_pg_op_failed(op, "a directory cannot be imported");

    if (op->status == NGX_SVC_PG_FAILED) {
        ngx_svc_directory_run_finish(run, NGX_SVC_DIRECTORY_FAILED, &failed,
                                     ngx_svc_pg_op_transient(op)
                                     ? NGX_SVC_DIRECTORY_RETRY
                                     : NGX_SVC_DIRECTORY_INTERVAL);

    } else {
        ngx_svc_directory_run_drop(run);
    }
}


void
ngx_svc_directory_run_end(ngx_svc_directory_run_t *run,
    ngx_svc_directory_end_e end, const ngx_str_t *error)
{
    ngx_svc_directory_run_finish(run, end, error, NGX_SVC_DIRECTORY_INTERVAL);
}


/* pause: seconds until the next one is due. */

static void
ngx_svc_directory_run_finish(ngx_svc_directory_run_t *run,
    ngx_svc_directory_end_e end, const ngx_str_t *error, int32_t pause)
{
    ngx_int_t           rc;
    ngx_str_t           said;
    ngx_pool_t         *before;
    const char         *status;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    run->end = end;
    status = ngx_svc_directory_ends[end].status;

    /* the sentence may be of the step before */

    before = run->step;
    run->step = NULL;

    call = NULL;
    op = ngx_svc_directory_run_step(run)
         ? ngx_svc_directory_run_start(run, ngx_svc_directory_run_ended) : NULL;

    if (op) {
        call = ngx_svc_pg_call(op, &ngx_svc_sql_directory_end);
    }

    rc = NGX_ERROR;

    if (call) {
        ngx_svc_pg_bind_str(call, &run->number);
        ngx_svc_pg_bind(call, (u_char *) status, ngx_strlen(status));

        if (error) {
            said = *error;
            ngx_svc_pg_bind(call, ngx_pstrdup(run->step, &said), said.len);

        } else {
            ngx_svc_pg_bind_str(call, NULL);
        }

        if (ngx_svc_pg_bind_int(op, call, pause) == NGX_OK
            && ngx_svc_pg_bind_int(op, call, run->ending) == NGX_OK)
        {
            rc = ngx_svc_pg_bind_int(op, call, run->active);
        }
    }

    if (before) {
        ngx_destroy_pool(before);
    }

    ngx_svc_directory_run_submit(run, op, rc, NULL);
}


static void
ngx_svc_directory_run_ended(ngx_svc_pg_op_t *op)
{
    ngx_svc_directory_run_t  *run;

    run = op->data;
    run->op = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, "an import of a directory cannot be ended");

    } else if (PQntuples(ngx_svc_pg_op_result(op, &ngx_svc_sql_directory_end))
               > 0)
    {
        ngx_svc_metric_add(ngx_svc_directory_ends[run->end].metric, 1);
    }

    ngx_svc_directory_run_drop(run);
}


void
ngx_svc_directory_run_drop(ngx_svc_directory_run_t *run)
{
    if (run->op) {
        ngx_svc_pg_cancel(run->op);
    }

    ngx_svc_ldap_cancel(&run->ldap);
    ngx_svc_ldap_page_close(&run->page);

    if (run->timer.timer_set) {
        ngx_del_timer(&run->timer);
    }

    run->over(run);

    if (run->step) {
        ngx_destroy_pool(run->step);
    }

    ngx_destroy_pool(run->pool);
}
