/*
 * Ops and pools.
 */

#include "ngx_svc_pg.h"
#include "ngx_svc_pg_close.h"
#include "ngx_svc_pg_queue.h"


static ngx_int_t ngx_svc_pg_init_pool(ngx_cycle_t *cycle,
    ngx_svc_pg_conf_t *conf, ngx_svc_pg_pool_e kind);


/* A worker's pools; what they point to is of the cycle's pool. */

static ngx_svc_pg_pool_t  ngx_svc_pg_pools[NGX_SVC_PG_NPOOLS];


ngx_int_t
ngx_svc_pg_init_worker(ngx_cycle_t *cycle, ngx_svc_pg_conf_t *conf)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_PG_NPOOLS; i++) {
        if (ngx_svc_pg_init_pool(cycle, conf, i) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_pg_init_pool(ngx_cycle_t *cycle, ngx_svc_pg_conf_t *conf,
    ngx_svc_pg_pool_e kind)
{
    ngx_uint_t           i, j;
    ngx_svc_pg_pool_t   *pool;
    ngx_svc_pg_conn_t   *conn;

    pool = &ngx_svc_pg_pools[kind];

    pool->conf = conf;
    pool->kind = kind;
    pool->log = cycle->log;
    pool->depth = conf->pools[kind].depth;
    ngx_svc_pg_queue_init(pool, cycle->pool);

    pool->conns = ngx_pcalloc(cycle->pool, conf->pools[kind].connections
                                           * sizeof(ngx_svc_pg_conn_t));
    if (pool->conns == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < conf->pools[kind].connections; i++) {
        conn = &pool->conns[i];

        conn->slots = ngx_pcalloc(cycle->pool,
                                  pool->depth * sizeof(ngx_svc_pg_slot_t));
        conn->prepared = ngx_pcalloc(cycle->pool,
                                     sizeof(ngx_svc_pg_prepared_t));

        if (conn->slots == NULL || conn->prepared == NULL) {
            return NGX_ERROR;
        }

        ngx_svc_pg_conn_init(conn, pool);

        for (j = 0; j < pool->depth; j++) {
            ngx_queue_insert_tail(&conn->free, &conn->slots[j].queue);
        }

        pool->nconns++;

        /*
         * A new connection is much work for PostgreSQL: the first one is ready
         * sooner when the others are begun later.
         */

        if (i == 0) {
            ngx_svc_pg_conn_start(conn);

        } else {
            ngx_add_timer(&conn->timer, conf->connect_timeout);
        }
    }

    return NGX_OK;
}


void
ngx_svc_pg_exit_worker(void)
{
    ngx_uint_t          i, j;
    ngx_svc_pg_pool_t  *pool;

    for (i = 0; i < NGX_SVC_PG_NPOOLS; i++) {
        pool = &ngx_svc_pg_pools[i];

        for (j = 0; j < pool->nconns; j++) {
            ngx_svc_pg_conn_destroy(&pool->conns[j]);
        }

        pool->nconns = 0;
    }
}


/*
 * Nothing is closed by libpq: it would tell the server to end the parent's
 * connections.
 */

void
ngx_svc_pg_forked(void)
{
    ngx_memzero(ngx_svc_pg_pools, sizeof(ngx_svc_pg_pools));
    ngx_svc_pg_log_reset();
}


ngx_svc_pg_op_t *
ngx_svc_pg_op_create(ngx_pool_t *pool, ngx_svc_pg_pool_e kind,
    ngx_svc_pg_handler_pt handler, void *data)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_palloc(pool, sizeof(ngx_svc_pg_op_t));
    if (op == NULL) {
        return NULL;
    }

    op->handler = handler;
    op->data = data;
    op->pool = pool;
    op->kind = kind;

    ngx_svc_pg_op_reset(op);

    return op;
}


void
ngx_svc_pg_op_reset(ngx_svc_pg_op_t *op)
{
    op->ncalls = 0;
    op->nhidden = 0;
    op->committed = NULL;
    op->tenant = NULL;
    op->status = NGX_SVC_PG_OK;
    op->results = NULL;
    op->error = NULL;
    op->unprepared = 0;
    op->slot = NULL;
    op->waiting = 0;
    op->retried = 0;
}


ngx_svc_pg_call_t *
ngx_svc_pg_call(ngx_svc_pg_op_t *op, const ngx_svc_pg_statement_t *statement)
{
    u_char             *p;
    ngx_uint_t          n;
    ngx_svc_pg_call_t  *call;

    if (op->ncalls == NGX_SVC_PG_CALLS) {
        ngx_log_error(NGX_LOG_ALERT, op->pool->log, 0,
                      "more than %d statements in a PostgreSQL pipeline",
                      NGX_SVC_PG_CALLS);
        return NULL;
    }

    n = statement->nparams;

    p = ngx_palloc(op->pool, n * (sizeof(char *) + 2 * sizeof(int)));
    if (p == NULL) {
        return NULL;
    }

    call = &op->calls[op->ncalls++];

    call->statement = statement;
    call->nbound = 0;
    call->values = (const char **) p;
    call->lengths = (int *) (p + n * sizeof(char *));
    call->formats = call->lengths + n;

    return call;
}


void
ngx_svc_pg_bind(ngx_svc_pg_call_t *call, const u_char *data, size_t len)
{
    ngx_uint_t  n;

    n = call->nbound++;

    if (n >= call->statement->nparams) {
        return;
    }

    call->values[n] = (const char *) data;
    call->lengths[n] = (int) len;
    call->formats[n] = 1;
}


void
ngx_svc_pg_bind_str(ngx_svc_pg_call_t *call, const ngx_str_t *str)
{
    if (str == NULL) {
        ngx_svc_pg_bind(call, NULL, 0);
        return;
    }

    /* libpq takes a NULL pointer as an SQL NULL, whatever the length is */

    ngx_svc_pg_bind(call, str->data ? str->data : (u_char *) "", str->len);
}


void
ngx_svc_pg_bind_bool(ngx_svc_pg_call_t *call, ngx_uint_t b)
{
    ngx_svc_pg_bind(call, (u_char *) (b ? "\1" : "\0"), 1);
}


ngx_int_t
ngx_svc_pg_bind_int(ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call, int32_t n)
{
    uint32_t  *p;

    p = ngx_palloc(op->pool, sizeof(uint32_t));
    if (p == NULL) {
        return NGX_ERROR;
    }

    *p = htonl((uint32_t) n);

    ngx_svc_pg_bind(call, (u_char *) p, sizeof(uint32_t));

    return NGX_OK;
}


ngx_int_t
ngx_svc_pg_submit(ngx_svc_pg_op_t *op)
{
    ngx_uint_t  i;

    for (i = 0; i < op->ncalls; i++) {
        if (op->calls[i].nbound != op->calls[i].statement->nparams) {
            ngx_log_error(NGX_LOG_ALERT, op->pool->log, 0,
                          "PostgreSQL statement \"%s\" takes %ui parameters, "
                          "%ui are bound", op->calls[i].statement->name,
                          op->calls[i].statement->nparams,
                          op->calls[i].nbound);
            return NGX_ERROR;
        }
    }

    return ngx_svc_pg_queue_submit(&ngx_svc_pg_pools[op->kind], op);
}


void
ngx_svc_pg_cancel(ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_queue_cancel(op);
}


void
ngx_svc_pg_drop(ngx_svc_pg_op_t **op)
{
    if (*op) {
        ngx_svc_pg_cancel(*op);
        ngx_destroy_pool((*op)->pool);
        *op = NULL;
    }
}


ngx_uint_t
ngx_svc_pg_op_transient(ngx_svc_pg_op_t *op)
{
    return op->unprepared
           || ngx_svc_pg_transient(PQresultErrorField(op->error,
                                                      PG_DIAG_SQLSTATE));
}


void
ngx_svc_pg_op_failed(ngx_svc_pg_op_t *op, const char *what)
{
    ngx_str_t  text;

    static const char *const  reasons[] = {
        [NGX_SVC_PG_BUSY] = "PostgreSQL has no connection free",
        [NGX_SVC_PG_UNAVAILABLE] = "PostgreSQL has no connection up",
        [NGX_SVC_PG_LOST] = "the connection to PostgreSQL was lost"
    };

    if (op->status == NGX_SVC_PG_FAILED) {
        text = ngx_svc_pg_message(PQresultErrorMessage(op->error));

    } else {
        text.data = (u_char *) reasons[op->status];
        text.len = ngx_strlen(text.data);
    }

    ngx_svc_pg_log(NGX_LOG_ERR, what, &text);
}


ngx_svc_pg_pool_t *
ngx_svc_pg_pool(ngx_svc_pg_pool_e kind)
{
    return &ngx_svc_pg_pools[kind];
}


ngx_uint_t
ngx_svc_pg_disk_full(ngx_msec_t ms)
{
    ngx_uint_t          i;
    ngx_svc_pg_pool_t  *pool;

    for (i = 0; i < NGX_SVC_PG_NPOOLS; i++) {
        pool = &ngx_svc_pg_pools[i];

        if (pool->full && ngx_current_msec - pool->full_at < ms) {
            return 1;
        }

        pool->full = 0;
    }

    return 0;
}


ngx_svc_pg_trouble_e
ngx_svc_pg_trouble(ngx_svc_pg_pool_e kind)
{
    ngx_svc_pg_pool_t  *pool;

    pool = &ngx_svc_pg_pools[kind];

    if (pool->nready) {
        return pool->newer ? NGX_SVC_PG_SCHEMA_NEW : NGX_SVC_PG_UP;
    }

    /* a pool that has not tried to connect yet is down, too */

    return (pool->trouble == NGX_SVC_PG_UP) ? NGX_SVC_PG_DOWN : pool->trouble;
}
