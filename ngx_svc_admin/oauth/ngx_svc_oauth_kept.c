/*
 * The rows of clients' own tokens.
 *
 * A worker has one batch under way at a time.  Rows that it could not store go
 * into the next batch: a row that is stored twice is one row.  A worker that
 * ends waits for its last batch, but not for PostgreSQL to come back.
 */

#include "ngx_svc_oauth_kept.h"
#include "ngx_svc_log_limit.h"
#include "ngx_svc_pg_array.h"


#define NGX_SVC_OAUTH_KEPT_BATCH  256
#define NGX_SVC_OAUTH_KEPT_MAX    8192      /* in one worker */
#define NGX_SVC_OAUTH_KEPT_RETRY  1000      /* ms */


/*
 * A token whose row is not stored yet.  It is of ngx_alloc(), in one piece with
 * the texts that it points to.
 */

typedef struct {
    ngx_queue_t          queue;
    ngx_svc_oauth_own_t  own;
    ngx_str_t            ip;
    ngx_str_t            country;
} ngx_svc_oauth_kept_t;

typedef u_char *(*ngx_svc_oauth_kept_write_pt)(u_char *p,
    const ngx_svc_oauth_kept_t *kept, size_t offset);

/* A parameter of the statement: an array with an element for each token. */

typedef struct {
    ngx_svc_oauth_kept_write_pt  write;
    size_t                       offset;    /* of a text; 0: write knows it */
} ngx_svc_oauth_kept_param_t;


static ngx_svc_oauth_kept_t *ngx_svc_oauth_kept_copy(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_own_t *own);
static void ngx_svc_oauth_kept_lost(ngx_uint_t n, const char *why);
static void ngx_svc_oauth_kept_tell(const char *why);
static void ngx_svc_oauth_kept_timer(ngx_event_t *ev);
static void ngx_svc_oauth_kept_store(void);
static void ngx_svc_oauth_kept_again(void);
static ngx_int_t ngx_svc_oauth_kept_bind(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call);
static size_t ngx_svc_oauth_kept_size(
    const ngx_svc_oauth_kept_param_t *param);
static void ngx_svc_oauth_kept_done(ngx_svc_pg_op_t *op);
static ngx_uint_t ngx_svc_oauth_kept_drop(ngx_queue_t *queue);
static void ngx_svc_oauth_kept_end(void);
static u_char *ngx_svc_oauth_kept_text(u_char *p,
    const ngx_svc_oauth_kept_t *kept, size_t offset);
static u_char *ngx_svc_oauth_kept_bytes(u_char *p,
    const ngx_svc_oauth_kept_t *kept, size_t offset);
static u_char *ngx_svc_oauth_kept_tenant(u_char *p,
    const ngx_svc_oauth_kept_t *kept, size_t offset);
static u_char *ngx_svc_oauth_kept_jti(u_char *p,
    const ngx_svc_oauth_kept_t *kept, size_t offset);
static u_char *ngx_svc_oauth_kept_ms(u_char *p,
    const ngx_svc_oauth_kept_t *kept, size_t offset);
static u_char *ngx_svc_oauth_kept_ttl(u_char *p,
    const ngx_svc_oauth_kept_t *kept, size_t offset);


#include "ngx_svc_oauth_kept.sql.h"


#define ngx_svc_oauth_kept_str(kept, offset)                                  \
    ((const ngx_str_t *) ((const u_char *) (kept) + (offset)))

#define ngx_svc_oauth_kept_own(field)                                         \
    offsetof(ngx_svc_oauth_kept_t, own)                                       \
    + offsetof(ngx_svc_oauth_own_t, field)

static const ngx_svc_oauth_kept_param_t  ngx_svc_oauth_kept_params[] = {
    { ngx_svc_oauth_kept_tenant, 0 },
    { ngx_svc_oauth_kept_jti, 0 },
    { ngx_svc_oauth_kept_ms, 0 },
    { ngx_svc_oauth_kept_text, ngx_svc_oauth_kept_own(client_id) },
    { ngx_svc_oauth_kept_text, ngx_svc_oauth_kept_own(scope) },
    { ngx_svc_oauth_kept_text, ngx_svc_oauth_kept_own(audience) },
    { ngx_svc_oauth_kept_text, ngx_svc_oauth_kept_own(audience_key) },
    { ngx_svc_oauth_kept_bytes, ngx_svc_oauth_kept_own(secret_hash) },
    { ngx_svc_oauth_kept_text, ngx_svc_oauth_kept_own(kid) },
    { ngx_svc_oauth_kept_bytes, ngx_svc_oauth_kept_own(jkt) },
    { ngx_svc_oauth_kept_ttl, 0 },
    { ngx_svc_oauth_kept_text, offsetof(ngx_svc_oauth_kept_t, ip) },
    { ngx_svc_oauth_kept_text, offsetof(ngx_svc_oauth_kept_t, country) }
};

