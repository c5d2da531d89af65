/*
 * The health location, for load balancers and operators.
 */

#include "ngx_svc_health.h"
#include "ngx_svc_health_check.h"
#include "ngx_svc_header.h"


#define NGX_SVC_HEALTH_SIZE     512     /* bytes of an answer, at most */


/* A request that waits for a check to end. */

typedef struct {
    ngx_queue_t          queue;
    ngx_http_request_t  *request;
    ngx_event_t          timer;
    unsigned             waiting:1;
} ngx_svc_health_t;


static ngx_int_t ngx_svc_health_wait(ngx_http_request_t *r);
static void ngx_svc_health_ended(void);
static void ngx_svc_health_timeout(ngx_event_t *ev);
static void ngx_svc_health_answer(ngx_svc_health_t *h);
static void ngx_svc_health_cleanup(void *data);
static ngx_int_t ngx_svc_health_send(ngx_http_request_t *r);
static ngx_uint_t ngx_svc_health_works(ngx_http_request_t *r,
    ngx_svc_health_report_t *report);
static const ngx_svc_pg_trouble_t *ngx_svc_health_row(
    ngx_svc_health_report_t *report);
static u_char *ngx_svc_health_text(u_char *p, u_char *last,
    ngx_svc_health_report_t *report);


static ngx_queue_t  ngx_svc_health_requests;


void
ngx_svc_health_init(void)
{
    ngx_queue_init(&ngx_svc_health_requests);
    ngx_svc_health_on_known(ngx_svc_health_ended);
}


ngx_int_t
ngx_svc_health_handler(ngx_http_request_t *r)
{
    ngx_int_t  rc;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    r->disable_not_modified = 1;

    ngx_svc_health_check();

    return ngx_svc_health_known() ? ngx_svc_health_send(r)
                                  : ngx_svc_health_wait(r);
}


static ngx_int_t
ngx_svc_health_wait(ngx_http_request_t *r)
{
    ngx_svc_health_t    *h;
    ngx_http_cleanup_t  *cln;

    h = ngx_pcalloc(r->pool, sizeof(ngx_svc_health_t));
    cln = ngx_http_cleanup_add(r, 0);
    if (h == NULL || cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    h->request = r;
    h->timer.handler = ngx_svc_health_timeout;
    h->timer.data = h;
    h->timer.log = r->connection->log;

    ngx_add_timer(&h->timer, NGX_SVC_HEALTH_TIMEOUT);
    ngx_queue_insert_tail(&ngx_svc_health_requests, &h->queue);
    h->waiting = 1;

    cln->handler = ngx_svc_health_cleanup;
    cln->data = h;

    r->main->count++;
    r->read_event_handler = ngx_http_test_reading;

    return NGX_DONE;
}


/* Answers all requests: they have waited for the same checks. */

static void
ngx_svc_health_ended(void)
{
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&ngx_svc_health_requests)
           && ngx_svc_health_known())
    {
        q = ngx_queue_head(&ngx_svc_health_requests);
        ngx_svc_health_answer(ngx_queue_data(q, ngx_svc_health_t, queue));
    }
}


static void
ngx_svc_health_timeout(ngx_event_t *ev)
{
    ngx_svc_health_answer(ev->data);
}


static void
ngx_svc_health_answer(ngx_svc_health_t *h)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = h->request;
    c = r->connection;

    /* the request may live on for a while, until all of the answer is sent */

    ngx_svc_health_cleanup(h);

    ngx_http_finalize_request(r, ngx_svc_health_send(r));
    ngx_http_run_posted_requests(c);
}


static void
ngx_svc_health_cleanup(void *data)
{
    ngx_svc_health_t  *h = data;

    if (h->waiting) {
        h->waiting = 0;
        ngx_queue_remove(&h->queue);
    }

    if (h->timer.timer_set) {
        ngx_del_timer(&h->timer);
    }
}


