/*
 * Looks after the connections of a process.  Connections to a former primary
 * are given up.  Once a second one of the idle connections to a server is asked
 * for its timeline; this also finds a server that is gone without closing its
 * connections.  No request waits for this.
 *
 * The one that is asked stands for the other connections to its server that
 * were last on the same timeline; they take turns.  When it has not answered
 * until the next time, all of them are asked.
 */

#include "ngx_svc_pg_watch.h"
#include "ngx_svc_pg_conn.h"
#include "ngx_svc_pg_end.h"
#include "ngx_svc_pg_pipeline.h"
#include "ngx_svc_pg_probe.h"
#include "ngx_svc_pg_state.h"


#define NGX_SVC_PG_WATCH_TICK  200      /* ms between looks at the fence in
                                           shared memory */


static void ngx_svc_pg_watch_timer(ngx_event_t *ev);
static void ngx_svc_pg_watch_each(void (*handler)(ngx_svc_pg_conn_t *conn));
static void ngx_svc_pg_watch_idle(void);
static ngx_svc_pg_conn_t *ngx_svc_pg_watch_conn(ngx_uint_t n);
static ngx_uint_t ngx_svc_pg_watch_asked(ngx_svc_pg_conn_t *conn);
static ngx_uint_t ngx_svc_pg_watch_same(const ngx_svc_pg_conn_t *one,
    const ngx_svc_pg_conn_t *two);
static void ngx_svc_pg_watch_timeline(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_watch_stale(ngx_svc_pg_conn_t *conn, uint32_t above);
static void ngx_svc_pg_watch_look(ngx_svc_pg_conn_t *conn);
static void ngx_svc_pg_watch_looked(ngx_svc_pg_op_t *op);


static ngx_event_t  ngx_svc_pg_watch_event;
static ngx_msec_t   ngx_svc_pg_watch_last;      /* when idle connections were
                                                   last looked at */
static ngx_uint_t   ngx_svc_pg_watch_first;     /* the first of them */


ngx_int_t
ngx_svc_pg_watch_init(ngx_cycle_t *cycle, ngx_svc_pg_conf_t *conf)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_PG_NPOOLS; i++) {
        ngx_svc_pg_pool(i)->end = ngx_svc_pg_end;
    }

    ngx_memzero(&ngx_svc_pg_watch_event, sizeof(ngx_event_t));

    if (!conf->fence) {
        return NGX_OK;
    }

    ngx_svc_pg_watch_event.handler = ngx_svc_pg_watch_timer;
    ngx_svc_pg_watch_event.data = conf;
    ngx_svc_pg_watch_event.log = cycle->log;
    ngx_svc_pg_watch_event.cancelable = 1;

    ngx_svc_pg_watch_last = ngx_current_msec;
    ngx_add_timer(&ngx_svc_pg_watch_event, NGX_SVC_PG_WATCH_TICK);

    return ngx_svc_pg_probe_init(cycle, conf);
}


void
ngx_svc_pg_watch_exit(void)
{
    if (ngx_svc_pg_watch_event.timer_set) {
        ngx_del_timer(&ngx_svc_pg_watch_event);
    }

    ngx_svc_pg_probe_exit();
}


/*
 * A worker that is exiting asks no more, so that it can end; it still gives up
 * connections to a former primary.
 */

static void
ngx_svc_pg_watch_timer(ngx_event_t *ev)
{
    ngx_add_timer(ev, NGX_SVC_PG_WATCH_TICK);

    ngx_svc_pg_watch();

    if (!ngx_exiting && ngx_current_msec - ngx_svc_pg_watch_last
                        >= NGX_SVC_PG_FENCE_PERIOD)
    {
        ngx_svc_pg_watch_last = ngx_current_msec;
        ngx_svc_pg_probe();
        ngx_svc_pg_watch_idle();
    }
}


void
ngx_svc_pg_watch(void)
{
    ngx_svc_pg_watch_each(ngx_svc_pg_watch_timeline);
}


static void
ngx_svc_pg_watch_each(void (*handler)(ngx_svc_pg_conn_t *conn))
{
    ngx_uint_t                 i, j;
    struct ngx_svc_pg_pool_s  *pool;

    for (i = 0; i < NGX_SVC_PG_NPOOLS; i++) {
        pool = ngx_svc_pg_pool(i);

        for (j = 0; j < pool->nconns; j++) {
            handler(&pool->conns[j]);
        }
    }
}


static void
ngx_svc_pg_watch_idle(void)
{
    ngx_uint_t          i, n;
    ngx_svc_pg_conn_t  *conn;

    for (n = 0, i = 0; i < NGX_SVC_PG_NPOOLS; i++) {
        n += ngx_svc_pg_pool(i)->nconns;
    }

    for (i = 0; i < n; i++) {
        conn = ngx_svc_pg_watch_conn((ngx_svc_pg_watch_first + i) % n);

        if (conn->state == NGX_SVC_PG_READY && conn->ninflight == 0
            && ngx_current_msec - conn->progress
               >= NGX_SVC_PG_FENCE_PERIOD / 2
            && !ngx_svc_pg_watch_asked(conn))
        {
            ngx_svc_pg_watch_look(conn);
        }
    }

    ngx_svc_pg_watch_first++;
}


