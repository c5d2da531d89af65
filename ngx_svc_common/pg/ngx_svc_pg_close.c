/*
 * The end of a PostgreSQL connection, after which it is begun anew.
 */

#include "ngx_svc_metrics.h"
#include "ngx_svc_pg_close.h"
#include "ngx_svc_pg_pipeline.h"
#include "ngx_svc_pg_queue.h"
#include "ngx_svc_pg_state.h"
#include "ngx_svc_socket.h"


#define NGX_SVC_PG_BACKOFF_MIN  50      /* ms */
#define NGX_SVC_PG_BACKOFF_MAX  500
#define NGX_SVC_PG_END          1000    /* ms, for a backend to end */


static void ngx_svc_pg_conn_say_lost(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_empty(ngx_svc_pg_conn_t *conn, ngx_queue_t *ops);
static void ngx_svc_pg_conn_silent(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_conn_forget(ngx_svc_pg_conn_t *conn);


void
ngx_svc_pg_conn_detach(ngx_svc_pg_conn_t *conn)
{
    if (conn->connection) {

        /* libpq closes the socket of a connection that it finds lost */

        ngx_svc_socket_return(conn->connection,
                              PQsocket(conn->pg) != conn->connection->fd);
        conn->connection = NULL;
    }
}


void
ngx_svc_pg_conn_gone(ngx_svc_pg_conn_t *conn)
{
    if (conn->state == NGX_SVC_PG_READY) {
        ngx_svc_pg_conn_lost(conn, 0);

    } else {
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN,
                               PQerrorMessage(conn->pg));
    }
}


/* The pause before it is begun anew grows with each failure. */

void
ngx_svc_pg_conn_failed(ngx_svc_pg_conn_t *conn, ngx_svc_pg_trouble_e trouble,
    const char *message)
{
    ngx_str_t           text;
    ngx_msec_t          pause;

    if (message) {
        text = ngx_svc_pg_trouble_text(trouble, message);
        ngx_svc_pg_log(NGX_LOG_ERR, conn->state == NGX_SVC_PG_SETTING_UP
                                    ? "setup failed" : "connecting failed",
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


void
ngx_svc_pg_conn_close_event(ngx_event_t *ev)
{
    ngx_svc_pg_conn_lost(ev->data, 0);
}


void
ngx_svc_pg_conn_destroy(ngx_svc_pg_conn_t *conn)
{
    ngx_queue_t  *q;

    conn->held = 0;

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

    ngx_svc_pg_conn_forget(conn);
    ngx_svc_pg_conn_detach(conn);

    if (conn->pg) {
        PQfinish(conn->pg);
        conn->pg = NULL;
    }
}


/*
 * Cancels our own ops; the next connection ends the backend that is left
 * behind.
 */

static void
ngx_svc_pg_conn_forget(ngx_svc_pg_conn_t *conn)
{
    if (conn->look) {
        ngx_svc_pg_queue_cancel(conn->look);
        ngx_destroy_pool(conn->look->pool);
        conn->look = NULL;
    }

    if (conn->end) {
        ngx_svc_pg_queue_cancel(conn->end);
        ngx_destroy_pool(conn->end->pool);
        conn->end = NULL;
    }

    if (conn->state == NGX_SVC_PG_ENDING && conn->backend.pid) {
        conn->left = conn->backend;
    }
}


/*
 * The backend may wait for something that PostgreSQL sets no limit to, such as
 * a standby.  Closing the socket would not end it, and the next connection
 * would be one more backend.
 */

static void
ngx_svc_pg_conn_silent(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_conn_state(conn, NGX_SVC_PG_ENDING);

    if (conn->backend.pid && conn->pool->end
        && conn->pool->end(conn) == NGX_OK)
    {
        conn->timer.cancelable = 0;
        ngx_add_timer(&conn->timer, NGX_SVC_PG_END);
        return;
    }

    ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN, NULL);
}


void
ngx_svc_pg_conn_ended(ngx_svc_pg_conn_t *conn)
{
    conn->backend.pid = 0;
    ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN, NULL);
}


void
ngx_svc_pg_conn_lost(ngx_svc_pg_conn_t *conn, ngx_uint_t silent)
{
    ngx_queue_t         ops, *q;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_slot_t  *slot;
    ngx_svc_pg_pool_t  *pool;

    pool = conn->pool;

    ngx_svc_pg_conn_say_lost(conn);

    pool->nready--;

    /*
     * Handlers may send new ops and finalize requests, so the connection is
     * closed, and has no ops, before the first of them is called.
     */

    ngx_svc_pg_conn_empty(conn, &ops);

    if (ngx_current_msec - conn->since > NGX_SVC_PG_BACKOFF_MAX) {
        conn->failures = 0;
    }

    if (silent) {
        ngx_svc_pg_conn_silent(conn);

    } else {
        ngx_svc_pg_conn_failed(conn, NGX_SVC_PG_DOWN, NULL);
    }

    /* begin with the last one: each read goes to the head of the queue */

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

    /* a connection that we broke has no text: the reason has been logged */

    if (text.len) {
        ngx_svc_pg_log(conn->ninflight ? NGX_LOG_ERR : NGX_LOG_WARN,
                       "connection lost", &text);
    }
}


/*
 * Moves the ops in flight to a queue of their own.  They stay in their slots,
 * so that one that is cancelled meanwhile can still leave its slot.
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
