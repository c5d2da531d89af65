/*
 * One PostgreSQL connection: connect, prepare, pipeline, lose, connect again.
 */

#include "ngx_svc_pg_conn.h"


#define NGX_SVC_PG_BACKOFF_MIN  50      /* ms */
#define NGX_SVC_PG_BACKOFF_MAX  500

/* PostgreSQL's own statement_timeout, of the same length, answers first. */

#define NGX_SVC_PG_GRACE        500     /* ms */

#define NGX_SVC_PG_NSETTINGS    2       /* statements before the PREPAREs */


static void ngx_svc_pg_conn_attach(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_detach(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_event(ngx_event_t *ev);
static void ngx_svc_pg_conn_timer(ngx_event_t *ev);
static void ngx_svc_pg_conn_close_event(ngx_event_t *ev);
static void ngx_svc_pg_conn_break(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_failed(ngx_svc_pg_conn_t *conn, const char *what,
    const char *message);
static void ngx_svc_pg_conn_lost(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_poll(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_setup(ngx_svc_pg_conn_t *conn);
static ngx_int_t ngx_svc_pg_conn_prepare(ngx_svc_pg_conn_t *conn);
static ngx_int_t ngx_svc_pg_conn_setup_result(ngx_svc_pg_conn_t *conn,
    PGresult *res);
static ngx_int_t ngx_svc_pg_conn_check(ngx_svc_pg_conn_t *conn,
    PGresult *res);
static void ngx_svc_pg_conn_ready(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_read(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_result(ngx_svc_pg_conn_t *conn, PGresult *res);
static void ngx_svc_pg_conn_done(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_slot_t *slot);
static void ngx_svc_pg_conn_clear(ngx_svc_pg_slot_t *slot);
static ngx_int_t ngx_svc_pg_conn_flush(ngx_svc_pg_conn_t *conn);


/*
 * Session settings go as a statement rather than in "options", which
 * connection poolers refuse.
 */

static const char  ngx_svc_pg_settings[] =
    "SELECT set_config('TimeZone', 'UTC', false),"
          " set_config('DateStyle', 'ISO', false),"
          " set_config('search_path', 'pg_catalog', false),"
          " set_config('statement_timeout', $1, false)";

/* A role that can bypass row-level security would see all tenants. */

static const char  ngx_svc_pg_check[] =
    "SELECT (SELECT coalesce(max(version), 0) FROM svc.schema_migration),"
          " (SELECT rolsuper OR rolbypassrls FROM pg_roles"
          "   WHERE rolname = current_user)"
          " OR EXISTS (SELECT FROM pg_class c JOIN pg_namespace n"
          "              ON n.oid = c.relnamespace"
          "            WHERE n.nspname = 'svc' AND c.relkind IN ('r', 'p')"
          "              AND pg_has_role(c.relowner, 'MEMBER'))";


void
ngx_svc_pg_conn_init(ngx_svc_pg_conn_t *conn, ngx_svc_pg_pool_t *pool)
{
    conn->pool = pool;

    ngx_queue_init(&conn->inflight);
    ngx_queue_init(&conn->free);

    conn->timer.handler = ngx_svc_pg_conn_timer;
    conn->timer.data = conn;
    conn->timer.log = pool->log;
    conn->timer.cancelable = 1;

    conn->close.handler = ngx_svc_pg_conn_close_event;
    conn->close.data = conn;
    conn->close.log = pool->log;
}


void
ngx_svc_pg_conn_start(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_conf_t  *conf;

    conf = conn->pool->conf;

    conn->state = NGX_SVC_PG_CONNECTING;
    conn->nsetup = 0;

    conn->pg = PQconnectStartParams(conf->keywords, conf->values, 1);

    if (conn->pg == NULL) {
        ngx_svc_pg_conn_failed(conn, "PQconnectStartParams()",
                               "out of memory");
        return;
    }

    if (PQstatus(conn->pg) == CONNECTION_BAD) {
        ngx_svc_pg_conn_failed(conn, "PQconnectStartParams()",
                               PQerrorMessage(conn->pg));
        return;
    }

    ngx_add_timer(&conn->timer, conf->connect_timeout);

    /* libpq: behave as if PQconnectPoll() had said PGRES_POLLING_WRITING */

    ngx_svc_pg_conn_attach(conn);

    if (conn->connection == NULL
        || ngx_add_event(conn->connection->write, NGX_WRITE_EVENT, 0)
           != NGX_OK)
    {
        ngx_svc_pg_conn_failed(conn, "connect()", "no free connections in "
                               "nginx: raise worker_connections");
    }
}


/* nginx's connection borrows libpq's socket: it must never close it. */

static void
ngx_svc_pg_conn_attach(ngx_svc_pg_conn_t *conn)
{
    ngx_connection_t  *c;

    conn->connection = NULL;

    if (PQsocket(conn->pg) < 0) {
        return;
    }

    c = ngx_get_connection(PQsocket(conn->pg), conn->pool->log);
    if (c == NULL) {
        return;
    }

    c->data = conn;
    c->read->handler = ngx_svc_pg_conn_event;
    c->write->handler = ngx_svc_pg_conn_event;
    c->read->log = conn->pool->log;
    c->write->log = conn->pool->log;

    conn->connection = c;
}


static void
ngx_svc_pg_conn_detach(ngx_svc_pg_conn_t *conn)
{
    ngx_uint_t         flags;
    ngx_connection_t  *c;

    c = conn->connection;

    if (c == NULL) {
        return;
    }

    /* libpq closes the socket of a connection that it finds lost */

    flags = (PQsocket(conn->pg) == c->fd) ? 0 : NGX_CLOSE_EVENT;

    if (c->read->active) {
        ngx_del_event(c->read, NGX_READ_EVENT, flags);
    }

    if (c->write->active) {
        ngx_del_event(c->write, NGX_WRITE_EVENT, flags);
    }

    if (c->read->posted) {
        ngx_delete_posted_event(c->read);
    }

    if (c->write->posted) {
        ngx_delete_posted_event(c->write);
    }

    ngx_free_connection(c);

    c->fd = (ngx_socket_t) -1;
    conn->connection = NULL;
}


static void
ngx_svc_pg_conn_event(ngx_event_t *ev)
{
    ngx_connection_t   *c;
    ngx_svc_pg_conn_t  *conn;

    c = ev->data;
    conn = c->data;

    switch (conn->state) {

    case NGX_SVC_PG_CONNECTING:
        ngx_svc_pg_conn_poll(conn);
        return;

    case NGX_SVC_PG_PREPARING:
    case NGX_SVC_PG_READY:
        if (ev->write) {
            if (ngx_svc_pg_conn_flush(conn) != NGX_OK) {
                ngx_svc_pg_conn_lost(conn);
            }

            return;
        }

        ngx_svc_pg_conn_read(conn);
        return;

    default: /* NGX_SVC_PG_BROKEN, about to be closed */
        return;
    }
}


static void
ngx_svc_pg_conn_timer(ngx_event_t *ev)
{
    ngx_msec_t          silence;
    ngx_svc_pg_conn_t  *conn;
    ngx_svc_pg_conf_t  *conf;

    conn = ev->data;
    conf = conn->pool->conf;

    switch (conn->state) {

    case NGX_SVC_PG_CLOSED:
        ngx_svc_pg_conn_start(conn);
        return;

    case NGX_SVC_PG_CONNECTING:
    case NGX_SVC_PG_PREPARING:
        ngx_svc_pg_conn_failed(conn, "connecting", "timed out; see "
                               "\"svc_postgres_connect_timeout\"");
        return;

    default:
        break;
    }

    if (conn->ninflight == 0) {
        return;
    }

    silence = ngx_current_msec - conn->progress;

    if (silence < conf->timeout + NGX_SVC_PG_GRACE) {
        ngx_add_timer(&conn->timer,
                      conf->timeout + NGX_SVC_PG_GRACE - silence);
        return;
    }

    ngx_log_error(NGX_LOG_ERR, conn->pool->log, 0,
                  "PostgreSQL owes %ui answers and was silent for %M ms: "
                  "connection closed", conn->ninflight, silence);

    ngx_svc_pg_conn_lost(conn);
}


/*
 * Sending happens in the middle of others' work, reading included: there a
 * connection is only marked, and closed when the event loop comes by.
 */

static void
ngx_svc_pg_conn_break(ngx_svc_pg_conn_t *conn)
{
    conn->state = NGX_SVC_PG_BROKEN;

    if (!conn->close.posted) {
        ngx_post_event(&conn->close, &ngx_posted_events);
    }
}


static void
ngx_svc_pg_conn_close_event(ngx_event_t *ev)
{
    ngx_svc_pg_conn_lost(ev->data);
}


void
ngx_svc_pg_conn_destroy(ngx_svc_pg_conn_t *conn)
{
    ngx_queue_t  *q;

    if (conn->timer.timer_set) {
        ngx_del_timer(&conn->timer);
    }

    if (conn->close.posted) {
        ngx_delete_posted_event(&conn->close);
    }

    for (q = ngx_queue_head(&conn->inflight);
         q != ngx_queue_sentinel(&conn->inflight);
         q = ngx_queue_next(q))
    {
        ngx_svc_pg_conn_clear(ngx_queue_data(q, ngx_svc_pg_slot_t, queue));
    }

    ngx_svc_pg_conn_detach(conn);

    if (conn->pg) {
        PQfinish(conn->pg);
        conn->pg = NULL;
    }
}


/* Closes, and comes back after a growing pause. */

static void
ngx_svc_pg_conn_failed(ngx_svc_pg_conn_t *conn, const char *what,
    const char *message)
{
    ngx_str_t           text;
    ngx_msec_t          pause;
    ngx_uint_t          level;
    ngx_svc_pg_pool_t  *pool;

    pool = conn->pool;

    if (message) {
        text = ngx_svc_pg_message(message);

        /* said once, not twice a second for each connection */

        level = pool->down ? NGX_LOG_INFO : NGX_LOG_ERR;

        ngx_log_error(level, pool->log, 0, "PostgreSQL: %s failed: %V", what,
                      &text);
        pool->down = 1;
    }

    ngx_svc_pg_conn_destroy(conn);

    conn->state = NGX_SVC_PG_CLOSED;

    pause = NGX_SVC_PG_BACKOFF_MIN << ngx_min(conn->failures, 4);
    pause = ngx_min(pause, NGX_SVC_PG_BACKOFF_MAX);
    pause = pause / 2 + (ngx_msec_t) ngx_random() % (pause / 2);

    conn->failures++;

    conn->timer.cancelable = 1;
    ngx_add_timer(&conn->timer, pause);
}


static void
ngx_svc_pg_conn_lost(ngx_svc_pg_conn_t *conn)
{
    ngx_str_t           text;
    ngx_uint_t          level;
    ngx_queue_t         ops, *q;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_slot_t  *slot;
    ngx_svc_pg_pool_t  *pool;

    pool = conn->pool;

    text = ngx_svc_pg_message(PQerrorMessage(conn->pg));
    level = conn->ninflight ? NGX_LOG_ERR : NGX_LOG_WARN;

    ngx_log_error(level, pool->log, 0,
                  "PostgreSQL connection lost with %ui in flight: %V",
                  conn->ninflight, &text);

    pool->nready--;

    /*
     * Handlers may send new ops and finalize requests: the connection is
     * closed and empty before the first of them is called.  Ops sit in a queue
     * of their own meanwhile, and a cancelled one must be able to leave it, so
     * they stay in their slots.
     */

    ngx_queue_init(&ops);

    if (!ngx_queue_empty(&conn->inflight)) {
        ngx_queue_add(&ops, &conn->inflight);
        ngx_queue_init(&conn->inflight);
    }

    for (q = ngx_queue_head(&ops);
         q != ngx_queue_sentinel(&ops);
         q = ngx_queue_next(q))
    {
        ngx_svc_pg_conn_clear(ngx_queue_data(q, ngx_svc_pg_slot_t, queue));
    }

    conn->ninflight = 0;
    conn->failures = 0;

    ngx_svc_pg_conn_failed(conn, NULL, NULL);

    /* the last one first, since each read goes to the head of the queue */

    while (!ngx_queue_empty(&ops)) {
        q = ngx_queue_last(&ops);
        slot = ngx_queue_data(q, ngx_svc_pg_slot_t, queue);
        op = slot->op;

        ngx_queue_remove(q);
        slot->op = NULL;
        ngx_queue_insert_tail(&conn->free, q);

        if (op) {
            ngx_svc_pg_pool_lost(pool, op);
        }
    }

    ngx_svc_pg_pool_dispatch(pool);
}


/*
 * PQconnectPoll() may close the socket and open another one, for the next
 * address: nginx lets go of it before each call.
 */

static void
ngx_svc_pg_conn_poll(ngx_svc_pg_conn_t *conn)
{
    ngx_int_t                  rc;
    PostgresPollingStatusType  status;

    ngx_svc_pg_conn_detach(conn);

    status = PQconnectPoll(conn->pg);

    if (status == PGRES_POLLING_FAILED) {
        ngx_svc_pg_conn_failed(conn, "connecting", PQerrorMessage(conn->pg));
        return;
    }

    ngx_svc_pg_conn_attach(conn);

    if (conn->connection == NULL) {
        ngx_svc_pg_conn_failed(conn, "connecting", "no free connections in "
                               "nginx: raise worker_connections");
        return;
    }

    if (status == PGRES_POLLING_WRITING) {
        rc = ngx_add_event(conn->connection->write, NGX_WRITE_EVENT, 0);

    } else {
        rc = ngx_add_event(conn->connection->read, NGX_READ_EVENT, 0);
    }

    if (rc != NGX_OK) {
        ngx_svc_pg_conn_failed(conn, "connecting", "ngx_add_event() failed");
        return;
    }

    if (status == PGRES_POLLING_OK) {
        ngx_svc_pg_conn_setup(conn);
    }
}


static void
ngx_svc_pg_conn_setup(ngx_svc_pg_conn_t *conn)
{
    conn->state = NGX_SVC_PG_PREPARING;

    if (PQsetnonblocking(conn->pg, 1) != 0
        || PQenterPipelineMode(conn->pg) != 1
        || ngx_svc_pg_conn_prepare(conn) != NGX_OK
        || PQpipelineSync(conn->pg) != 1
        || ngx_svc_pg_conn_flush(conn) != NGX_OK)
    {
        ngx_svc_pg_conn_failed(conn, "preparing", PQerrorMessage(conn->pg));
    }
}


static ngx_int_t
ngx_svc_pg_conn_prepare(ngx_svc_pg_conn_t *conn)
{
    u_char                         *p, timeout[NGX_INT64_LEN + 1];
    ngx_uint_t                      i;
    const char                     *values[1];
    ngx_svc_pg_conf_t              *conf;
    const ngx_svc_pg_statement_t   *s, **tables;

    conf = conn->pool->conf;

    p = ngx_sprintf(timeout, "%M", conf->timeout);
    *p = '\0';
    values[0] = (char *) timeout;

    if (PQsendQueryParams(conn->pg, ngx_svc_pg_settings, 1, NULL, values,
                          NULL, NULL, 0)
        != 1
        || PQsendQueryParams(conn->pg, ngx_svc_pg_check, 0, NULL, NULL, NULL,
                             NULL, 0)
           != 1)
    {
        return NGX_ERROR;
    }

    tables = conf->tables.elts;

    for (i = 0; i < conf->tables.nelts; i++) {
        for (s = tables[i]; s->name; s++) {
            if (PQsendPrepare(conn->pg, s->name, s->text, 0, NULL) != 1) {
                return NGX_ERROR;
            }
        }
    }

    return NGX_OK;
}


/* NGX_AGAIN until the Sync's answer; NGX_ERROR when the setup failed. */

static ngx_int_t
ngx_svc_pg_conn_setup_result(ngx_svc_pg_conn_t *conn, PGresult *res)
{
    ngx_str_t    text;
    const char  *state;

    switch (PQresultStatus(res)) {

    case PGRES_PIPELINE_SYNC:
        return NGX_OK;

    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
        break;

    default:
        state = PQresultErrorField(res, PG_DIAG_SQLSTATE);

        if (state && (ngx_strcmp(state, "3F000") == 0
                      || ngx_strcmp(state, "42P01") == 0))
        {
            ngx_svc_pg_conn_failed(conn, "preparing",
                                   "the database has no schema \"svc\": run "
                                   "\"svcctl migrate\" on it");
            return NGX_ERROR;
        }

        text = ngx_svc_pg_message(PQresultErrorMessage(res));

        ngx_log_error(NGX_LOG_INFO, conn->pool->log, 0,
                      "PostgreSQL setup statement %ui: %V", conn->nsetup,
                      &text);

        ngx_svc_pg_conn_failed(conn, "preparing", PQresultErrorMessage(res));
        return NGX_ERROR;
    }

    conn->nsetup++;

    if (conn->nsetup == NGX_SVC_PG_NSETTINGS) {
        return ngx_svc_pg_conn_check(conn, res);
    }

    return NGX_AGAIN;
}


static ngx_int_t
ngx_svc_pg_conn_check(ngx_svc_pg_conn_t *conn, PGresult *res)
{
    ngx_int_t  version;
    ngx_str_t  v;

    v = ngx_svc_pg_value(res, 0, 0);
    version = ngx_atoi(v.data, v.len);

    if (version < NGX_SVC_PG_SCHEMA) {
        ngx_log_error(NGX_LOG_INFO, conn->pool->log, 0,
                      "PostgreSQL: the schema is of version %i, these modules "
                      "need %d", version, NGX_SVC_PG_SCHEMA);
        ngx_svc_pg_conn_failed(conn, "preparing",
                               "the schema is too old for these modules: run "
                               "\"svcctl migrate\"");
        return NGX_ERROR;
    }

    v = ngx_svc_pg_value(res, 0, 1);

    if (v.len != 1 || v.data[0] != 'f') {
        ngx_svc_pg_conn_failed(conn, "preparing",
                               "the role of \"svc_postgres\" owns tables or "
                               "bypasses row-level security, which keeps "
                               "tenants apart: connect as svc_app");
        return NGX_ERROR;
    }

    return NGX_AGAIN;
}


static void
ngx_svc_pg_conn_ready(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_pool_t  *pool;

    pool = conn->pool;

    ngx_del_timer(&conn->timer);

    conn->state = NGX_SVC_PG_READY;
    conn->failures = 0;
    pool->nready++;

    if (pool->down) {
        pool->down = 0;
        ngx_log_error(NGX_LOG_NOTICE, pool->log, 0, "PostgreSQL is back");
    }

    ngx_svc_pg_pool_dispatch(pool);
}


ngx_int_t
ngx_svc_pg_conn_send(ngx_svc_pg_conn_t *conn, ngx_svc_pg_op_t *op)
{
    ngx_uint_t          i;
    ngx_queue_t        *q;
    ngx_svc_pg_call_t  *call;
    ngx_svc_pg_slot_t  *slot;

    for (i = 0; i < op->ncalls; i++) {
        call = &op->calls[i];

        if (PQsendQueryPrepared(conn->pg, call->statement->name,
                                (int) call->nbound, call->values,
                                call->lengths, call->formats, 0)
            != 1)
        {
            ngx_svc_pg_conn_break(conn);
            return NGX_ERROR;
        }
    }

    q = ngx_queue_head(&conn->free);
    ngx_queue_remove(q);

    slot = ngx_queue_data(q, ngx_svc_pg_slot_t, queue);

    slot->op = op;
    slot->ncalls = op->ncalls;
    slot->ndone = 0;
    slot->error = NULL;
    ngx_memzero(slot->results, sizeof(slot->results));

    ngx_queue_insert_tail(&conn->inflight, q);
    op->slot = slot;

    if (conn->ninflight++ == 0) {
        conn->progress = ngx_current_msec;
        conn->timer.cancelable = 0;

        if (!conn->timer.timer_set) {
            ngx_add_timer(&conn->timer,
                          conn->pool->conf->timeout + NGX_SVC_PG_GRACE);
        }
    }

    /* from here the op is in flight, and a failure is the connection's */

    if (PQpipelineSync(conn->pg) != 1
        || ngx_svc_pg_conn_flush(conn) != NGX_OK)
    {
        ngx_svc_pg_conn_break(conn);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_pg_conn_flush(ngx_svc_pg_conn_t *conn)
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


static void
ngx_svc_pg_conn_read(ngx_svc_pg_conn_t *conn)
{
    ngx_int_t            rc;
    PGresult            *res;
    ngx_svc_pg_state_e   state;

    if (PQconsumeInput(conn->pg) != 1) {

        if (conn->state == NGX_SVC_PG_READY) {
            ngx_svc_pg_conn_lost(conn);

        } else {
            ngx_svc_pg_conn_failed(conn, "preparing",
                                   PQerrorMessage(conn->pg));
        }

        return;
    }

    while (!PQisBusy(conn->pg) && PQstatus(conn->pg) == CONNECTION_OK) {

        state = conn->state;

        if (state == NGX_SVC_PG_READY && conn->ninflight == 0) {
            break;
        }

        res = PQgetResult(conn->pg);

        /* NULL is what stands between the results of two statements */

        if (res == NULL) {
            continue;
        }

        if (state == NGX_SVC_PG_READY) {
            ngx_svc_pg_conn_result(conn, res);

            /* a handler's own sending may have found the connection dead */

            if (conn->state != NGX_SVC_PG_READY) {
                return;
            }

            continue;
        }

        rc = ngx_svc_pg_conn_setup_result(conn, res);

        PQclear(res);

        if (rc == NGX_ERROR) {
            return;
        }

        if (rc == NGX_OK) {
            ngx_svc_pg_conn_ready(conn);
        }
    }

    if (conn->state == NGX_SVC_PG_READY) {
        ngx_svc_pg_pool_dispatch(conn->pool);
    }
}


/* Takes over the result. */

static void
ngx_svc_pg_conn_result(ngx_svc_pg_conn_t *conn, PGresult *res)
{
    ngx_queue_t        *q;
    ExecStatusType      status;
    ngx_svc_pg_slot_t  *slot;

    q = ngx_queue_head(&conn->inflight);
    slot = ngx_queue_data(q, ngx_svc_pg_slot_t, queue);

    conn->progress = ngx_current_msec;

    status = PQresultStatus(res);

    if (status == PGRES_PIPELINE_SYNC) {
        PQclear(res);
        ngx_svc_pg_conn_done(conn, slot);
        return;
    }

    /* an error past the last statement is that of the commit */

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
 * The Sync has been answered: only now is the transaction committed.  The slot
 * stays out of both queues while the handler looks at its results.
 */

static void
ngx_svc_pg_conn_done(ngx_svc_pg_conn_t *conn, ngx_svc_pg_slot_t *slot)
{
    ngx_svc_pg_op_t  *op;

    ngx_queue_remove(&slot->queue);

    op = slot->op;
    slot->op = NULL;

    if (op) {
        op->slot = NULL;
        op->status = slot->error ? NGX_SVC_PG_FAILED : NGX_SVC_PG_OK;
        op->results = slot->results;
        op->error = slot->error;

        op->handler(op);
    }

    ngx_svc_pg_conn_clear(slot);

    ngx_queue_insert_tail(&conn->free, &slot->queue);

    /* an idle connection does not keep a worker from quitting */

    if (--conn->ninflight == 0) {
        conn->timer.cancelable = 1;
    }
}


static void
ngx_svc_pg_conn_clear(ngx_svc_pg_slot_t *slot)
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