static ngx_int_t
ngx_svc_health_send(ngx_http_request_t *r)
{
    ngx_buf_t                *b;
    ngx_int_t                 rc;
    ngx_chain_t               out;
    ngx_svc_health_report_t   report;

    static ngx_str_t          no_store = ngx_string("no-store");

    ngx_svc_health_report(&report);

    b = ngx_create_temp_buf(r->pool, NGX_SVC_HEALTH_SIZE);
    if (b == NULL || ngx_svc_add_header(r, "Cache-Control", &no_store)
                     != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b->last = ngx_svc_health_text(b->last, b->end, &report);
    b->last_buf = (r == r->main);
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    r->headers_out.status = ngx_svc_health_works(r, &report)
                            ? NGX_HTTP_OK : NGX_HTTP_SERVICE_UNAVAILABLE;
    r->headers_out.content_length_n = b->last - b->pos;
    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, &out);
}


/* Reads must work, and also writes where the location is about them. */

static ngx_uint_t
ngx_svc_health_works(ngx_http_request_t *r, ngx_svc_health_report_t *report)
{
    ngx_svc_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_svc_common_module);

    return report->reads == NGX_SVC_HEALTH_UP
           && (!slcf->health_writes || report->writes == NGX_SVC_HEALTH_UP);
}


static const ngx_svc_pg_trouble_t *
ngx_svc_health_row(ngx_svc_health_report_t *report)
{
    ngx_uint_t  connected;

    static const ngx_svc_pg_trouble_t  standby = {
        "read-only", "PostgreSQL takes no writes: it may be a standby.", NULL
    };

    static const ngx_svc_pg_trouble_t  stuck = {
        "no-commits",
        "PostgreSQL answers reads, but no write ends: a synchronous standby "
        "may be missing.", NULL
    };

    static const ngx_svc_pg_trouble_t  full = {
        "disk-full",
        "PostgreSQL's disk is full: reads work, and most writes do not.", NULL
    };

    connected = (report->trouble == NGX_SVC_PG_UP
                 || report->trouble == NGX_SVC_PG_SCHEMA_NEW);

    if (!connected) {
        return ngx_svc_pg_trouble_row(report->trouble);
    }

    if (report->reads == NGX_SVC_HEALTH_DOWN) {
        return ngx_svc_pg_trouble_row(NGX_SVC_PG_DOWN);
    }

    switch (report->writes) {

    case NGX_SVC_HEALTH_READ_ONLY:
        return &standby;

    case NGX_SVC_HEALTH_FULL:
        return &full;

    case NGX_SVC_HEALTH_DOWN:
        return &stuck;

    default: /* NGX_SVC_HEALTH_UP */
        return ngx_svc_pg_trouble_row(report->trouble);
    }
}


/*
 * The status is "degraded" when only a part works: without Redis all but
 * events, without writes the reads, without a key what is not sealed under it.
 * A schema that is newer than the modules does not degrade it: each upgrade has
 * that for a while.
 */

static u_char *
ngx_svc_health_text(u_char *p, u_char *last, ngx_svc_health_report_t *report)
{
    const char                  *status, *message;
    ngx_svc_redis_state_e        redis;
    const ngx_svc_pg_trouble_t  *row;

    static const char  *redis_states[] = { "off", "down", "up" };
    static const char  *keys_states[] = {
        "off", "unknown", "missing", "ok"
    };
    static const char  *states[] = { "down", "read-only", "down", "up" };

    redis = ngx_svc_redis_state();
    row = ngx_svc_health_row(report);

    if (report->reads != NGX_SVC_HEALTH_UP) {
        status = "unavailable";

    } else if (redis == NGX_SVC_REDIS_DOWN
               || report->writes != NGX_SVC_HEALTH_UP
               || report->keys == NGX_SVC_KEYS_MISSING)
    {
        status = "degraded";

    } else {
        status = "ok";
    }

    p = ngx_slprintf(p, last,
                     "{\"status\":\"%s\",\"postgres\":\"%s\","
                     "\"redis\":\"%s\",\"reads\":\"%s\",\"writes\":\"%s\","
                     "\"keys\":\"%s\"",
                     status, row->state, redis_states[redis],
                     states[report->reads], states[report->writes],
                     keys_states[report->keys]);

    message = row->message;

    if (message == NULL && report->keys == NGX_SVC_KEYS_MISSING) {
        message = "Secrets are sealed under a key that svc_key_file lacks: the "
                  "error log names it.";
    }

    if (message) {
        p = ngx_slprintf(p, last, ",\"message\":\"%s\"", message);
    }

    return ngx_slprintf(p, last, "}");
}