#define NGX_SVC_OAUTH_KEPT_PARAMS                                             \
    (sizeof(ngx_svc_oauth_kept_params) / sizeof(ngx_svc_oauth_kept_param_t))


static ngx_queue_t            ngx_svc_oauth_kept_waiting;
static ngx_queue_t            ngx_svc_oauth_kept_inflight;
static ngx_uint_t             ngx_svc_oauth_kept_n;         /* in both queues */
static ngx_svc_pg_op_t       *ngx_svc_oauth_kept_op;        /* NULL: none */
static ngx_event_t            ngx_svc_oauth_kept_event;
static ngx_svc_log_limit_t    ngx_svc_oauth_kept_limit;
static ngx_uint_t             ngx_svc_oauth_kept_untold;    /* rows lost since
                                                               the last log */


void
ngx_svc_oauth_kept_init_worker(ngx_cycle_t *cycle)
{
    ngx_queue_init(&ngx_svc_oauth_kept_waiting);
    ngx_queue_init(&ngx_svc_oauth_kept_inflight);

    ngx_memzero(&ngx_svc_oauth_kept_event, sizeof(ngx_event_t));

    ngx_svc_oauth_kept_n = 0;
    ngx_svc_oauth_kept_op = NULL;

    ngx_svc_oauth_kept_event.handler = ngx_svc_oauth_kept_timer;
    ngx_svc_oauth_kept_event.data = &ngx_svc_oauth_kept_event;
    ngx_svc_oauth_kept_event.log = cycle->log;
}


void
ngx_svc_oauth_kept_exit_worker(void)
{
    if (ngx_svc_oauth_kept_event.handler == NULL) {
        return;
    }

    ngx_svc_pg_drop(&ngx_svc_oauth_kept_op);

    if (ngx_svc_oauth_kept_event.timer_set) {
        ngx_del_timer(&ngx_svc_oauth_kept_event);
    }

    ngx_svc_oauth_kept_end();
}


void
ngx_svc_oauth_kept_add(ngx_svc_oauth_t *o, const ngx_svc_oauth_own_t *own)
{
    ngx_svc_oauth_kept_t  *kept;

    if (ngx_svc_oauth_kept_n == NGX_SVC_OAUTH_KEPT_MAX) {
        ngx_svc_oauth_kept_lost(1, "too many wait for PostgreSQL");
        return;
    }

    kept = ngx_svc_oauth_kept_copy(o, own);
    if (kept == NULL) {
        ngx_svc_oauth_kept_lost(1, "there is no memory");
        return;
    }

    ngx_queue_insert_tail(&ngx_svc_oauth_kept_waiting, &kept->queue);
    ngx_svc_oauth_kept_n++;

    if (ngx_svc_oauth_kept_op) {
        return;
    }

    if (ngx_svc_oauth_kept_n >= NGX_SVC_OAUTH_KEPT_BATCH) {
        ngx_svc_oauth_kept_store();

    } else if (!ngx_svc_oauth_kept_event.timer_set) {
        ngx_add_timer(&ngx_svc_oauth_kept_event, NGX_SVC_OAUTH_KEPT_DELAY);
    }
}


static ngx_svc_oauth_kept_t *
ngx_svc_oauth_kept_copy(ngx_svc_oauth_t *o, const ngx_svc_oauth_own_t *own)
{
    u_char                *p;
    size_t                 len;
    ngx_str_t             *text;
    ngx_uint_t             i;
    ngx_svc_oauth_kept_t  *kept, from;

    static const size_t  texts[] = {
        ngx_svc_oauth_kept_own(tenant),
        ngx_svc_oauth_kept_own(client_id),
        ngx_svc_oauth_kept_own(scope),
        ngx_svc_oauth_kept_own(audience),
        ngx_svc_oauth_kept_own(audience_key),
        ngx_svc_oauth_kept_own(jkt),
        ngx_svc_oauth_kept_own(kid),
        ngx_svc_oauth_kept_own(secret_hash),
        offsetof(ngx_svc_oauth_kept_t, ip),
        offsetof(ngx_svc_oauth_kept_t, country)
    };

    ngx_memzero(&from, sizeof(ngx_svc_oauth_kept_t));

    from.own = *own;
    from.ip = o->ip;
    from.country = o->country;

    len = sizeof(ngx_svc_oauth_kept_t);

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        len += ((ngx_str_t *) ((u_char *) &from + texts[i]))->len;
    }

    kept = ngx_alloc(len, ngx_cycle->log);
    if (kept == NULL) {
        return NULL;
    }

    *kept = from;
    p = (u_char *) &kept[1];

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        text = (ngx_str_t *) ((u_char *) kept + texts[i]);

        if (text->data) {
            ngx_memcpy(p, text->data, text->len);
            text->data = p;
            p += text->len;
        }
    }

    return kept;
}


