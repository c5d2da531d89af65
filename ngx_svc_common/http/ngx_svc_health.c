/*
 * The health location: what the balancer and the operator ask.
 */

#include "ngx_svc_health.h"
#include "ngx_svc_header.h"


#define NGX_SVC_HEALTH_TIMEOUT  1000    /* ms */
#define NGX_SVC_HEALTH_SIZE     512     /* bytes of an answer, at most */

#define ngx_svc_health_works(trouble)                                         \
    ((trouble) == NGX_SVC_PG_UP || (trouble) == NGX_SVC_PG_SCHEMA_NEW)


typedef struct {
    ngx_http_request_t  *request;
    ngx_svc_pg_op_t     *op;
    ngx_event_t          timer;
} ngx_svc_health_t;


static void ngx_svc_health_done(ngx_svc_pg_op_t *op);
static void ngx_svc_health_timeout(ngx_event_t *ev);
static void ngx_svc_health_cleanup(void *data);
static ngx_svc_pg_trouble_e ngx_svc_health_trouble(void);
static ngx_int_t ngx_svc_health_send(ngx_http_request_t *r,
    ngx_svc_pg_trouble_e trouble, ngx_uint_t read_only);
static u_char *ngx_svc_health_text(u_char *p, u_char *last,
    const ngx_svc_pg_trouble_t *row, ngx_uint_t works);


static const ngx_svc_pg_statement_t  ngx_svc_sql_health = {
    .name = "health",
    .text =
        "SELECT current_setting('transaction_read_only')",
    .nparams = 0
};

ngx_svc_pg_statements_t  ngx_svc_health_statements[] = {
    &ngx_svc_sql_health,
    NULL
};


/* A connection that is open says little: PostgreSQL must answer on it. */

ngx_int_t
ngx_svc_health_handler(ngx_http_request_t *r)
{
    ngx_int_t              rc;
    ngx_svc_health_t      *h;
    ngx_http_cleanup_t    *cln;
    ngx_svc_pg_trouble_e   trouble;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    r->disable_not_modified = 1;

    trouble = ngx_svc_health_trouble();

    if (!ngx_svc_health_works(trouble)) {
        return ngx_svc_health_send(r, trouble, 0);
    }

    h = ngx_pcalloc(r->pool, sizeof(ngx_svc_health_t));
    cln = ngx_http_cleanup_add(r, 0);
    if (h == NULL || cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    h->op = ngx_svc_pg_op_create(r->pool, NGX_SVC_PG_READ,
                                 ngx_svc_health_done, h);
    if (h->op == NULL
        || ngx_svc_pg_call(h->op, &ngx_svc_sql_health) == NULL)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ngx_svc_pg_submit(h->op) != NGX_OK) {
        return ngx_svc_health_send(r, NGX_SVC_PG_DOWN, 0);
    }

    h->request = r;
    h->timer.handler = ngx_svc_health_timeout;
    h->timer.data = h;
    h->timer.log = r->connection->log;

    ngx_add_timer(&h->timer, NGX_SVC_HEALTH_TIMEOUT);

    cln->handler = ngx_svc_health_cleanup;
    cln->data = h;

    r->main->count++;
    r->read_event_handler = ngx_http_test_reading;

    return NGX_DONE;
}


static void
ngx_svc_health_done(ngx_svc_pg_op_t *op)
{
    ngx_uint_t             read_only;
    ngx_connection_t      *c;
    ngx_svc_health_t      *h;
    ngx_http_request_t    *r;
    ngx_svc_pg_trouble_e   trouble;

    h = op->data;
    r = h->request;
    c = r->connection;

    /* the request may live on for a while, until all of it is sent */

    ngx_del_timer(&h->timer);

    trouble = NGX_SVC_PG_DOWN;
    read_only = 0;

    if (op->status == NGX_SVC_PG_OK) {
        trouble = ngx_svc_pg_trouble(NGX_SVC_PG_READ);
        read_only = ngx_strcmp(PQgetvalue(op->results[0], 0, 0), "on") == 0;
    }

    ngx_http_finalize_request(r, ngx_svc_health_send(r, trouble, read_only));
    ngx_http_run_posted_requests(c);
}


