/*
 * Ops on a connection: sends them, and hands their results to them.
 */

#include "ngx_svc_metrics.h"
#include "ngx_svc_pg_pipeline.h"
#include "ngx_svc_pg_state.h"


/* libpq before 17 has only the function that flushes each time */

#if (NGX_SVC_HAVE_SEND_PIPELINE_SYNC)
#define ngx_svc_pg_sync  PQsendPipelineSync
#else
#define ngx_svc_pg_sync  PQpipelineSync
#endif


static ngx_int_t ngx_svc_pg_pipeline_prepare(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_op_t *op);
static int ngx_svc_pg_pipeline_call(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_call_t *call);
static void ngx_svc_pg_pipeline_slot(ngx_svc_pg_slot_t *slot,
    ngx_svc_pg_op_t *op);
static void ngx_svc_pg_pipeline_result(ngx_svc_pg_conn_t *conn,
    PGresult *res);
static void ngx_svc_pg_pipeline_prepared(ngx_svc_pg_slot_t *slot,
    PGresult *res, ExecStatusType status);
static void ngx_svc_pg_pipeline_done(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_slot_t *slot);


ngx_int_t
ngx_svc_pg_pipeline_send(ngx_svc_pg_conn_t *conn, ngx_svc_pg_op_t *op)
{
    ngx_int_t           n;
    ngx_uint_t          i;
    ngx_queue_t        *q;
    ngx_svc_pg_slot_t  *slot;

    n = ngx_svc_pg_pipeline_prepare(conn, op);

    if (n == NGX_ERROR) {
        ngx_svc_pg_conn_break(conn);
        return NGX_ERROR;
    }

    for (i = 0; i < op->ncalls; i++) {

        if (ngx_svc_pg_pipeline_call(conn, &op->calls[i]) != 1) {
            ngx_svc_pg_conn_break(conn);
            return NGX_ERROR;
        }
    }

    q = ngx_queue_head(&conn->free);
    ngx_queue_remove(q);

    slot = ngx_queue_data(q, ngx_svc_pg_slot_t, queue);

    ngx_svc_pg_pipeline_slot(slot, op);
    slot->preparing = (n != 0);

    ngx_queue_insert_tail(&conn->inflight, q);
    op->slot = slot;

    ngx_svc_gauge_add(ngx_svc_gauge_pg(conn->pool->kind,
                                       NGX_SVC_G_PG_IN_FLIGHT), 1);

    if (conn->ninflight++ == 0) {
        conn->progress = ngx_current_msec;
        conn->timer.cancelable = 0;

        if (!conn->timer.timer_set) {
            ngx_add_timer(&conn->timer,
                          conn->pool->conf->timeout + NGX_SVC_PG_GRACE);
        }
    }

    /* from here the op is in flight: it fails with its connection */

    if (ngx_svc_pg_sync(conn->pg) != 1) {
        ngx_svc_pg_conn_break(conn);

    } else if (!conn->flush.posted) {
        ngx_post_event(&conn->flush, &ngx_posted_events);
    }

    return NGX_OK;
}


/*
 * Prepares the statements of the op that the connection does not have yet, in a
 * transaction of their own: the op's transaction begins after it, without its
 * locks.  Returns how many statements these are, or NGX_ERROR.
 */

static ngx_int_t
ngx_svc_pg_pipeline_prepare(ngx_svc_pg_conn_t *conn, ngx_svc_pg_op_t *op)
{
    ngx_int_t                      rc;
    ngx_uint_t                     i, n;
    const ngx_svc_pg_statement_t  *s;

    n = 0;

    for (i = 0; i < op->ncalls; i++) {
        s = op->calls[i].statement;

        rc = s->name[0] ? ngx_svc_pg_prepared_add(conn->prepared, s) : NGX_OK;

        if (rc == NGX_OK) {
            continue;
        }

        if (rc == NGX_ERROR
            || PQsendPrepare(conn->pg, s->name, s->text, 0, NULL) != 1)
        {
            return NGX_ERROR;
        }

        n++;
    }

    if (n && ngx_svc_pg_sync(conn->pg) != 1) {
        return NGX_ERROR;
    }

    return n;
}


static int
ngx_svc_pg_pipeline_call(ngx_svc_pg_conn_t *conn, ngx_svc_pg_call_t *call)
{
    const ngx_svc_pg_statement_t  *s;

    s = call->statement;

    return s->name[0] ? PQsendQueryPrepared(conn->pg, s->name,
                                            (int) call->nbound, call->values,
                                            call->lengths, call->formats, 0)
                      : PQsendQueryParams(conn->pg, s->text,
                                          (int) call->nbound, NULL,
                                          call->values, call->lengths,
                                          call->formats, 0);
}


/*
 * Copies what the answer needs from the op, which may have ended when the
 * answer comes.
 */

static void
ngx_svc_pg_pipeline_slot(ngx_svc_pg_slot_t *slot, ngx_svc_pg_op_t *op)
{
    ngx_uint_t  i;

    slot->op = op;
    slot->committed = op->committed;
    slot->ncalls = op->ncalls;
    slot->ndone = 0;
    slot->error = NULL;
    slot->unprepared = 0;
    ngx_memzero(slot->results, sizeof(slot->results));

    for (i = 0; i < op->ncalls; i++) {
        slot->statements[i] = op->calls[i].statement;
    }

    slot->shown.statements = slot->statements + op->nhidden;
    slot->shown.results = slot->results + op->nhidden;
    slot->shown.n = op->ncalls - op->nhidden;
}


/* A connection that has broken since is about to be closed. */

