/*
 * The health location: what the balancer and the operator ask.
 */

#include "ngx_svc_request.h"


#define NGX_SVC_HEALTH_TIMEOUT  1000    /* ms */


typedef enum {
    NGX_SVC_HEALTH_DOWN = 0,
    NGX_SVC_HEALTH_READ_ONLY,
    NGX_SVC_HEALTH_UP
} ngx_svc_health_e;


typedef struct {
    ngx_http_request_t  *request;
    ngx_svc_pg_op_t     *op;
    ngx_event_t          timer;
} ngx_svc_health_t;


static void ngx_svc_health_done(ngx_svc_pg_op_t *op);
static void ngx_svc_health_timeout(ngx_event_t *ev);
static void ngx_svc_health_cleanup(void *data);
static ngx_int_t ngx_svc_health_send(ngx_http_request_t *r,
    ngx_svc_health_e postgres);


const ngx_svc_pg_statement_t  ngx_svc_health_statements[] = {
    { "health", "SELECT current_setting('transaction_read_only')", 0 },
    { NULL, NULL, 0 }
};


/* A connection that is open says little: PostgreSQL must answer on it. */

ngx_int_t
ngx_svc_health_handler(ngx_http_request_t *r)
{
    ngx_int_t            rc;
    ngx_svc_health_t    *h;
    ngx_http_cleanup_t  *cln;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    r->disable_not_modified = 1;

    if (!ngx_svc_pg_ready(NGX_SVC_PG_READ)
        || !ngx_svc_pg_ready(NGX_SVC_PG_WRITE))
    {
        return ngx_svc_health_send(r, NGX_SVC_HEALTH_DOWN);
    }

    h = ngx_pcalloc(r->pool, sizeof(ngx_svc_health_t));
    cln = ngx_http_cleanup_add(r, 0);
    if (h == NULL || cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    h->op = ngx_svc_pg_op_create(r->pool, NGX_SVC_PG_READ,
                                 ngx_svc_health_done, h);
    if (h->op == NULL
        || ngx_svc_pg_call(h->op, &ngx_svc_health_statements[0]) == NULL)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ngx_svc_pg_submit(h->op) != NGX_OK) {
        return ngx_svc_health_send(r, NGX_SVC_HEALTH_DOWN);
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
    ngx_connection_t    *c;
    ngx_svc_health_e     postgres;
    ngx_svc_health_t    *h;
    ngx_http_request_t  *r;

    h = op->data;
    r = h->request;
    c = r->connection;

    /* the request may live on for a while, until all of it is sent */

    ngx_del_timer(&h->timer);

    postgres = NGX_SVC_HEALTH_DOWN;

    if (op->status == NGX_SVC_PG_OK) {
        postgres = ngx_strcmp(PQgetvalue(op->results[0], 0, 0), "on") == 0
                   ? NGX_SVC_HEALTH_READ_ONLY : NGX_SVC_HEALTH_UP;
    }

    ngx_http_finalize_request(r, ngx_svc_health_send(r, postgres));
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

    ngx_http_finalize_request(r, ngx_svc_health_send(r, NGX_SVC_HEALTH_DOWN));
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


/*
 * Without Redis everything but events works, and reads do on a PostgreSQL that
 * is read-only: "degraded" is still a 200.
 */

static ngx_int_t
ngx_svc_health_send(ngx_http_request_t *r, ngx_svc_health_e postgres)
{
    u_char                 *p;
    size_t                  len;
    ngx_buf_t              *b;
    ngx_int_t               rc;
    ngx_chain_t             out;
    ngx_svc_redis_state_e   redis;

    static ngx_str_t        no_store = ngx_string("no-store");
    static const char      *redis_states[] = { "off", "down", "up" };
    static const char      *postgres_states[] = { "down", "read-only", "up" };

    redis = ngx_svc_redis_state();

    len = sizeof("{\"status\":\"unavailable\",\"postgres\":\"read-only\","
                 "\"redis\":\"down\"}");

    b = ngx_create_temp_buf(r->pool, len);
    if (b == NULL || ngx_svc_add_header(r, "Cache-Control", &no_store)
                     != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    p = ngx_sprintf(b->last,
                    "{\"status\":\"%s\",\"postgres\":\"%s\",\"redis\":\"%s\"}",
                    postgres == NGX_SVC_HEALTH_DOWN ? "unavailable"
                    : postgres == NGX_SVC_HEALTH_READ_ONLY
                      || redis == NGX_SVC_REDIS_DOWN ? "degraded" : "ok",
                    postgres_states[postgres], redis_states[redis]);

    b->last = p;
    b->last_buf = (r == r->main);
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    r->headers_out.status = (postgres == NGX_SVC_HEALTH_DOWN)
                            ? NGX_HTTP_SERVICE_UNAVAILABLE : NGX_HTTP_OK;
    r->headers_out.content_length_n = b->last - b->pos;
    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, &out);
}
