/*
 * The metrics location: Prometheus' text format, version 0.0.4.
 */

#include "ngx_svc_metrics_text.h"
#include "ngx_svc_header.h"
#include "ngx_svc_metrics_samples.h"
#include "ngx_svc_metrics_store.h"


#define NGX_SVC_METRICS_BUFFER  16384
#define NGX_SVC_METRICS_LINE    512     /* bytes, at most */


typedef struct {
    ngx_pool_t    *pool;
    ngx_chain_t   *out;
    ngx_chain_t  **last;
    ngx_buf_t     *buf;
    size_t         size;
    ngx_uint_t     failed;              /* memory has run out */
} ngx_svc_metrics_text_t;


static ngx_int_t ngx_svc_metrics_send(ngx_http_request_t *r,
    ngx_svc_metrics_text_t *t);
static void ngx_svc_metrics_all(ngx_svc_metrics_text_t *t);
static void ngx_svc_metrics_requests(ngx_svc_metrics_text_t *t);
static void ngx_svc_metrics_request(ngx_svc_metrics_text_t *t,
    ngx_svc_metrics_route_t *route);
static void ngx_svc_metrics_durations(ngx_svc_metrics_text_t *t);
static void ngx_svc_metrics_duration(ngx_svc_metrics_text_t *t,
    ngx_svc_metrics_route_t *route);
static void ngx_svc_metrics_counters(ngx_svc_metrics_text_t *t);
static void ngx_svc_metrics_gauges(ngx_svc_metrics_text_t *t,
    ngx_uint_t *processes, ngx_uint_t (*sums)[NGX_SVC_G_GAUGES]);
static void ngx_svc_metrics_health(ngx_svc_metrics_text_t *t,
    ngx_uint_t *sums);
static void ngx_svc_metrics_totals(ngx_svc_metrics_text_t *t,
    ngx_uint_t (*sums)[NGX_SVC_G_GAUGES]);
static void ngx_svc_metrics_postgres(ngx_svc_metrics_text_t *t,
    ngx_uint_t (*sums)[NGX_SVC_G_GAUGES], ngx_uint_t from, ngx_uint_t to);
static void ngx_svc_metrics_head(ngx_svc_metrics_text_t *t, const char *name,
    const char *type, const char *help);
static void ngx_svc_metrics_line(ngx_svc_metrics_text_t *t, const char *fmt,
    ...);
static ngx_int_t ngx_svc_metrics_room(ngx_svc_metrics_text_t *t);


static const char *const  ngx_svc_metrics_processes[NGX_SVC_PROCESSES] = {
    "worker", "helper"
};

static const char *const  ngx_svc_metrics_pools[NGX_SVC_PG_NPOOLS] = {
    "read", "write", "slow"
};

static const char *const  ngx_svc_metrics_states[NGX_SVC_G_PG_EACH] = {
    "closed", "connecting", "ready", "in_flight", "waiting"
};


ngx_int_t
ngx_svc_metrics_handler(ngx_http_request_t *r)
{
    ngx_int_t               rc;
    ngx_svc_metrics_text_t  t;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    r->disable_not_modified = 1;

    ngx_memzero(&t, sizeof(ngx_svc_metrics_text_t));

    t.pool = r->pool;
    t.last = &t.out;

    ngx_svc_metrics_all(&t);

    if (t.failed) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_metrics_send(r, &t);
}


static ngx_int_t
ngx_svc_metrics_send(ngx_http_request_t *r, ngx_svc_metrics_text_t *t)
{
    ngx_int_t         rc;

    static ngx_str_t  no_store = ngx_string("no-store");

    if (ngx_svc_add_header(r, "Cache-Control", &no_store) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    t->buf->last_buf = (r == r->main);
    t->buf->last_in_chain = 1;

    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = t->size;
    ngx_str_set(&r->headers_out.content_type,
                "text/plain; version=0.0.4; charset=utf-8");
    r->headers_out.content_type_len = r->headers_out.content_type.len;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, t->out);
}


