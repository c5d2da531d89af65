/*
 * The checks that PostgreSQL answers reads, and that writes commit.
 *
 * That a connection is open does not mean that it answers, and answers to reads
 * say nothing of writes: no commit ends when a synchronous standby is gone, or
 * a disk hangs.  So the check commits something, in the pool of writes.
 */

#include "ngx_svc_health_check.h"
#include "ngx_svc_metrics.h"


#define NGX_SVC_HEALTH_READS    100     /* ms that an outcome counts for */
#define NGX_SVC_HEALTH_WRITES   1000
#define NGX_SVC_HEALTH_POOL     2048    /* bytes */
#define NGX_SVC_HEALTH_DISK     60000   /* ms that a full disk counts for */

#define ngx_svc_health_connected(trouble)                                     \
    ((trouble) == NGX_SVC_PG_UP || (trouble) == NGX_SVC_PG_SCHEMA_NEW)


typedef struct {
    const ngx_svc_pg_statement_t  *statement;
    ngx_svc_pg_pool_e              kind;
    ngx_msec_t                     interval;
    ngx_svc_gauge_e                down;
    ngx_svc_gauge_e                up;
    ngx_pool_t                    *pool;    /* of the op that is under way;
                                               NULL: none is */
    ngx_svc_pg_op_t               *op;
    ngx_msec_t                     begun;
    ngx_msec_t                     ended;   /* when the last op ended */
    ngx_svc_health_state_e         state;   /* the last outcome */
    unsigned                       known:1; /* there is an outcome */
} ngx_svc_health_check_t;


static void ngx_svc_health_begin(ngx_svc_health_check_t *check);
static ngx_int_t ngx_svc_health_submit(ngx_svc_health_check_t *check);
static void ngx_svc_health_close(ngx_svc_health_check_t *check);
static void ngx_svc_health_done(ngx_svc_pg_op_t *op);
static void ngx_svc_health_end(ngx_svc_health_check_t *check,
    ngx_svc_health_state_e state);
static ngx_uint_t ngx_svc_health_pending(ngx_svc_health_check_t *check);
static ngx_uint_t ngx_svc_health_fresh(ngx_svc_health_check_t *check);
static ngx_uint_t ngx_svc_health_late(ngx_svc_health_check_t *check);
static ngx_svc_health_state_e ngx_svc_health_state(
    ngx_svc_health_check_t *check);


#include "ngx_svc_health_check.sql.h"


static void                  (*ngx_svc_health_ended)(void);

static ngx_svc_health_check_t  ngx_svc_health_reads = {
    .statement = &ngx_svc_sql_health_read,
    .kind = NGX_SVC_PG_READ,
    .interval = NGX_SVC_HEALTH_READS,
    .down = NGX_SVC_G_READS_DOWN,
    .up = NGX_SVC_G_READS_UP
};

static ngx_svc_health_check_t  ngx_svc_health_writes = {
    .statement = &ngx_svc_sql_health_write,
    .kind = NGX_SVC_PG_WRITE,
    .interval = NGX_SVC_HEALTH_WRITES,
    .down = NGX_SVC_G_WRITES_DOWN,
    .up = NGX_SVC_G_WRITES_UP
};


void
ngx_svc_health_check(void)
{
    ngx_svc_health_begin(&ngx_svc_health_reads);
    ngx_svc_health_begin(&ngx_svc_health_writes);
}


/*
 * A read that is late may have a bad connection, so another read is begun.  A
 * commit that is late is waited for: there would be more and more of them while
 * no commit ends.
 */

static void
ngx_svc_health_begin(ngx_svc_health_check_t *check)
{
    if (!ngx_svc_health_connected(ngx_svc_pg_trouble(check->kind))
        || ngx_svc_health_fresh(check))
    {
        return;
    }

    if (check->pool) {

        if (check->kind == NGX_SVC_PG_WRITE || !ngx_svc_health_late(check)) {
            return;
        }

        ngx_svc_pg_cancel(check->op);
        ngx_svc_health_close(check);
        check->state = NGX_SVC_HEALTH_DOWN;
    }

    if (ngx_svc_health_submit(check) != NGX_OK) {
        ngx_svc_health_close(check);
        ngx_svc_health_end(check, NGX_SVC_HEALTH_DOWN);
    }
}