/* Returns the n-th connection of all pools. */

static ngx_svc_pg_conn_t *
ngx_svc_pg_watch_conn(ngx_uint_t n)
{
    ngx_uint_t                 i;
    struct ngx_svc_pg_pool_s  *pool;

    for (i = 0; /* void */ ; i++) {
        pool = ngx_svc_pg_pool(i);

        if (n < pool->nconns) {
            return &pool->conns[n];
        }

        n -= pool->nconns;
    }
}


/*
 * Returns 1 if another connection stands for this one; 0 also when one that was
 * asked earlier has not answered yet.
 */

static ngx_uint_t
ngx_svc_pg_watch_asked(ngx_svc_pg_conn_t *conn)
{
    ngx_uint_t                 i, j, asked;
    ngx_svc_pg_conn_t         *other;
    struct ngx_svc_pg_pool_s  *pool;

    asked = 0;

    for (i = 0; i < NGX_SVC_PG_NPOOLS; i++) {
        pool = ngx_svc_pg_pool(i);

        for (j = 0; j < pool->nconns; j++) {
            other = &pool->conns[j];

            if (other->look == NULL || !ngx_svc_pg_watch_same(conn, other)) {
                continue;
            }

            if (other->looked != ngx_svc_pg_watch_last) {
                return 0;
            }

            asked = 1;
        }
    }

    return asked;
}


/* Returns 1 if both are to the same server, and on the same timeline. */

static ngx_uint_t
ngx_svc_pg_watch_same(const ngx_svc_pg_conn_t *one,
    const ngx_svc_pg_conn_t *two)
{
    return one->timeline.system == two->timeline.system
           && one->timeline.timeline == two->timeline.timeline
           && ngx_strcmp(PQhost(one->pg), PQhost(two->pg)) == 0
           && ngx_strcmp(PQport(one->pg), PQport(two->pg)) == 0
           && ngx_strcmp(PQhostaddr(one->pg), PQhostaddr(two->pg)) == 0;
}


static void
ngx_svc_pg_watch_timeline(ngx_svc_pg_conn_t *conn)
{
    uint32_t  above;

    if (conn->held) {
        ngx_svc_pg_conn_release(conn);
        return;
    }

    if (conn->state != NGX_SVC_PG_READY) {
        return;
    }

    above = ngx_svc_pg_fence_above(&conn->timeline);

    if (above) {
        ngx_svc_pg_watch_stale(conn, above);
    }
}


/*
 * Breaks the connection: reads in flight are sent again; whether writes in
 * flight are committed is not known.
 */

static void
ngx_svc_pg_watch_stale(ngx_svc_pg_conn_t *conn, uint32_t above)
{
    u_char     buf[NGX_SVC_PG_FENCE_TEXT];
    ngx_str_t  text;

    text = ngx_svc_pg_trouble_text(NGX_SVC_PG_STALE_PRIMARY,
                                   ngx_svc_pg_fence_text(&conn->timeline,
                                                         above, buf));

    ngx_svc_pg_log(NGX_LOG_ERR, "connection given up", &text);
    ngx_svc_pg_conn_break(conn);
}


/* Asks for the timeline on this connection, and on no other one. */

static void
ngx_svc_pg_watch_look(ngx_svc_pg_conn_t *conn)
{
    ngx_pool_t       *pool;
    ngx_svc_pg_op_t  *op;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return;
    }

    op = ngx_svc_pg_op_create(pool, conn->pool->kind, ngx_svc_pg_watch_looked,
                              conn);

    if (op == NULL || ngx_svc_pg_call(op, &ngx_svc_sql_pg_timeline) == NULL) {
        ngx_destroy_pool(pool);
        return;
    }

    op->retried = 1;

    if (ngx_svc_pg_pipeline_send(conn, op) != NGX_OK) {
        ngx_destroy_pool(pool);
        return;
    }

    conn->look = op;
    conn->looked = ngx_svc_pg_watch_last;
}


static void
ngx_svc_pg_watch_looked(ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_conn_t          *conn;
    ngx_svc_row_pg_timeline_t   row;

    conn = op->data;
    conn->look = NULL;

    if (op->status == NGX_SVC_PG_OK) {
        ngx_svc_row_pg_timeline(&row,
                      ngx_svc_pg_op_result(op, &ngx_svc_sql_pg_timeline), 0);
        conn->timeline = ngx_svc_pg_fence_read(&row);
        ngx_svc_pg_fence_note(&conn->timeline);
    }

    ngx_destroy_pool(op->pool);
}
