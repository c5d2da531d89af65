/*
 * A PostgreSQL connection: it is made and set up, carries ops, is lost, and is
 * made again.
 */

#include "ngx_svc_pg_conn.h"
#include "ngx_svc_pg_close.h"
#include "ngx_svc_pg_pipeline.h"
#include "ngx_svc_pg_queue.h"
#include "ngx_svc_pg_setup.h"
#include "ngx_svc_pg_state.h"
#include "ngx_svc_socket.h"


static void ngx_svc_pg_conn_notice(void *arg, const char *message);
static void ngx_svc_pg_conn_attach(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_event(ngx_event_t *ev);
static void ngx_svc_pg_conn_timer(ngx_event_t *ev);
static void ngx_svc_pg_conn_late(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_next(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_ending(ngx_svc_pg_conn_t *conn, ngx_event_t *ev);
static void ngx_svc_pg_conn_poll(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_setup(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_setup_read(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_ready(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_another(ngx_svc_pg_pool_t *pool);
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
    conn->held = 0;
    conn->retired = 0;
    conn->backend.pid = 0;
    ngx_memzero(conn->prepared, sizeof(ngx_svc_pg_prepared_t));
    ngx_memzero(&conn->timeline, sizeof(ngx_svc_pg_timeline_t));

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

    /* messages have the SQLSTATE until the connection is made */

    (void) PQsetErrorVerbosity(conn->pg, PQERRORS_VERBOSE);

    ngx_add_timer(&conn->timer, conf->connect_timeout);

    /* as libpq's manual says: begin as after PGRES_POLLING_WRITING */

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
 * Logs a notice of the server, such as that it shuts down.  libpq would write
 * it to the standard error, once for each connection and without a time.
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

    case NGX_SVC_PG_SETTING_UP:
    case NGX_SVC_PG_READY:
        if (!ev->write) {
            ngx_svc_pg_conn_read(conn);

        } else if (ngx_svc_pg_pipeline_flush(conn) != NGX_OK) {
            ngx_svc_pg_conn_gone(conn);
        }

        return;

    case NGX_SVC_PG_ENDING:
        ngx_svc_pg_conn_ending(conn, ev);
        return;

    default: /* NGX_SVC_PG_BROKEN, about to be closed */
        return;
    }
}


/* Ignores what the server still sends; waits until it closes the socket. */

static void
ngx_svc_pg_conn_ending(ngx_svc_pg_conn_t *conn, ngx_event_t *ev)
{
    if (ev->write) {
        (void) ngx_del_event(ev, NGX_WRITE_EVENT, 0);

    } else if (PQconsumeInput(conn->pg) != 1) {
        ngx_svc_pg_conn_ended(conn);
    }
}


static void
ngx_svc_pg_conn_read(ngx_svc_pg_conn_t *conn)
{
    ngx_int_t  rc;

    if (conn->state == NGX_SVC_PG_SETTING_UP) {
        ngx_svc_pg_conn_setup_read(conn);
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
ngx_svc_pg_conn_setup_read(ngx_svc_pg_conn_t *conn)
{
    ngx_uint_t          n;
    ngx_svc_pg_setup_t  setup;

    n = conn->nsetup;

    if (conn->held) {
        if (PQconsumeInput(conn->pg) != 1) {
            ngx_svc_pg_conn_gone(conn);
        }

        return;
    }

    switch (ngx_svc_pg_setup_read(conn, &setup)) {

    case NGX_OK:
        conn->held = 1;
        ngx_svc_pg_conn_release(conn);
        return;

    case NGX_DECLINED:
        ngx_svc_pg_conn_failed(conn, setup.trouble, setup.message);
        PQclear(setup.result);
        return;

    case NGX_ERROR:
        ngx_svc_pg_conn_gone(conn);
        return;

    default: /* NGX_AGAIN */

        /* many new connections at once are slow: an answer is no silence */

        if (conn->nsetup != n) {
            ngx_add_timer(&conn->timer, conn->pool->conf->connect_timeout);
        }

        return;
    }
}


void
ngx_svc_pg_conn_release(ngx_svc_pg_conn_t *conn)
{
    u_char    text[NGX_SVC_PG_FENCE_TEXT];
    uint32_t  above;

    if (!conn->held || ngx_svc_pg_fence_waits(&conn->timeline)) {
        return;
    }

    conn->held = 0;
    above = ngx_svc_pg_fence_above(&conn->timeline);

    if (above == 0) {
        ngx_svc_pg_conn_ready(conn);
        return;
    }

    ngx_svc_pg_conn_next(conn);
    ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_STALE_PRIMARY,
                           ngx_svc_pg_fence_text(&conn->timeline, above,
                                                 text));
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
    case NGX_SVC_PG_SETTING_UP:
        ngx_svc_pg_conn_late(conn);
        return;

    case NGX_SVC_PG_ENDING:
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN, NULL);
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

    ngx_svc_pg_conn_lost(conn, conn->state == NGX_SVC_PG_READY);
}


/*
 * If no connection of the pool was ever ready, its trouble stays as it is: ops
 * still wait for the first connection.
 */

static void
ngx_svc_pg_conn_late(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_pool_t     *pool;
    ngx_svc_pg_trouble_e   trouble;

    pool = conn->pool;
    trouble = pool->started ? NGX_SVC_PG_DOWN : pool->trouble;

    ngx_svc_pg_conn_next(conn);
    ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN, "timed out; see "
                           "\"svc_postgres_connect_timeout\"");

    pool->trouble = trouble;
}


/*
 * libpq goes on to the next address when one refuses.  It waits for an address
 * that is silent, and takes a former primary: after either, the next try begins
 * with the next address.
 */

static void
ngx_svc_pg_conn_next(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_pool_t  *pool;

    pool = conn->pool;

    if (pool->first == conn->first) {
        pool->first = (pool->first + 1) % pool->conf->naddrs;
    }
}


/*
 * PQconnectPoll() may close the socket and open another one, for the next
 * address, so the socket is taken out of nginx's event loop before each call.
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
    ngx_svc_pg_conn_state(conn, NGX_SVC_PG_SETTING_UP);

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
    conn->progress = ngx_current_msec;
    conn->left.pid = 0;
    pool->started = 1;
    pool->nready++;
    pool->trouble = NGX_SVC_PG_UP;

    if (pool->down) {
        pool->down = 0;
        ngx_svc_pg_log_reset();
        ngx_log_error(NGX_LOG_NOTICE, pool->log, 0, "PostgreSQL is back");
    }

    ngx_svc_pg_conn_another(pool);

    ngx_svc_pg_queue_dispatch(pool);
}


/*
 * Begins a connection that was never begun.  A new worker makes its connections
 * one after the other, so that each worker of each node soon has its first one.
 */

static void
ngx_svc_pg_conn_another(ngx_svc_pg_pool_t *pool)
{
    ngx_uint_t          i;
    ngx_svc_pg_conn_t  *conn;

    for (i = 0; i < pool->nconns; i++) {
        conn = &pool->conns[i];

        if (conn->state == NGX_SVC_PG_CLOSED && conn->failures == 0) {
            ngx_del_timer(&conn->timer);
            ngx_svc_pg_conn_start(conn);
            return;
        }
    }
}