void
ngx_svc_pg_pipeline_flush_event(ngx_event_t *ev)
{
    ngx_svc_pg_conn_t  *conn;

    conn = ev->data;

    if (conn->state == NGX_SVC_PG_READY
        && ngx_svc_pg_pipeline_flush(conn) != NGX_OK)
    {
        ngx_svc_pg_conn_break(conn);
    }
}


ngx_int_t
ngx_svc_pg_pipeline_flush(ngx_svc_pg_conn_t *conn)
{
    ngx_event_t  *wev;

    wev = conn->connection->write;

    switch (PQflush(conn->pg)) {

    case 0:
        if (wev->active) {
            return ngx_del_event(wev, NGX_WRITE_EVENT, 0);
        }

        return NGX_OK;

    case 1:
        if (!wev->active) {
            return ngx_add_event(wev, NGX_WRITE_EVENT, 0);
        }

        return NGX_OK;

    default:
        return NGX_ERROR;
    }
}


ngx_int_t
ngx_svc_pg_pipeline_read(ngx_svc_pg_conn_t *conn)
{
    PGresult  *res;

    if (PQconsumeInput(conn->pg) != 1) {
        return NGX_ERROR;
    }

    while (conn->ninflight
           && !PQisBusy(conn->pg)
           && PQstatus(conn->pg) == CONNECTION_OK)
    {
        res = PQgetResult(conn->pg);

        /* a NULL separates the results of two statements */

        if (res == NULL) {
            continue;
        }

        ngx_svc_pg_pipeline_result(conn, res);

        /* a handler may have sent an op, and found the connection dead */

        if (conn->state != NGX_SVC_PG_READY) {
            return NGX_DONE;
        }
    }

    /* libpq closes the socket when it cannot parse what the server sends */

    return PQstatus(conn->pg) == CONNECTION_OK ? NGX_OK : NGX_ERROR;
}


/* Owns the result from here on. */

static void
ngx_svc_pg_pipeline_result(ngx_svc_pg_conn_t *conn, PGresult *res)
{
    ngx_queue_t        *q;
    ExecStatusType      status;
    ngx_svc_pg_slot_t  *slot;

    q = ngx_queue_head(&conn->inflight);
    slot = ngx_queue_data(q, ngx_svc_pg_slot_t, queue);

    conn->progress = ngx_current_msec;

    status = PQresultStatus(res);

    if (slot->preparing) {
        ngx_svc_pg_pipeline_prepared(slot, res, status);
        return;
    }

    if (status == PGRES_PIPELINE_SYNC) {
        PQclear(res);
        ngx_svc_pg_pipeline_done(conn, slot);
        return;
    }

    /* an error after the last statement is that of the commit */

    if (slot->ndone == slot->ncalls) {

        if (status == PGRES_FATAL_ERROR && slot->error == NULL) {
            slot->error = res;
            return;
        }

        PQclear(res);
        return;
    }

    if (status == PGRES_FATAL_ERROR && slot->error == NULL) {
        slot->error = res;
    }

    slot->results[slot->ndone++] = res;
}


/*
 * Owns the result from here on.  The first error becomes the op's, which cannot
 * run then.
 */

static void
ngx_svc_pg_pipeline_prepared(ngx_svc_pg_slot_t *slot, PGresult *res,
    ExecStatusType status)
{
    if (status == PGRES_FATAL_ERROR && slot->error == NULL) {
        slot->error = res;
        slot->unprepared = 1;
        return;
    }

    if (status == PGRES_PIPELINE_SYNC) {
        slot->preparing = 0;
    }

    PQclear(res);
}


/*
 * Called when the Sync has been answered: only now is the transaction
 * committed.  The slot is in neither queue while the handler looks at its
 * results.
 */

static void
ngx_svc_pg_pipeline_done(ngx_svc_pg_conn_t *conn, ngx_svc_pg_slot_t *slot)
{
    const char       *state;
    ngx_svc_pg_op_t  *op;

    ngx_queue_remove(&slot->queue);

    op = slot->op;
    slot->op = NULL;
    state = slot->error ? PQresultErrorField(slot->error, PG_DIAG_SQLSTATE)
                        : NULL;

    if (state && ngx_strcmp(state, NGX_SVC_PG_DISK_FULL) == 0) {
        conn->pool->full = 1;
        conn->pool->full_at = ngx_current_msec;
    }

    /* later ops in flight still get answers; new ones get a new connection */

    if (slot->unprepared || ngx_svc_pg_stale(state)) {
        conn->retired = 1;
    }

    if (slot->committed && slot->error == NULL) {
        slot->committed(&slot->shown);
    }

    if (op) {
        op->slot = NULL;
        op->status = slot->error ? NGX_SVC_PG_FAILED : NGX_SVC_PG_OK;
        op->results = &slot->shown;
        op->error = slot->error;
        op->unprepared = slot->unprepared;

        op->handler(op);
    }

    ngx_svc_pg_pipeline_clear(slot);

    ngx_queue_insert_tail(&conn->free, &slot->queue);

    ngx_svc_gauge_add(ngx_svc_gauge_pg(conn->pool->kind,
                                       NGX_SVC_G_PG_IN_FLIGHT), -1);

    /* the timer of an idle connection must not keep a worker from quitting */

    if (--conn->ninflight == 0) {
        conn->timer.cancelable = 1;
        conn->pool->idle(conn);

        if (conn->retired && conn->state == NGX_SVC_PG_READY) {
            ngx_svc_pg_conn_break(conn);
        }
    }
}


void
ngx_svc_pg_pipeline_clear(ngx_svc_pg_slot_t *slot)
{
    ngx_uint_t  i;

    for (i = 0; i < slot->ndone; i++) {

        if (slot->results[i] == slot->error) {
            slot->error = NULL;
        }

        PQclear(slot->results[i]);
    }

    PQclear(slot->error);

    slot->ndone = 0;
    slot->error = NULL;
}