static void
ngx_svc_health_timeout(ngx_event_t *ev)
{
    ngx_connection_t    *c;
    ngx_svc_health_t    *h;
    ngx_http_request_t  *r;

    h = ev->data;
    r = h->request;
    c = r->connection;

    ngx_svc_pg_cancel(h->op);

    ngx_http_finalize_request(r, ngx_svc_health_send(r, NGX_SVC_PG_DOWN, 0));
    ngx_http_run_posted_requests(c);
}


static void
ngx_svc_health_cleanup(void *data)
{
    ngx_svc_health_t  *h = data;

    if (h->timer.timer_set) {
        ngx_del_timer(&h->timer);
    }

    ngx_svc_pg_cancel(h->op);
}


/* Both kinds of work must be possible. */

static ngx_svc_pg_trouble_e
ngx_svc_health_trouble(void)
{
    ngx_svc_pg_trouble_e  trouble;

    trouble = ngx_svc_pg_trouble(NGX_SVC_PG_READ);

    return ngx_svc_health_works(trouble)
           ? ngx_svc_pg_trouble(NGX_SVC_PG_WRITE) : trouble;
}


static ngx_int_t
ngx_svc_health_send(ngx_http_request_t *r, ngx_svc_pg_trouble_e trouble,
    ngx_uint_t read_only)
{
    u_char                      *p;
    ngx_buf_t                   *b;
    ngx_int_t                    rc;
    ngx_uint_t                   works;
    ngx_chain_t                  out;
    const ngx_svc_pg_trouble_t  *row;

    static ngx_str_t             no_store = ngx_string("no-store");

    static const ngx_svc_pg_trouble_t  standby = {
        "read-only", "PostgreSQL takes no writes: it may be a standby.", NULL
    };

    works = ngx_svc_health_works(trouble);
    row = (works && read_only) ? &standby : ngx_svc_pg_trouble_row(trouble);

    b = ngx_create_temp_buf(r->pool, NGX_SVC_HEALTH_SIZE);
    if (b == NULL || ngx_svc_add_header(r, "Cache-Control", &no_store)
                     != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    p = ngx_svc_health_text(b->last, b->end, row, works);

    b->last = p;
    b->last_buf = (r == r->main);
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    r->headers_out.status = works ? NGX_HTTP_OK
                                  : NGX_HTTP_SERVICE_UNAVAILABLE;
    r->headers_out.content_length_n = b->last - b->pos;
    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, &out);
}


/*
 * Without Redis everything but events works, and reads do on a PostgreSQL that
 * is read-only: "degraded" is still a 200, and so is a schema that is newer
 * than the modules, which there is during each upgrade.
 */

static u_char *
ngx_svc_health_text(u_char *p, u_char *last, const ngx_svc_pg_trouble_t *row,
    ngx_uint_t works)
{
    const char             *status;
    ngx_svc_redis_state_e   redis;

    static const char      *redis_states[] = { "off", "down", "up" };

    redis = ngx_svc_redis_state();

    if (!works) {
        status = "unavailable";

    } else if (redis == NGX_SVC_REDIS_DOWN
               || ngx_strcmp(row->state, "read-only") == 0)
    {
        status = "degraded";

    } else {
        status = "ok";
    }

    p = ngx_slprintf(p, last,
                     "{\"status\":\"%s\",\"postgres\":\"%s\","
                     "\"redis\":\"%s\"",
                     status, row->state, redis_states[redis]);

    if (row->message) {
        p = ngx_slprintf(p, last, ",\"message\":\"%s\"", row->message);
    }

    return ngx_slprintf(p, last, "}");
}
