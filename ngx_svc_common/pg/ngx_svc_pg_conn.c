/*
 * One PostgreSQL connection: connect, prepare, pipeline, lose, connect again.
 */

#include "ngx_svc_metrics.h"
#include "ngx_svc_pg_conn.h"
#include "ngx_svc_pg_pipeline.h"
#include "ngx_svc_pg_queue.h"
#include "ngx_svc_pg_setup.h"
#include "ngx_svc_pg_state.h"
#include "ngx_svc_socket.h"


#define NGX_SVC_PG_BACKOFF_MIN  50      /* ms */
#define NGX_SVC_PG_BACKOFF_MAX  500


static void ngx_svc_pg_conn_notice(void *arg, const char *message);
static void ngx_svc_pg_conn_attach(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_detach(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_event(ngx_event_t *ev);
static void ngx_svc_pg_conn_timer(ngx_event_t *ev);
static void ngx_svc_pg_conn_silent(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_close_event(ngx_event_t *ev);
static void ngx_svc_pg_conn_say_lost(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_empty(ngx_svc_pg_conn_t *conn, ngx_queue_t *ops);
static void ngx_svc_pg_conn_poll(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_setup(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_prepared(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_ready(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_gone(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_lost(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_failed(ngx_svc_pg_conn_t *conn,
    ngx_svc_pg_trouble_e trouble, const char *message);
static void ngx_svc_pg_conn_read(ngx_svc_pg_conn_t *conn);


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

    conn->flush.handler = ngx_svc_pg_pipeline_flush_event;
    conn->flush.data = conn;
    conn->flush.log = pool->log;

    ngx_svc_pg_conn_count(conn);
}


void
ngx_svc_pg_conn_start(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_conf_t  *conf;

    conf = conn->pool->conf;

    ngx_svc_pg_conn_state(conn, NGX_SVC_PG_CONNECTING);
    conn->nsetup = 0;

    conn->first = conn->pool->first;

    conn->pg = PQconnectStartParams(conf->keywords, conf->values[conn->first],
                                    1);

    if (conn->pg == NULL) {
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN, "out of memory");
        return;
    }

    if (PQstatus(conn->pg) == CONNECTION_BAD) {
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN,
                               PQerrorMessage(conn->pg));
        return;
    }

    (void) PQsetNoticeProcessor(conn->pg, ngx_svc_pg_conn_notice, NULL);

    /* with the SQLSTATE, until it is connected */

    (void) PQsetErrorVerbosity(conn->pg, PQERRORS_VERBOSE);

    ngx_add_timer(&conn->timer, conf->connect_timeout);

    /* libpq: behave as if PQconnectPoll() had said PGRES_POLLING_WRITING */

    ngx_svc_pg_conn_attach(conn);

    if (conn->connection == NULL
        || ngx_add_event(conn->connection->write, NGX_WRITE_EVENT, 0)
           != NGX_OK)
    {
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN, "no free connections in "
                               "nginx: raise worker_connections");
    }
}


/*
 * What the server says without being asked, as when it shuts down: libpq would
 * write it to the standard error, once for each connection and without a time.
 */

static void
ngx_svc_pg_conn_notice(void *arg, const char *message)
{
    ngx_str_t  text;

    text = ngx_svc_pg_trouble_text(NGX_SVC_PG_UP, message);
    ngx_svc_pg_log(NGX_LOG_WARN, "the server says", &text);
}


static void
ngx_svc_pg_conn_attach(ngx_svc_pg_conn_t *conn)
{
    conn->connection = ngx_svc_socket_borrow(PQsocket(conn->pg), conn,
                                             ngx_svc_pg_conn_event,
                                             conn->pool->log);
}


static void
ngx_svc_pg_conn_detach(ngx_svc_pg_conn_t *conn)
{
    if (conn->connection) {

        /* libpq closes the socket of a connection that it finds lost */

        ngx_svc_socket_return(conn->connection,
                              PQsocket(conn->pg) != conn->connection->fd);
        conn->connection = NULL;
    }
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
        if (!ev->write) {
            ngx_svc_pg_conn_read(conn);

        } else if (ngx_svc_pg_pipeline_flush(conn) != NGX_OK) {
            ngx_svc_pg_conn_gone(conn);
        }

        return;

    default: /* NGX_SVC_PG_BROKEN, about to be closed */
        return;
    }
}


static void
ngx_svc_pg_conn_read(ngx_svc_pg_conn_t *conn)
{
    ngx_int_t  rc;

    if (conn->state == NGX_SVC_PG_PREPARING) {
        ngx_svc_pg_conn_prepared(conn);
        return;
    }

    rc = ngx_svc_pg_pipeline_read(conn);

    if (rc == NGX_OK) {
        ngx_svc_pg_queue_dispatch(conn->pool);

    } else if (rc == NGX_ERROR) {
        ngx_svc_pg_conn_gone(conn);
    }
}


static void
ngx_svc_pg_conn_prepared(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_setup_t  setup;

    switch (ngx_svc_pg_setup_read(conn, &setup)) {

    case NGX_OK:
        ngx_svc_pg_conn_ready(conn);
        return;

    case NGX_DECLINED:
        ngx_svc_pg_conn_failed(conn, setup.trouble, setup.message);
        PQclear(setup.result);
        return;

    case NGX_ERROR:
        ngx_svc_pg_conn_gone(conn);
        return;

    default: /* NGX_AGAIN */
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
        ngx_svc_pg_conn_silent(conn);
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN, "timed out; see "
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

    ngx_svc_pg_conn_lost(conn);
}


/*
 * libpq goes on to the next address when one refuses, but waits for one that
 * is silent: the next attempt begins behind it.
 */

static void
ngx_svc_pg_conn_silent(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_pool_t  *pool;

    pool = conn->pool;

    if (pool->first == conn->first) {
        pool->first = (pool->first + 1) % pool->conf->naddrs;
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

    if (conn->flush.posted) {
        ngx_delete_posted_event(&conn->flush);
    }

    for (q = ngx_queue_head(&conn->inflight);
         q != ngx_queue_sentinel(&conn->inflight);
         q = ngx_queue_next(q))
    {
        ngx_svc_pg_pipeline_clear(ngx_queue_data(q, ngx_svc_pg_slot_t, queue));
    }

    ngx_svc_pg_conn_detach(conn);

    if (conn->pg) {
        PQfinish(conn->pg);
        conn->pg = NULL;
    }
}


/* Closes, and comes back after a growing pause. */

static void
ngx_svc_pg_conn_failed(ngx_svc_pg_conn_t *conn, ngx_svc_pg_trouble_e trouble,
    const char *message)
{
    ngx_str_t           text;
    ngx_msec_t          pause;

    if (message) {
        text = ngx_svc_pg_trouble_text(trouble, message);
        ngx_svc_pg_log(NGX_LOG_ERR, conn->state == NGX_SVC_PG_PREPARING
                                    ? "preparing failed" : "connecting failed",
                       &text);
        conn->pool->down = 1;
    }

    conn->pool->trouble = trouble;

    ngx_svc_pg_conn_destroy(conn);

    ngx_svc_pg_conn_state(conn, NGX_SVC_PG_CLOSED);

    pause = NGX_SVC_PG_BACKOFF_MIN << ngx_min(conn->failures, 4);
    pause = ngx_min(pause, NGX_SVC_PG_BACKOFF_MAX);
    pause = pause / 2 + (ngx_msec_t) ngx_random() % (pause / 2);

    conn->failures++;

    conn->timer.cancelable = 1;
    ngx_add_timer(&conn->timer, pause);
}


static void
ngx_svc_pg_conn_gone(ngx_svc_pg_conn_t *conn)
{
    if (conn->state == NGX_SVC_PG_READY) {
        ngx_svc_pg_conn_lost(conn);

    } else {
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN,
                               PQerrorMessage(conn->pg));
    }
}


static void
ngx_svc_pg_conn_lost(ngx_svc_pg_conn_t *conn)
{
    ngx_queue_t         ops, *q;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_slot_t  *slot;
    ngx_svc_pg_pool_t  *pool;

    pool = conn->pool;

    ngx_svc_pg_conn_say_lost(conn);

    pool->nready--;

    /*
     * Handlers may send new ops and finalize requests: the connection is
     * closed and empty before the first of them is called.
     */

    ngx_svc_pg_conn_empty(conn, &ops);

    if (ngx_current_msec - conn->since > NGX_SVC_PG_BACKOFF_MAX) {
        conn->failures = 0;
    }

    ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN, NULL);

    /* the last one first, since each read goes to the head of the queue */

    while (!ngx_queue_empty(&ops)) {
        q = ngx_queue_last(&ops);
        slot = ngx_queue_data(q, ngx_svc_pg_slot_t, queue);
        op = slot->op;

        ngx_queue_remove(q);
        slot->op = NULL;
        ngx_queue_insert_tail(&conn->free, q);

        if (slot->committed) {
            slot->committed(NULL);
        }

        if (op) {
            ngx_svc_pg_queue_lost(pool, op);
        }
    }

    ngx_svc_pg_queue_dispatch(pool);
}


static void
ngx_svc_pg_conn_say_lost(ngx_svc_pg_conn_t *conn)
{
    ngx_str_t  text;

    text = ngx_svc_pg_message(PQerrorMessage(conn->pg));

    if (text.len == 0 && conn->state == NGX_SVC_PG_READY) {
        ngx_str_set(&text, "it owes answers and is silent");
    }

    /* there is no text of one that we broke: what was wrong has been said */

    if (text.len) {
        ngx_svc_pg_log(conn->ninflight ? NGX_LOG_ERR : NGX_LOG_WARN,
                       "connection lost", &text);
    }
}


/*
 * Its ops go to a queue of their own.  One that is cancelled meanwhile must be
 * able to leave it, so they stay in their slots.
 */

static void
ngx_svc_pg_conn_empty(ngx_svc_pg_conn_t *conn, ngx_queue_t *ops)
{
    ngx_queue_t  *q;

    ngx_queue_init(ops);

    if (!ngx_queue_empty(&conn->inflight)) {
        ngx_queue_add(ops, &conn->inflight);
        ngx_queue_init(&conn->inflight);
    }

    for (q = ngx_queue_head(ops);
         q != ngx_queue_sentinel(ops);
         q = ngx_queue_next(q))
    {
        ngx_svc_pg_pipeline_clear(ngx_queue_data(q, ngx_svc_pg_slot_t, queue));
    }

    ngx_svc_gauge_add(ngx_svc_gauge_pg(conn->pool->kind,
                                       NGX_SVC_G_PG_IN_FLIGHT),
                      -(ngx_int_t) conn->ninflight);
    conn->ninflight = 0;
    conn->pool->idle(conn);
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
        ngx_svc_pg_conn_failed(conn, ngx_svc_pg_trouble_connecting(conn->pg),
                               PQerrorMessage(conn->pg));
        return;
    }

    ngx_svc_pg_conn_attach(conn);

    if (conn->connection == NULL) {
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN, "no free connections in "
                               "nginx: raise worker_connections");
        return;
    }

    if (status == PGRES_POLLING_WRITING) {
        rc = ngx_add_event(conn->connection->write, NGX_WRITE_EVENT, 0);

    } else {
        rc = ngx_add_event(conn->connection->read, NGX_READ_EVENT, 0);
    }

    if (rc != NGX_OK) {
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN,
                               "ngx_add_event() failed");
        return;
    }

    if (status == PGRES_POLLING_OK) {
        ngx_svc_pg_conn_setup(conn);
    }
}


static void
ngx_svc_pg_conn_setup(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_conn_state(conn, NGX_SVC_PG_PREPARING);

    (void) PQsetErrorVerbosity(conn->pg, PQERRORS_DEFAULT);

    if (PQsetnonblocking(conn->pg, 1) != 0
        || PQenterPipelineMode(conn->pg) != 1
        || ngx_svc_pg_setup_send(conn) != NGX_OK
        || PQpipelineSync(conn->pg) != 1
        || ngx_svc_pg_pipeline_flush(conn) != NGX_OK)
    {
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN,
                               PQerrorMessage(conn->pg));
    }
}


static void
ngx_svc_pg_conn_ready(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_pool_t  *pool;

    pool = conn->pool;

    ngx_del_timer(&conn->timer);

    ngx_svc_pg_conn_state(conn, NGX_SVC_PG_READY);
    conn->since = ngx_current_msec;
    pool->nready++;
    pool->trouble = NGX_SVC_PG_UP;

    if (pool->down) {
        pool->down = 0;
        ngx_svc_pg_log_reset();
        ngx_log_error(NGX_LOG_NOTICE, pool->log, 0, "PostgreSQL is back");
    }

    ngx_svc_pg_queue_dispatch(pool);
}
