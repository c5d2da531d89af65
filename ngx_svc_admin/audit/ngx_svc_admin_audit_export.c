/*
 * /v1/admin/audit/export: first its audit event, then page after page.
 */

#include "ngx_svc_admin_audit.h"


#define NGX_SVC_ADMIN_EXPORT_MAX    10000   /* events */
#define NGX_SVC_ADMIN_EXPORT_PAGE   1000
#define NGX_SVC_ADMIN_EXPORT_EVENT  512     /* bytes, first guess */
#define NGX_SVC_ADMIN_EXPORT_PAUSE  250     /* ms, when the database is busy */
#define NGX_SVC_ADMIN_EXPORT_TRIES  40

#define NGX_SVC_ADMIN_EXPORT_KEY    64      /* bytes of a time or an id */


/* sr->data */

typedef struct {
    ngx_svc_stream_t              stream;
    ngx_svc_admin_audit_filter_t  filter;
    ngx_str_t                     slug;
    ngx_event_t                   pause;
    ngx_uint_t                    tries;
    ngx_uint_t                    csv;          /* 1: CSV; 0: JSON */
    ngx_str_t                     format;       /* the name of the format */
    ngx_uint_t                    written;      /* events so far */
    ngx_str_t                     truncated;    /* "true" or "false" */

    /* the last event that was written; at first a place before all */
    ngx_str_t                     created;
    ngx_str_t                     id;
    u_char                        created_text[NGX_SVC_ADMIN_EXPORT_KEY];
    u_char                        id_text[NGX_SVC_ADMIN_EXPORT_KEY];
} ngx_svc_admin_export_t;


