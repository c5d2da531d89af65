/*
 * Ops that wait for a slot on a connection, and the turns of tenants.
 *
 * The read pool sends ops in the order in which they come.  In the write and
 * the slow pool a statement may take seconds, for a lock or for much to read:
 * there tenants take turns, and a connection carries the ops of one tenant at a
 * time, so that no op waits for the statement of another tenant.  A tenant may
 * have half of the connections; in the write pool, while no other tenant waits,
 * all but one, which is left for the tenant that comes next.
 *
 * An op is sent on a connection that its tenant has already only while no other
 * tenant is owed a connection: such connections are to become idle.
 */

#include "ngx_svc_metrics.h"
#include "ngx_svc_pg_queue.h"
#include "ngx_svc_pg_backlog.h"
#include "ngx_svc_pg_pipeline.h"


#define NGX_SVC_PG_QUEUE_FULL  256      /* bytes of a log message */


static void ngx_svc_pg_queue_idle(ngx_svc_pg_conn_t *conn);
static ngx_uint_t ngx_svc_pg_queue_pass(ngx_svc_pg_pool_t *pool,
    ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_pg_queue_enter(ngx_svc_pg_pool_t *pool,
    ngx_svc_pg_op_t *op, ngx_uint_t first);
static ngx_uint_t ngx_svc_pg_queue_over(ngx_svc_pg_backlog_t *backlog);
static void ngx_svc_pg_queue_timer(ngx_svc_pg_op_t *op);
static ngx_msec_t ngx_svc_pg_queue_time(ngx_svc_pg_pool_t *pool);
static void ngx_svc_pg_queue_timeout(ngx_event_t *ev);
static void ngx_svc_pg_queue_full(ngx_svc_pg_backlog_t *backlog);
static void ngx_svc_pg_queue_deepen(ngx_svc_pg_backlog_t *backlog);
static void ngx_svc_pg_queue_send(ngx_svc_pg_backlog_t *backlog,
    ngx_svc_pg_conn_t *conn);
static ngx_svc_pg_conn_t *ngx_svc_pg_queue_pick(ngx_svc_pg_pool_t *pool,
    ngx_svc_pg_backlog_t *backlog);


void
ngx_svc_pg_queue_init(ngx_svc_pg_pool_t *pool, ngx_pool_t *memory)
{
    ngx_uint_t  i;

    pool->memory = memory;
    pool->idle = ngx_svc_pg_queue_idle;

    ngx_queue_init(&pool->turns);
    ngx_queue_init(&pool->free_backlogs);
    ngx_svc_pg_backlog_init(pool, &pool->own);

    for (i = 0; i < NGX_SVC_PG_BUCKETS; i++) {
        ngx_queue_init(&pool->buckets[i]);
    }
}


ngx_int_t
ngx_svc_pg_queue_submit(ngx_svc_pg_pool_t *pool, ngx_svc_pg_op_t *op)
{
    if (pool->kind == NGX_SVC_PG_READ && ngx_svc_pg_queue_pass(pool, op)) {
        return NGX_OK;
    }

    if (pool->nconns == 0) {
        return NGX_BUSY;
    }

    if (ngx_svc_pg_queue_enter(pool, op, 0) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_queue_dispatch(pool);

    if (!op->waiting) {
        return NGX_OK;
    }

    if (ngx_svc_pg_queue_over(op->backlog)) {
        ngx_svc_pg_queue_full(op->backlog);
        ngx_svc_pg_queue_leave(op);
        return NGX_BUSY;
    }

    ngx_svc_pg_queue_timer(op);

    return NGX_OK;
}


/* Sends a read at once, unless other reads wait already; returns 1 if sent. */

static ngx_uint_t
ngx_svc_pg_queue_pass(ngx_svc_pg_pool_t *pool, ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_conn_t  *conn;

    while (pool->nwaiting == 0) {
        conn = ngx_svc_pg_queue_pick(pool, NULL);
        if (conn == NULL) {
            return 0;
        }

        if (ngx_svc_pg_pipeline_send(conn, op) == NGX_OK) {
            return 1;
        }
    }

    return 0;
}


/* first: the op goes before the others of its backlog. */

static ngx_int_t
ngx_svc_pg_queue_enter(ngx_svc_pg_pool_t *pool, ngx_svc_pg_op_t *op,
    ngx_uint_t first)
{
    ngx_svc_pg_backlog_t  *backlog;

    backlog = ngx_svc_pg_backlog_get(pool, op->tenant);
    if (backlog == NULL) {
        return NGX_ERROR;
    }

    if (first) {
        ngx_queue_insert_head(&backlog->waiting, &op->queue);

    } else {
        ngx_queue_insert_tail(&backlog->waiting, &op->queue);
    }

    if (backlog->nwaiting++ == 0) {
        ngx_queue_insert_tail(&pool->turns, &backlog->turn);
    }

    pool->nwaiting++;
    ngx_svc_gauge_add(ngx_svc_gauge_pg(pool->kind, NGX_SVC_G_PG_WAITING), 1);

    op->backlog = backlog;
    op->waiting = 1;
    ngx_memzero(&op->timer, sizeof(ngx_event_t));

    return NGX_OK;
}


void
ngx_svc_pg_queue_leave(ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_backlog_t  *backlog;
    ngx_svc_pg_pool_t     *pool;

    backlog = op->backlog;
    pool = backlog->pool;

    ngx_queue_remove(&op->queue);

    if (op->timer.timer_set) {
        ngx_del_timer(&op->timer);
    }

    op->waiting = 0;
    op->backlog = NULL;

    pool->nwaiting--;
    ngx_svc_gauge_add(ngx_svc_gauge_pg(pool->kind, NGX_SVC_G_PG_WAITING), -1);

    if (--backlog->nwaiting == 0) {
        ngx_queue_remove(&backlog->turn);
        ngx_svc_pg_backlog_unused(backlog);
    }
}


void
ngx_svc_pg_queue_cancel(ngx_svc_pg_op_t *op)
{
    if (op->waiting) {
        ngx_svc_pg_queue_leave(op);

    } else if (op->slot) {
        op->slot->op = NULL;
        op->slot = NULL;
    }
}


/*
 * Returns 1 if the backlog is too long.  A tenant may have as many ops waiting
 * as there are places left in the queue: a tenant that waits alone takes half
 * of them, and the rest is left for the next.
 */

static ngx_uint_t
ngx_svc_pg_queue_over(ngx_svc_pg_backlog_t *backlog)
{
    ngx_uint_t          queue;
    ngx_svc_pg_pool_t  *pool;

    pool = backlog->pool;
    queue = pool->conf->queue;

    if (backlog == &pool->own) {
        return pool->nwaiting > queue;
    }

    return pool->nwaiting - 1 + backlog->nwaiting > queue;
}


static void
ngx_svc_pg_queue_timer(ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_pool_t  *pool;

    pool = op->backlog->pool;

    op->timer.handler = ngx_svc_pg_queue_timeout;
    op->timer.data = op;
    op->timer.log = pool->log;

    ngx_add_timer(&op->timer, ngx_svc_pg_queue_time(pool));
}


static ngx_msec_t
ngx_svc_pg_queue_time(ngx_svc_pg_pool_t *pool)
{
    ngx_msec_t          time;
    ngx_svc_pg_conf_t  *conf;

    conf = pool->conf;
    time = conf->queue_timeout;

    /* an op of slow work may have to wait for another one */

    if (pool->kind == NGX_SVC_PG_SLOW) {
        time = ngx_max(time, conf->timeout);
    }

    /*
     * A worker that has just started, as after a reload, takes requests before
     * it has connections: nothing is wrong as long as these may still come.  If
     * PostgreSQL has no connections left, the old worker may have them.
     */

    if (pool->nready == 0
        && (pool->trouble == NGX_SVC_PG_UP
            || (pool->trouble == NGX_SVC_PG_FULL && !pool->started)))
    {
        time = ngx_max(time, ngx_max(conf->connect_timeout, conf->timeout));
    }

    return time;
}


static void
ngx_svc_pg_queue_timeout(ngx_event_t *ev)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_pool_t  *pool;

    op = ev->data;
    pool = op->backlog->pool;

    ngx_svc_pg_queue_full(op->backlog);
    ngx_svc_pg_queue_leave(op);

    op->status = pool->nready ? NGX_SVC_PG_BUSY : NGX_SVC_PG_UNAVAILABLE;
    op->handler(op);
}


/*
 * Logs once a minute that the queue is full, with the tenant that was refused
 * first.  Without connections other messages say what is wrong.
 */

static void
ngx_svc_pg_queue_full(ngx_svc_pg_backlog_t *backlog)
{
    u_char             *p, *last, what[NGX_SVC_PG_QUEUE_FULL];
    ngx_str_t           text;
    ngx_svc_pg_pool_t  *pool;

    static const ngx_str_t  names[] = {
        ngx_string("read"), ngx_string("write"), ngx_string("slow")
    };

    pool = backlog->pool;

    if (pool->nready == 0) {
        return;
    }

    last = what + sizeof(what);
    p = ngx_slprintf(what, last, "requests get 503, since too many ");

    if (backlog != &pool->own) {
        p = ngx_slprintf(p, last, "of tenant ");
        p = ngx_svc_uuid_text(p, backlog->tenant);
        *p++ = ' ';
    }

    (void) ngx_slprintf(p, last, "wait for a connection of the pool (see "
                        "\"svc_postgres_pool\" and \"svc_postgres_queue\")%Z");

    text = names[pool->kind];
    ngx_svc_pg_log(NGX_LOG_WARN, (char *) what, &text);
}


void
ngx_svc_pg_queue_lost(ngx_svc_pg_pool_t *pool, ngx_svc_pg_op_t *op)
{
    op->slot = NULL;

    /*
     * A read is sent again, once, and before ops that came later.  Whether a
     * write has been committed is not known.
     */

    if (pool->kind != NGX_SVC_PG_WRITE && !op->retried
        && ngx_svc_pg_queue_enter(pool, op, 1) == NGX_OK)
    {
        op->retried = 1;
        ngx_svc_pg_queue_timer(op);
        return;
    }

    op->status = NGX_SVC_PG_LOST;
    op->handler(op);
}


static void
ngx_svc_pg_queue_idle(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_backlog_t  *backlog;

    backlog = conn->backlog;

    if (backlog) {
        conn->backlog = NULL;
        backlog->nconns--;
        ngx_svc_pg_backlog_unused(backlog);
    }
}


void
ngx_svc_pg_queue_dispatch(ngx_svc_pg_pool_t *pool)
{
    ngx_queue_t           *q, *next;
    ngx_svc_pg_conn_t     *conn;
    ngx_svc_pg_backlog_t  *backlog;

    if (pool->kind == NGX_SVC_PG_READ) {
        ngx_svc_pg_queue_deepen(&pool->own);
        return;
    }

    while ((backlog = ngx_svc_pg_backlog_owed(pool, NULL)) != NULL) {
        conn = ngx_svc_pg_queue_pick(pool, NULL);

        if (conn == NULL) {

            if (ngx_svc_pg_backlog_owed(pool, backlog) == NULL) {
                ngx_svc_pg_queue_deepen(backlog);
            }

            return;
        }

        ngx_svc_pg_queue_send(backlog, conn);
    }

    for (q = ngx_queue_head(&pool->turns);
         q != ngx_queue_sentinel(&pool->turns);
         q = next)
    {
        next = ngx_queue_next(q);
        ngx_svc_pg_queue_deepen(ngx_queue_data(q, ngx_svc_pg_backlog_t, turn));
    }
}


/* Sends ops of the backlog on connections that it has already. */

static void
ngx_svc_pg_queue_deepen(ngx_svc_pg_backlog_t *backlog)
{
    ngx_svc_pg_conn_t  *conn;

    while (backlog->nwaiting) {
        conn = ngx_svc_pg_queue_pick(backlog->pool, backlog);
        if (conn == NULL) {
            return;
        }

        ngx_svc_pg_queue_send(backlog, conn);
    }
}


/*
 * Sends the first op of the backlog.  When that fails the connection is BROKEN,
 * and is not picked again.
 */

static void
ngx_svc_pg_queue_send(ngx_svc_pg_backlog_t *backlog, ngx_svc_pg_conn_t *conn)
{
    ngx_queue_t        *q;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_pool_t  *pool;

    pool = backlog->pool;

    q = ngx_queue_head(&backlog->waiting);
    op = ngx_queue_data(q, ngx_svc_pg_op_t, queue);

    if (pool->kind != NGX_SVC_PG_READ && conn->backlog == NULL) {
        conn->backlog = backlog;
        backlog->nconns++;
    }

    if (ngx_svc_pg_pipeline_send(conn, op) != NGX_OK) {
        return;
    }

    /* its next turn comes after those of the others */

    ngx_queue_remove(&backlog->turn);
    ngx_queue_insert_tail(&pool->turns, &backlog->turn);

    ngx_svc_pg_queue_leave(op);
}


/*
 * Returns the connection with the fewest ops in flight.  In the read pool it is
 * any one with a free slot; in the other pools one that the backlog has, or an
 * idle one when backlog is NULL.
 */

static ngx_svc_pg_conn_t *
ngx_svc_pg_queue_pick(ngx_svc_pg_pool_t *pool, ngx_svc_pg_backlog_t *backlog)
{
    ngx_uint_t          i, least;
    ngx_svc_pg_conn_t  *conn, *best;

    if (pool->kind == NGX_SVC_PG_READ) {
        backlog = NULL;
    }

    best = NULL;
    least = pool->depth;

    for (i = 0; i < pool->nconns; i++) {
        conn = &pool->conns[i];

        if (conn->state == NGX_SVC_PG_READY && !conn->retired
            && conn->ninflight < least && conn->backlog == backlog)
        {
            best = conn;
            least = conn->ninflight;
        }
    }

    return best;
}