static void
ngx_svc_metrics_all(ngx_svc_metrics_text_t *t)
{
    ngx_uint_t  i, processes[NGX_SVC_PROCESSES],
                sums[NGX_SVC_PROCESSES][NGX_SVC_G_GAUGES];

    ngx_memzero(processes, sizeof(processes));
    ngx_memzero(sums, sizeof(sums));

    for (i = 0; i < NGX_SVC_PROCESSES; i++) {
        ngx_svc_metrics_sum(i, &processes[i], sums[i]);
    }

    ngx_svc_metrics_requests(t);
    ngx_svc_metrics_durations(t);
    ngx_svc_metrics_gauges(t, processes, sums);
    ngx_svc_metrics_health(t, sums[NGX_SVC_PROCESS_WORKER]);
    ngx_svc_metrics_totals(t, sums);
    ngx_svc_metrics_counters(t);
}


static void
ngx_svc_metrics_requests(ngx_svc_metrics_text_t *t)
{
    ngx_uint_t  i;

    ngx_svc_metrics_head(t, "svc_http_requests_total", "counter",
                         "Requests that were answered.");

    for (i = 0; i < ngx_svc_metrics->nroutes; i++) {
        ngx_svc_metrics_request(t, &ngx_svc_metrics->routes[i]);
    }
}


static void
ngx_svc_metrics_request(ngx_svc_metrics_text_t *t,
    ngx_svc_metrics_route_t *route)
{
    u_char      *p, status[NGX_INT_T_LEN + 1];
    ngx_uint_t   m, s, n;

    for (m = 0; m < NGX_SVC_METRICS_METHODS; m++) {
        for (s = 0; s < NGX_SVC_METRICS_STATUSES; s++) {

            n = route->requests[m][s];

            if (n == 0) {
                continue;
            }

            p = ngx_svc_metrics_statuses[s]
                ? ngx_sprintf(status, "%d", (int) ngx_svc_metrics_statuses[s])
                : ngx_sprintf(status, "other");
            *p = '\0';

            ngx_svc_metrics_line(t, "svc_http_requests_total{surface=\"%s\","
                                 "route=\"%s\",method=\"%s\",status=\"%s\"} "
                                 "%ui\n", route->surface, route->route,
                                 ngx_svc_metrics_methods[m], status, n);
        }
    }
}


static void
ngx_svc_metrics_durations(ngx_svc_metrics_text_t *t)
{
    ngx_uint_t  i;

    ngx_svc_metrics_head(t, "svc_http_request_duration_seconds", "histogram",
                         "From a request's first byte to its answer's last.");

    for (i = 0; i < ngx_svc_metrics->nroutes; i++) {
        ngx_svc_metrics_duration(t, &ngx_svc_metrics->routes[i]);
    }
}


static void
ngx_svc_metrics_duration(ngx_svc_metrics_text_t *t,
    ngx_svc_metrics_route_t *route)
{
    ngx_uint_t  i, n, ms, counts[NGX_SVC_METRICS_BUCKETS + 1];

    n = 0;

    for (i = 0; i < NGX_SVC_METRICS_BUCKETS + 1; i++) {
        n += route->buckets[i];
        counts[i] = n;
    }

    if (n == 0) {
        return;
    }

    for (i = 0; i < NGX_SVC_METRICS_BUCKETS; i++) {
        ms = ngx_svc_metrics_limits[i];
        ngx_svc_metrics_line(t, "svc_http_request_duration_seconds_bucket"
                             "{surface=\"%s\",route=\"%s\",le=\"%ui.%03ui\"} "
                             "%ui\n", route->surface, route->route, ms / 1000,
                             ms % 1000, counts[i]);
    }

    ngx_svc_metrics_line(t, "svc_http_request_duration_seconds_bucket"
                         "{surface=\"%s\",route=\"%s\",le=\"+Inf\"} %ui\n",
                         route->surface, route->route, n);

    ms = route->time;

    ngx_svc_metrics_line(t, "svc_http_request_duration_seconds_sum"
                         "{surface=\"%s\",route=\"%s\"} %ui.%03ui\n",
                         route->surface, route->route, ms / 1000, ms % 1000);

    ngx_svc_metrics_line(t, "svc_http_request_duration_seconds_count"
                         "{surface=\"%s\",route=\"%s\"} %ui\n",
                         route->surface, route->route, n);
}