static ngx_int_t ngx_svc_admin_export_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_export_reply(ngx_svc_request_t *sr);
static void ngx_svc_admin_export_cleanup(void *data);
static ngx_int_t ngx_svc_admin_export_audit(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_export_audited(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_export_open(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_export_headers(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_export_next(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_export_page(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_export_bind_limit(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_export_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_export_json(ngx_svc_admin_export_t *ex,
    PGresult *res, ngx_uint_t end);
static ngx_int_t ngx_svc_admin_export_csv(ngx_svc_admin_export_t *ex,
    PGresult *res, ngx_uint_t end);
static ngx_int_t ngx_svc_admin_export_failed(ngx_svc_request_t *sr);
static void ngx_svc_admin_export_resume(ngx_event_t *ev);


static const char *const  ngx_svc_admin_export_formats[] = {
    "json", "csv", NULL
};


#include "ngx_svc_admin_audit_export.sql.h"


const ngx_svc_route_t  ngx_svc_admin_audit_export[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/audit/export"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .check = ngx_svc_admin_export_check,
      .statements = { &ngx_svc_sql_admin_audit_export_count },
      .reply = ngx_svc_admin_export_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_export_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t                rc, n;
    ngx_http_cleanup_t      *cln;
    ngx_svc_admin_export_t  *ex;

    ex = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_export_t));
    cln = ngx_http_cleanup_add(sr->request, 0);
    if (ex == NULL || cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_svc_admin_export_cleanup;
    cln->data = ex;

    rc = ngx_svc_word_argument(sr, "format", ngx_svc_admin_export_formats, &n);
    if (rc != NGX_OK) {
        return rc;
    }

    n = ngx_max(n, 0);

    ex->csv = (n == 1);
    ex->format.data = (u_char *) ngx_svc_admin_export_formats[n];
    ex->format.len = ngx_strlen(ngx_svc_admin_export_formats[n]);
    ex->stream.taken = ngx_svc_admin_export_next;

    sr->data = ex;

    return ngx_svc_admin_audit_search(sr, &ex->filter);
}


static void
ngx_svc_admin_export_cleanup(void *data)
{
    ngx_svc_admin_export_t  *ex = data;

    if (ex->pause.timer_set) {
        ngx_del_timer(&ex->pause);
    }
}


static ngx_int_t
ngx_svc_admin_export_reply(ngx_svc_request_t *sr)
{
    PGresult                                *res;
    ngx_svc_admin_export_t                  *ex;
    ngx_svc_row_admin_audit_export_count_t   row;

    ex = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_admin_audit_export_count);

    if (PQntuples(res) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_row_admin_audit_export_count(&row, res, 0);

    ex->slug.len = row.slug.len;
    ex->slug.data = ngx_pstrdup(sr->request->pool, &row.slug);
    if (ex->slug.data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_row_copy(&ex->created, ex->created_text, NGX_SVC_ADMIN_EXPORT_KEY,
                     &row.created_at);
    ngx_svc_row_copy(&ex->id, ex->id_text, NGX_SVC_ADMIN_EXPORT_KEY, &row.id);

    if (row.truncated) {
        ngx_str_set(&ex->truncated, "true");

    } else {
        ngx_str_set(&ex->truncated, "false");
    }

    if (sr->request->method == NGX_HTTP_HEAD) {
        return ngx_svc_admin_export_open(sr);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_admin_export_audit,
                                 ngx_svc_admin_export_audited);
}


static ngx_int_t
ngx_svc_admin_export_audit(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_audit_export_audit, NULL);
}


static ngx_int_t
ngx_svc_admin_export_audited(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_admin_export_t  *ex;

    ex = sr->data;

    rc = ngx_svc_admin_export_open(sr);

    if (rc != NGX_OK || sr->request->header_only) {
        return rc;
    }

    if (ex->id.len == 0) {
        return ex->csv ? ngx_svc_admin_export_csv(ex, NULL, 1)
                       : ngx_svc_admin_export_json(ex, NULL, 1);
    }

    return ngx_svc_admin_export_next(sr);
}


static ngx_int_t
ngx_svc_admin_export_open(ngx_svc_request_t *sr)
{
    ngx_svc_admin_export_t  *ex;

    static ngx_str_t         csv = ngx_string("text/csv; charset=utf-8");
    static ngx_str_t         no_store = ngx_string("no-store");

    ex = sr->data;

    if (ngx_svc_add_header(sr->request, "Cache-Control", &no_store) != NGX_OK
        || (ex->csv && ngx_svc_admin_export_headers(sr) != NGX_OK))
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_stream_open(&ex->stream, sr,
                               ex->csv ? &csv
                                       : (ngx_str_t *)
                                         &sr->surface->content_type,
                               ngx_svc_admin_export_failed);
}


static ngx_int_t
ngx_svc_admin_export_headers(ngx_svc_request_t *sr)
{
    u_char                  *p;
    ngx_tm_t                 tm;
    ngx_str_t                value;
    ngx_svc_admin_export_t  *ex;

    ex = sr->data;

    p = ngx_pnalloc(sr->request->pool, ex->slug.len
                    + sizeof("attachment; filename=\"audit--00000000.csv\""));
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_gmtime(ngx_time(), &tm);

    value.data = p;
    value.len = ngx_sprintf(p, "attachment; filename=\"audit-%V-%04d%02d%02d"
                            ".csv\"", &ex->slug, tm.ngx_tm_year,
                            tm.ngx_tm_mon, tm.ngx_tm_mday)
                - p;

    if (ngx_svc_add_header(sr->request, "Content-Disposition", &value)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_add_header(sr->request, "X-Truncated", &ex->truncated);
}


static ngx_int_t
ngx_svc_admin_export_next(ngx_svc_request_t *sr)
{
    ngx_svc_admin_export_t  *ex;

    ex = sr->data;

    return ngx_svc_stream_again(&ex->stream,
                                ngx_svc_admin_audit_pool(&ex->filter),
                                ngx_svc_admin_export_page,
                                ngx_svc_admin_export_write);
}


static ngx_int_t
ngx_svc_admin_export_page(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_audit_export_page, NULL);
}


static ngx_int_t
ngx_svc_admin_export_bind_limit(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_export_t  *ex;

    ex = sr->data;

    return ngx_svc_pg_bind_int(sr->op, call,
                               ngx_min(NGX_SVC_ADMIN_EXPORT_MAX - ex->written,
                                       NGX_SVC_ADMIN_EXPORT_PAGE));
}


static ngx_int_t
ngx_svc_admin_export_write(ngx_svc_request_t *sr)
{
    int                                     n;
    PGresult                               *res;
    ngx_uint_t                              end;
    ngx_svc_admin_export_t                 *ex;
    ngx_svc_row_admin_audit_export_page_t   last;

    ex = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_admin_audit_export_page);
    n = PQntuples(res);

    ex->tries = 0;

    if (n) {
        ngx_svc_row_admin_audit_export_page(&last, res, n - 1);

        ngx_svc_row_copy(&ex->created, ex->created_text,
                         NGX_SVC_ADMIN_EXPORT_KEY, &last.created_at);
        ngx_svc_row_copy(&ex->id, ex->id_text, NGX_SVC_ADMIN_EXPORT_KEY,
                         &last.id);
    }

    end = n < NGX_SVC_ADMIN_EXPORT_PAGE
          || ex->written + n >= NGX_SVC_ADMIN_EXPORT_MAX;

    return ex->csv ? ngx_svc_admin_export_csv(ex, res, end)
                   : ngx_svc_admin_export_json(ex, res, end);
}


static ngx_int_t
ngx_svc_admin_export_json(ngx_svc_admin_export_t *ex, PGresult *res,
    ngx_uint_t end)
{
    int                    i, n;
    ngx_svc_row_t          columns;
    ngx_svc_json_writer_t  w;

    n = res ? PQntuples(res) : 0;

    (void) ngx_svc_json_writer_init(&w, ex->stream.pool,
                                    64 + n * NGX_SVC_ADMIN_EXPORT_EVENT);

    if (ex->written == 0) {
        ngx_svc_json_open(&w, NULL, '{');
        ngx_svc_json_open(&w, "events", '[');
    }

    w.comma = ex->written > 0;

    if (n) {
        ngx_svc_row_init(&columns, res);
    }

    for (i = 0; i < n; i++) {
        ngx_svc_row_object(&w, &columns, i);
    }

    ex->written += n;

    if (end) {
        ngx_svc_json_close(&w, ']');
        ngx_svc_json_integer(&w, "count", ex->written);
        ngx_svc_json_raw(&w, "truncated", ex->truncated.data,
                         ex->truncated.len);
        ngx_svc_json_close(&w, '}');
    }

    if (w.failed) {
        return NGX_ERROR;
    }

    return ngx_svc_stream_send(&ex->stream, w.start, w.last, end);
}


static ngx_int_t
ngx_svc_admin_export_csv(ngx_svc_admin_export_t *ex, PGresult *res,
    ngx_uint_t end)
{
    size_t   size;
    u_char  *p, *start;

    size = ngx_svc_admin_audit_csv_header.len
           + (res ? ngx_svc_admin_audit_csv_size(res) : 0);

    start = ngx_pnalloc(ex->stream.pool, size);
    if (start == NULL) {
        return NGX_ERROR;
    }

    p = start;

    if (ex->written == 0) {
        p = ngx_cpymem(p, ngx_svc_admin_audit_csv_header.data,
                       ngx_svc_admin_audit_csv_header.len);
    }

    if (res) {
        p = ngx_svc_admin_audit_csv(p, res);
        ex->written += PQntuples(res);
    }

    return ngx_svc_stream_send(&ex->stream, start, p, end);
}


/*
 * Closing without the last chunk tells the client that the export is not
 * complete.  A busy database is no reason to close: we ask it again.
 */

static ngx_int_t
ngx_svc_admin_export_failed(ngx_svc_request_t *sr)
{
    ngx_svc_admin_export_t  *ex;

    ex = sr->data;

    if (sr->error.kind != NGX_SVC_E_UNAVAILABLE
        || (sr->op->status != NGX_SVC_PG_BUSY
            && sr->op->status != NGX_SVC_PG_OK)
        || ex->tries++ == NGX_SVC_ADMIN_EXPORT_TRIES)
    {
        return NGX_ERROR;
    }

    sr->error.kind = NGX_SVC_E_NONE;

    ex->pause.handler = ngx_svc_admin_export_resume;
    ex->pause.data = sr;
    ex->pause.log = sr->request->connection->log;

    ngx_add_timer(&ex->pause, NGX_SVC_ADMIN_EXPORT_PAUSE);

    return ngx_svc_stream_hold(&ex->stream);
}


static void
ngx_svc_admin_export_resume(ngx_event_t *ev)
{
    ngx_svc_request_t  *sr;

    sr = ev->data;

    ngx_svc_stream_finalize(sr, ngx_svc_admin_export_next(sr));
}