static void
ngx_svc_oauth_kept_lost(ngx_uint_t n, const char *why)
{
    ngx_svc_metric_add(NGX_SVC_M_TOKEN_ROWS_LOST, n);

    ngx_svc_oauth_kept_untold += n;

    if (ngx_svc_log_limit(&ngx_svc_oauth_kept_limit, 1, 60000)) {
        ngx_svc_oauth_kept_tell(why);
    }
}


/* Logs how many rows were lost since the last time. */

static void
ngx_svc_oauth_kept_tell(const char *why)
{
    if (ngx_svc_oauth_kept_untold == 0) {
        return;
    }

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "svc: rows of %ui tokens are lost: %s; the tokens live, but "
                  "the dry run, the anomalies and the last use of their "
                  "clients lack them", ngx_svc_oauth_kept_untold, why);

    ngx_svc_oauth_kept_untold = 0;
}


static void
ngx_svc_oauth_kept_timer(ngx_event_t *ev)
{
    if (ngx_svc_oauth_kept_op == NULL) {
        ngx_svc_oauth_kept_store();
    }
}


/* Stores the oldest rows that wait; when that cannot be, tries again later. */

static void
ngx_svc_oauth_kept_store(void)
{
    ngx_uint_t          n;
    ngx_pool_t         *pool;
    ngx_queue_t        *q;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        ngx_svc_oauth_kept_again();
        return;
    }

    for (n = 0; n < NGX_SVC_OAUTH_KEPT_BATCH
                && !ngx_queue_empty(&ngx_svc_oauth_kept_waiting); n++)
    {
        q = ngx_queue_head(&ngx_svc_oauth_kept_waiting);
        ngx_queue_remove(q);
        ngx_queue_insert_tail(&ngx_svc_oauth_kept_inflight, q);
    }

    op = ngx_svc_pg_op_create(pool, NGX_SVC_PG_WRITE, ngx_svc_oauth_kept_done,
                              NULL);
    call = op ? ngx_svc_pg_call(op, &ngx_svc_sql_oauth_kept) : NULL;

    if (call == NULL || ngx_svc_oauth_kept_bind(op, call) != NGX_OK
        || ngx_svc_pg_submit(op) != NGX_OK)
    {
        ngx_destroy_pool(pool);
        ngx_svc_oauth_kept_again();
        return;
    }

    ngx_svc_oauth_kept_op = op;
}


/*
 * Puts the rows of the batch back, to be stored later.  A worker that ends
 * gives them up: it does not wait for a PostgreSQL that is down.
 */

static void
ngx_svc_oauth_kept_again(void)
{
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&ngx_svc_oauth_kept_inflight)) {
        q = ngx_queue_last(&ngx_svc_oauth_kept_inflight);
        ngx_queue_remove(q);
        ngx_queue_insert_head(&ngx_svc_oauth_kept_waiting, q);
    }

    if (ngx_exiting) {
        ngx_svc_oauth_kept_end();
        return;
    }

    if (ngx_svc_oauth_kept_n) {
        ngx_add_timer(&ngx_svc_oauth_kept_event, NGX_SVC_OAUTH_KEPT_RETRY);
    }
}


static ngx_int_t
ngx_svc_oauth_kept_bind(ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call)
{
    u_char                            *p, *start;
    ngx_uint_t                         i;
    ngx_queue_t                       *q;
    const ngx_svc_oauth_kept_param_t  *param;

    for (i = 0; i < NGX_SVC_OAUTH_KEPT_PARAMS; i++) {
        param = &ngx_svc_oauth_kept_params[i];

        start = ngx_pnalloc(op->pool, ngx_svc_oauth_kept_size(param));
        if (start == NULL) {
            return NGX_ERROR;
        }

        p = start;
        *p++ = '{';

        for (q = ngx_queue_head(&ngx_svc_oauth_kept_inflight);
             q != ngx_queue_sentinel(&ngx_svc_oauth_kept_inflight);
             q = ngx_queue_next(q))
        {
            p = param->write(p, ngx_queue_data(q, ngx_svc_oauth_kept_t, queue),
                             param->offset);
        }

        *p++ = '}';

        ngx_svc_pg_bind(call, start, p - start);
    }

    return NGX_OK;
}


/* Returns how many bytes an array has at most, whatever writes its elements. */

static size_t
ngx_svc_oauth_kept_size(const ngx_svc_oauth_kept_param_t *param)
{
    size_t                 size;
    ngx_queue_t           *q;
    ngx_svc_oauth_kept_t  *kept;

    size = sizeof("{}");

    for (q = ngx_queue_head(&ngx_svc_oauth_kept_inflight);
         q != ngx_queue_sentinel(&ngx_svc_oauth_kept_inflight);
         q = ngx_queue_next(q))
    {
        size += sizeof(",\"\\\\x\"") + NGX_SVC_UUID_TEXT_LEN;

        if (param->offset) {
            kept = ngx_queue_data(q, ngx_svc_oauth_kept_t, queue);
            size += ngx_svc_pg_array_len(ngx_svc_oauth_kept_str(kept,
                                             param->offset));
        }
    }

    return size;
}