static ngx_int_t
ngx_svc_health_submit(ngx_svc_health_check_t *check)
{
    check->pool = ngx_create_pool(NGX_SVC_HEALTH_POOL, ngx_cycle->log);
    if (check->pool == NULL) {
        return NGX_ERROR;
    }

    check->begun = ngx_current_msec;

    check->op = ngx_svc_pg_op_create(check->pool, check->kind,
                                     ngx_svc_health_done, check);

    if (check->op == NULL
        || ngx_svc_pg_call(check->op, check->statement) == NULL)
    {
        return NGX_ERROR;
    }

    return ngx_svc_pg_submit(check->op);
}


static void
ngx_svc_health_close(ngx_svc_health_check_t *check)
{
    if (check->pool) {
        ngx_destroy_pool(check->pool);
        check->pool = NULL;
    }
}


static void
ngx_svc_health_done(ngx_svc_pg_op_t *op)
{
    ngx_svc_health_state_e   state;
    ngx_svc_health_check_t  *check;

    check = op->data;

    state = NGX_SVC_HEALTH_DOWN;

    if (op->status == NGX_SVC_PG_FAILED) {
        ngx_svc_pg_op_failed(op, "health");

    } else if (op->status == NGX_SVC_PG_OK) {
        state = PQntuples(ngx_svc_pg_op_result(op, check->statement))
                ? NGX_SVC_HEALTH_UP : NGX_SVC_HEALTH_READ_ONLY;
    }

    ngx_svc_health_close(check);
    ngx_svc_health_end(check, state);

    if (ngx_svc_health_ended) {
        ngx_svc_health_ended();
    }
}


static void
ngx_svc_health_end(ngx_svc_health_check_t *check,
    ngx_svc_health_state_e state)
{
    check->state = state;
    check->ended = ngx_current_msec;
    check->known = 1;
}


void
ngx_svc_health_on_known(void (*handler)(void))
{
    ngx_svc_health_ended = handler;
}


ngx_uint_t
ngx_svc_health_known(void)
{
    return !ngx_svc_health_pending(&ngx_svc_health_reads)
           && !ngx_svc_health_pending(&ngx_svc_health_writes);
}


static ngx_uint_t
ngx_svc_health_pending(ngx_svc_health_check_t *check)
{
    return check->pool && !ngx_svc_health_fresh(check)
           && !ngx_svc_health_late(check)
           && ngx_svc_health_connected(ngx_svc_pg_trouble(check->kind));
}


static ngx_uint_t
ngx_svc_health_fresh(ngx_svc_health_check_t *check)
{
    return check->known && ngx_current_msec - check->ended < check->interval;
}


static ngx_uint_t
ngx_svc_health_late(ngx_svc_health_check_t *check)
{
    return ngx_current_msec - check->begun >= NGX_SVC_HEALTH_TIMEOUT;
}


void
ngx_svc_health_report(ngx_svc_health_report_t *report)
{
    report->trouble = ngx_svc_pg_trouble(NGX_SVC_PG_READ);

    if (ngx_svc_health_connected(report->trouble)) {
        report->trouble = ngx_svc_pg_trouble(NGX_SVC_PG_WRITE);
    }

    report->reads = ngx_svc_health_state(&ngx_svc_health_reads);
    report->writes = ngx_svc_health_state(&ngx_svc_health_writes);
    report->keys = ngx_svc_keys_check_state();
}


/* The last outcome counts, unless a newer check takes too long to end. */

static ngx_svc_health_state_e
ngx_svc_health_state(ngx_svc_health_check_t *check)
{
    ngx_uint_t              up;
    ngx_svc_health_state_e  state;

    state = check->state;

    if (!ngx_svc_health_connected(ngx_svc_pg_trouble(check->kind))
        || (check->pool && !ngx_svc_health_fresh(check)
            && ngx_svc_health_late(check)))
    {
        state = NGX_SVC_HEALTH_DOWN;
    }

    /* the check's own commit takes no room on the disk */

    if (check->kind == NGX_SVC_PG_WRITE && state == NGX_SVC_HEALTH_UP
        && ngx_svc_pg_disk_full(NGX_SVC_HEALTH_DISK))
    {
        state = NGX_SVC_HEALTH_FULL;
    }

    up = (state == NGX_SVC_HEALTH_UP);

    ngx_svc_gauge_set(check->up, up);
    ngx_svc_gauge_set(check->down, !up);

    return state;
}