static void
ngx_svc_metrics_counters(ngx_svc_metrics_text_t *t)
{
    const ngx_svc_metrics_sample_t  *s;

    for (s = ngx_svc_metrics_counter_samples; s->name; s++) {

        if (s->help) {
            ngx_svc_metrics_head(t, s->name, "counter", s->help);
        }

        ngx_svc_metrics_line(t, *s->labels ? "%s{%s} %ui\n" : "%s%s %ui\n",
                             s->name, s->labels,
                             ngx_svc_metrics->counters[s->index]);
    }
}


static void
ngx_svc_metrics_gauges(ngx_svc_metrics_text_t *t, ngx_uint_t *processes,
    ngx_uint_t (*sums)[NGX_SVC_G_GAUGES])
{
    ngx_uint_t  i;

    ngx_svc_metrics_head(t, "svc_processes", "gauge",
                         "Processes that are alive.");

    for (i = 0; i < NGX_SVC_PROCESSES; i++) {
        ngx_svc_metrics_line(t, "svc_processes{process=\"%s\"} %ui\n",
                             ngx_svc_metrics_processes[i], processes[i]);
    }

    ngx_svc_metrics_head(t, "svc_postgres_connections", "gauge",
                         "Connections to PostgreSQL.");
    ngx_svc_metrics_postgres(t, sums, NGX_SVC_G_PG_CLOSED,
                             NGX_SVC_G_PG_READY);

    ngx_svc_metrics_head(t, "svc_postgres_requests", "gauge",
                         "Requests that PostgreSQL works on, or that wait for "
                         "a connection.");
    ngx_svc_metrics_postgres(t, sums, NGX_SVC_G_PG_IN_FLIGHT,
                             NGX_SVC_G_PG_WAITING);

    ngx_svc_metrics_head(t, "svc_redis_processes", "gauge",
                         "Processes, by whether they are connected to Redis.");

    for (i = 0; i < NGX_SVC_PROCESSES; i++) {
        ngx_svc_metrics_line(t, "svc_redis_processes{process=\"%s\","
                             "state=\"up\"} %ui\n",
                             ngx_svc_metrics_processes[i],
                             sums[i][NGX_SVC_G_REDIS_UP]);
        ngx_svc_metrics_line(t, "svc_redis_processes{process=\"%s\","
                             "state=\"down\"} %ui\n",
                             ngx_svc_metrics_processes[i],
                             sums[i][NGX_SVC_G_REDIS_DOWN]);
    }
}


static void
ngx_svc_metrics_health(ngx_svc_metrics_text_t *t, ngx_uint_t *sums)
{
    ngx_uint_t  i;

    static const struct {
        const char       *of;
        const char       *state;
        ngx_svc_gauge_e   gauge;
    } samples[] = {
        { "reads", "up", NGX_SVC_G_READS_UP },
        { "reads", "down", NGX_SVC_G_READS_DOWN },
        { "writes", "up", NGX_SVC_G_WRITES_UP },
        { "writes", "down", NGX_SVC_G_WRITES_DOWN }
    };

    ngx_svc_metrics_head(t, "svc_health_workers", "gauge",
                         "Workers that were asked for their health, by their "
                         "last result.");

    for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        ngx_svc_metrics_line(t, "svc_health_workers{of=\"%s\",state=\"%s\"} "
                             "%ui\n", samples[i].of, samples[i].state,
                             sums[samples[i].gauge]);
    }
}