static u_char *
ngx_svc_oauth_kept_text(u_char *p, const ngx_svc_oauth_kept_t *kept,
    size_t offset)
{
    return ngx_svc_pg_array_add(p, ngx_svc_oauth_kept_str(kept, offset));
}


static u_char *
ngx_svc_oauth_kept_bytes(u_char *p, const ngx_svc_oauth_kept_t *kept,
    size_t offset)
{
    const ngx_str_t  *bytes;

    bytes = ngx_svc_oauth_kept_str(kept, offset);

    if (bytes->data == NULL) {
        return ngx_svc_pg_array_add(p, bytes);
    }

    p = ngx_sprintf(p, "%s\"\\\\x", p[-1] == '{' ? "" : ",");
    p = ngx_hex_dump(p, bytes->data, bytes->len);
    *p++ = '"';

    return p;
}


static u_char *
ngx_svc_oauth_kept_tenant(u_char *p, const ngx_svc_oauth_kept_t *kept,
    size_t offset)
{
    p = ngx_sprintf(p, "%s", p[-1] == '{' ? "" : ",");

    return ngx_svc_uuid_text(p, kept->own.tenant.data);
}


static u_char *
ngx_svc_oauth_kept_jti(u_char *p, const ngx_svc_oauth_kept_t *kept,
    size_t offset)
{
    p = ngx_sprintf(p, "%s", p[-1] == '{' ? "" : ",");

    return ngx_svc_uuid_text(p, kept->own.jti);
}


static u_char *
ngx_svc_oauth_kept_ms(u_char *p, const ngx_svc_oauth_kept_t *kept,
    size_t offset)
{
    return ngx_sprintf(p, "%s%L", p[-1] == '{' ? "" : ",", kept->own.ms);
}


static u_char *
ngx_svc_oauth_kept_ttl(u_char *p, const ngx_svc_oauth_kept_t *kept,
    size_t offset)
{
    return ngx_sprintf(p, "%s%i", p[-1] == '{' ? "" : ",", kept->own.ttl);
}


static void
ngx_svc_oauth_kept_done(ngx_svc_pg_op_t *op)
{
    ngx_uint_t  lost;

    ngx_svc_oauth_kept_op = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, "rows of tokens cannot be stored");

        lost = (op->status == NGX_SVC_PG_FAILED
                && !ngx_svc_pg_op_transient(op));

        ngx_destroy_pool(op->pool);

        if (lost) {

            /* PostgreSQL would refuse them again, and those behind them, too */

            ngx_svc_oauth_kept_lost(
                ngx_svc_oauth_kept_drop(&ngx_svc_oauth_kept_inflight),
                "PostgreSQL refuses them");
        }

        ngx_svc_oauth_kept_again();
        return;
    }

    ngx_destroy_pool(op->pool);

    (void) ngx_svc_oauth_kept_drop(&ngx_svc_oauth_kept_inflight);

    ngx_svc_oauth_kept_tell("they did not fit, or were refused, until now");

    if (ngx_svc_oauth_kept_n == 0) {
        return;
    }

    if (ngx_svc_oauth_kept_n >= NGX_SVC_OAUTH_KEPT_BATCH || ngx_exiting) {
        ngx_svc_oauth_kept_store();

    } else {
        ngx_add_timer(&ngx_svc_oauth_kept_event, NGX_SVC_OAUTH_KEPT_DELAY);
    }
}


/* Frees the rows of a queue, and returns how many there were. */

static ngx_uint_t
ngx_svc_oauth_kept_drop(ngx_queue_t *queue)
{
    ngx_uint_t    n;
    ngx_queue_t  *q, *next;

    n = 0;

    for (q = ngx_queue_head(queue); q != ngx_queue_sentinel(queue); q = next) {
        next = ngx_queue_next(q);

        ngx_free(ngx_queue_data(q, ngx_svc_oauth_kept_t, queue));
        n++;
    }

    ngx_queue_init(queue);

    ngx_svc_oauth_kept_n -= n;

    return n;
}


static void
ngx_svc_oauth_kept_end(void)
{
    ngx_uint_t  n;

    n = ngx_svc_oauth_kept_drop(&ngx_svc_oauth_kept_inflight)
        + ngx_svc_oauth_kept_drop(&ngx_svc_oauth_kept_waiting);

    if (n) {
        ngx_svc_oauth_kept_lost(n, "the worker ends");
    }

    ngx_svc_oauth_kept_tell("the worker ends");
}