static void
ngx_svc_metrics_totals(ngx_svc_metrics_text_t *t,
    ngx_uint_t (*sums)[NGX_SVC_G_GAUGES])
{
    ngx_uint_t                       i, n;
    const ngx_svc_metrics_sample_t  *s;

    ngx_svc_metrics_head(t, "svc_schema_version", "gauge",
                         "Version of the database's schema; 0: not known yet.");
    ngx_svc_metrics_line(t, "svc_schema_version %ui\n",
                         sums[NGX_SVC_PROCESS_WORKER][NGX_SVC_G_SCHEMA]);

    ngx_svc_metrics_head(t, "svc_schema_version_required", "gauge",
                         "Version of the schema that the modules need.");
    ngx_svc_metrics_line(t, "svc_schema_version_required %d\n",
                         NGX_SVC_PG_SCHEMA);

    for (s = ngx_svc_metrics_gauge_samples; s->name; s++) {

        for (i = 0, n = 0; i < NGX_SVC_PROCESSES; i++) {
            n += sums[i][s->index];
        }

        ngx_svc_metrics_head(t, s->name, "gauge", s->help);
        ngx_svc_metrics_line(t, "%s %ui\n", s->name, n);
    }
}


static void
ngx_svc_metrics_postgres(ngx_svc_metrics_text_t *t,
    ngx_uint_t (*sums)[NGX_SVC_G_GAUGES], ngx_uint_t from, ngx_uint_t to)
{
    ngx_uint_t   i, pool, state;
    const char  *name;

    name = (from == NGX_SVC_G_PG_CLOSED) ? "connections" : "requests";

    for (i = 0; i < NGX_SVC_PROCESSES; i++) {
        for (pool = 0; pool < NGX_SVC_PG_NPOOLS; pool++) {
            for (state = from; state <= to; state++) {
                ngx_svc_metrics_line(t, "svc_postgres_%s{process=\"%s\","
                                     "pool=\"%s\",state=\"%s\"} %ui\n",
                                     name, ngx_svc_metrics_processes[i],
                                     ngx_svc_metrics_pools[pool],
                                     ngx_svc_metrics_states[state],
                                     sums[i][ngx_svc_gauge_pg(pool, state)]);
            }
        }
    }
}


static void
ngx_svc_metrics_head(ngx_svc_metrics_text_t *t, const char *name,
    const char *type, const char *help)
{
    ngx_svc_metrics_line(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
                         type);
}


static void
ngx_svc_metrics_line(ngx_svc_metrics_text_t *t, const char *fmt, ...)
{
    u_char   *last;
    va_list   args;

    if (ngx_svc_metrics_room(t) != NGX_OK) {
        t->failed = 1;
        return;
    }

    va_start(args, fmt);
    last = ngx_vslprintf(t->buf->last, t->buf->last + NGX_SVC_METRICS_LINE,
                         fmt, args);
    va_end(args);

    t->size += last - t->buf->last;
    t->buf->last = last;
}


static ngx_int_t
ngx_svc_metrics_room(ngx_svc_metrics_text_t *t)
{
    ngx_chain_t  *cl;

    if (t->buf && t->buf->end - t->buf->last >= NGX_SVC_METRICS_LINE) {
        return NGX_OK;
    }

    cl = ngx_alloc_chain_link(t->pool);
    if (cl == NULL) {
        return NGX_ERROR;
    }

    cl->buf = ngx_create_temp_buf(t->pool, NGX_SVC_METRICS_BUFFER);
    if (cl->buf == NULL) {
        return NGX_ERROR;
    }

    cl->next = NULL;

    *t->last = cl;
    t->last = &cl->next;
    t->buf = cl->buf;

    return NGX_OK;
}
