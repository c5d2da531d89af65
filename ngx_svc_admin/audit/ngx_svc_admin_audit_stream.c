/*
 * /v1/admin/audit/stream: takes a lease, finds where to begin, and closes.
 */

#include "ngx_svc_admin_audit_follow.h"
#include "ngx_svc_metrics.h"


#define NGX_SVC_ADMIN_STREAM_OPENING  2000   /* ms, until the lease is
                                                written */
#define NGX_SVC_ADMIN_STREAM_MAX     10      /* a tenant's streams */
#define NGX_SVC_ADMIN_STREAM_REPLAY  1000    /* events */
#define NGX_SVC_ADMIN_STREAM_WINDOW  100000  /* events to be looked at */
#define NGX_SVC_ADMIN_STREAM_DIGITS  64      /* in a Last-Event-ID */


/*
 * Allocated from a pool of its own.  The event waits while the lease may not be
 * written yet.
 */

typedef struct {
    ngx_svc_pg_op_t  *op;
    ngx_event_t       event;
} ngx_svc_admin_close_t;


static ngx_int_t ngx_svc_admin_stream_check(ngx_svc_request_t *sr, void *body);
static void ngx_svc_admin_stream_committed(const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_admin_stream_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_stream_from(ngx_svc_request_t *sr,
    ngx_str_t *from);
static ngx_int_t ngx_svc_admin_stream_now(ngx_svc_request_t *sr,
    PGresult *res);
static ngx_int_t ngx_svc_admin_stream_resume_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_stream_resume_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_stream_snapshot(ngx_svc_admin_follow_t *f,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_admin_stream_begin(ngx_svc_request_t *sr);
static void ngx_svc_admin_stream_cleanup(void *data);
static void ngx_svc_admin_stream_close(ngx_svc_admin_follow_t *f);
static ngx_int_t ngx_svc_admin_stream_close_op(ngx_svc_admin_follow_t *f,
    ngx_svc_admin_close_t *close, ngx_pool_t *pool);
static void ngx_svc_admin_stream_close_now(ngx_event_t *ev);
static void ngx_svc_admin_stream_closed(ngx_svc_pg_op_t *op);


#include "ngx_svc_admin_audit_stream.sql.h"


const ngx_svc_route_t  ngx_svc_admin_audit_stream[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/audit/stream"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .check = ngx_svc_admin_stream_check,
      .statements = { &ngx_svc_sql_admin_audit_stream_lock,
                      &ngx_svc_sql_admin_audit_stream_open },
      .committed = ngx_svc_admin_stream_committed,
      .reply = ngx_svc_admin_stream_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_stream_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t                rc;
    ngx_http_cleanup_t      *cln;
    ngx_svc_admin_follow_t  *f;

    f = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_follow_t));
    cln = ngx_http_cleanup_add(sr->request, 0);
    if (f == NULL || cln == NULL) {
        return NGX_ERROR;
    }

    f->sr = sr;
    f->stream.taken = ngx_svc_admin_follow_next;
    f->lease.data = f->lease_id;
    f->lease.len = NGX_SVC_UUID_LEN;

    cln->handler = ngx_svc_admin_stream_cleanup;
    cln->data = f;

    sr->data = f;

    rc = ngx_svc_admin_audit_filter(sr, &f->filter);

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_stream_from(sr, &f->from);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    sr->resumed = f->from.len > 0;
    f->opening = 1;

    return ngx_svc_uuid_new(f->lease_id);
}


/* The header wins over the argument; if it is empty it counts as absent. */

static ngx_int_t
ngx_svc_admin_stream_from(ngx_svc_request_t *sr, ngx_str_t *from)
{
    ngx_int_t         rc;
    ngx_uint_t        i;
    ngx_table_elt_t  *h;

    rc = ngx_svc_argument(sr, "lastEventId", from);
    if (rc != NGX_OK) {
        return rc;
    }

    h = ngx_svc_header_in(sr->request, "Last-Event-ID",
                          sizeof("Last-Event-ID") - 1, NULL);

    if (h && h->value.len) {
        *from = h->value;
    }

    for (i = 0; i < from->len; i++) {
        if (from->data[i] < '0' || from->data[i] > '9'
            || i == NGX_SVC_ADMIN_STREAM_DIGITS)
        {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                                "The last event's id must be a number such as "
                                "\"184467\".");
        }
    }

    return NGX_OK;
}


/* A lease is no news for the followers; the audit event of a refused one is. */

static void
ngx_svc_admin_stream_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_row_admin_audit_stream_open_t  row;

    ngx_svc_row_admin_audit_stream_open(&row,
            ngx_svc_pg_result(results, &ngx_svc_sql_admin_audit_stream_open),
            0);

    if (row.audited) {
        ngx_svc_request_committed(results);
    }
}


static ngx_int_t
ngx_svc_admin_stream_reply(ngx_svc_request_t *sr)
{
    ngx_str_t                tenant;
    ngx_svc_admin_follow_t  *f;

    static const ngx_str_t   none = ngx_string("-1");

    f = sr->data;

    f->opening = 0;

    tenant = ngx_svc_auth_tenant(sr->op->results);

    f->tenant.len = tenant.len;
    f->tenant.data = ngx_pstrdup(sr->request->pool, &tenant);
    if (f->tenant.data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    f->leased = 1;
    ngx_svc_gauge_add(NGX_SVC_G_STREAMS, 1);
    f->renewed = ngx_current_msec;

    if (f->from.len == 0) {
        return ngx_svc_admin_stream_now(sr,
                   ngx_svc_result(sr, &ngx_svc_sql_admin_audit_stream_open));
    }

    /* an id never has more digits than ngx_atoi() takes */

    f->after = ngx_atoi(f->from.data, f->from.len) == NGX_ERROR ? none
                                                                : f->from;

    sr->slow = "Too much has happened since that event: leave out its id.";

    return ngx_svc_request_again(sr, NGX_SVC_PG_SLOW,
                                 ngx_svc_admin_stream_resume_prepare,
                                 ngx_svc_admin_stream_resume_reply);
}


/*
 * Skips the events that are there already, whatever their place in the order.
 */

static ngx_int_t
ngx_svc_admin_stream_now(ngx_svc_request_t *sr, PGresult *res)
{
    ngx_svc_admin_follow_t                 *f;
    ngx_svc_row_admin_audit_stream_open_t   row;

    f = sr->data;
    ngx_svc_row_admin_audit_stream_open(&row, res, 0);

    ngx_svc_row_copy(&f->cursor.xid, f->cursor.xid_text,
                     NGX_SVC_ADMIN_FOLLOW_KEY, &row.xid);
    ngx_str_set(&f->cursor.id, "-1");

    ngx_str_set(&f->skip.xid, "18446744073709551615");
    ngx_str_set(&f->skip.id, "0");

    ngx_svc_row_copy(&f->since, f->since_text, NGX_SVC_ADMIN_FOLLOW_TIME,
                     &row.since);

    if (ngx_svc_admin_stream_snapshot(f, &row.snapshot) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_admin_stream_begin(sr);
}


static ngx_int_t
ngx_svc_admin_stream_resume_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_audit_stream_resume, NULL);
}


static ngx_int_t
ngx_svc_admin_stream_resume_reply(ngx_svc_request_t *sr)
{
    ngx_svc_admin_follow_t                   *f;
    ngx_svc_row_admin_audit_stream_resume_t   row;

    f = sr->data;
    ngx_svc_row_admin_audit_stream_resume(&row,
              ngx_svc_result(sr, &ngx_svc_sql_admin_audit_stream_resume), 0);

    ngx_svc_row_copy(&f->cursor.xid, f->cursor.xid_text,
                     NGX_SVC_ADMIN_FOLLOW_KEY, &row.xid);
    ngx_svc_row_copy(&f->cursor.id, f->cursor.id_text,
                     NGX_SVC_ADMIN_FOLLOW_KEY, &row.id);
    ngx_svc_row_copy(&f->skip.xid, f->skip.xid_text,
                     NGX_SVC_ADMIN_FOLLOW_KEY, &row.skip_xid);
    ngx_svc_row_copy(&f->skip.id, f->skip.id_text,
                     NGX_SVC_ADMIN_FOLLOW_KEY, &row.skip_id);
    ngx_svc_row_copy(&f->since, f->since_text, NGX_SVC_ADMIN_FOLLOW_TIME,
                     &row.since);

    f->gap = row.gap;

    if (ngx_svc_admin_stream_snapshot(f, &row.snapshot) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_admin_stream_begin(sr);
}


static ngx_int_t
ngx_svc_admin_stream_snapshot(ngx_svc_admin_follow_t *f,
    const ngx_str_t *value)
{
    f->snapshot.len = value->len;
    f->snapshot.data = ngx_pstrdup(f->sr->request->pool, (ngx_str_t *) value);

    return f->snapshot.data ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_admin_stream_begin(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_admin_follow_t  *f;

    static ngx_str_t         type = ngx_string("text/event-stream");
    static ngx_str_t         no_store = ngx_string("no-store");
    static ngx_str_t         no = ngx_string("no");

    f = sr->data;

    if (ngx_svc_add_header(sr->request, "Cache-Control", &no_store) != NGX_OK
        || ngx_svc_add_header(sr->request, "X-Accel-Buffering", &no) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_svc_stream_open(&f->stream, sr, &type,
                             ngx_svc_admin_follow_failed);

    if (rc != NGX_OK || sr->request->header_only) {
        return rc;
    }

    return ngx_svc_admin_follow_start(f);
}


static void
ngx_svc_admin_stream_cleanup(void *data)
{
    ngx_svc_admin_follow_t  *f = data;

    ngx_svc_admin_follow_stop(f);

    if (f->leased) {
        ngx_svc_gauge_add(NGX_SVC_G_STREAMS, -1);
    }

    /* the client may be gone before we know whether it has got a lease */

    if (f->leased || (f->opening && f->sr->op && f->sr->op->slot)) {
        ngx_svc_admin_stream_close(f);
    }
}


/* If this fails the lease runs out by itself. */

static void
ngx_svc_admin_stream_close(ngx_svc_admin_follow_t *f)
{
    ngx_pool_t             *pool;
    ngx_svc_admin_close_t  *close;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return;
    }

    close = ngx_pcalloc(pool, sizeof(ngx_svc_admin_close_t));

    if (close == NULL
        || ngx_svc_admin_stream_close_op(f, close, pool) != NGX_OK)
    {
        ngx_destroy_pool(pool);
        return;
    }

    close->event.handler = ngx_svc_admin_stream_close_now;
    close->event.data = close;
    close->event.log = ngx_cycle->log;
    close->event.cancelable = 1;

    if (f->leased) {
        ngx_svc_admin_stream_close_now(&close->event);

    } else {
        ngx_add_timer(&close->event, NGX_SVC_ADMIN_STREAM_OPENING);
    }
}


/*
 * The stream's token may have ended together with it, so that the op has no
 * credential once the stream is open and its tenant is known.
 */

static ngx_int_t
ngx_svc_admin_stream_close_op(ngx_svc_admin_follow_t *f,
    ngx_svc_admin_close_t *close, ngx_pool_t *pool)
{
    u_char             *lease, *tenant;
    ngx_svc_pg_call_t  *call;

    lease = ngx_pnalloc(pool, NGX_SVC_UUID_LEN);
    tenant = ngx_pstrdup(pool, &f->tenant);

    close->op = f->leased
                ? ngx_svc_pg_op_create(pool, NGX_SVC_PG_WRITE,
                                       ngx_svc_admin_stream_closed, NULL)
                : ngx_svc_auth_op(f->sr, pool, NGX_SVC_PG_WRITE,
                                  ngx_svc_admin_stream_closed);

    if (lease == NULL || tenant == NULL || close->op == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(lease, f->lease_id, NGX_SVC_UUID_LEN);

    call = ngx_svc_pg_call(close->op,
                           f->leased ? &ngx_svc_sql_admin_audit_stream_end
                                     : &ngx_svc_sql_admin_audit_stream_close);
    if (call == NULL) {
        return NGX_ERROR;
    }

    if (f->leased) {
        ngx_svc_pg_bind(call, tenant, f->tenant.len);
    }

    ngx_svc_pg_bind(call, lease, NGX_SVC_UUID_LEN);

    return NGX_OK;
}


static void
ngx_svc_admin_stream_close_now(ngx_event_t *ev)
{
    ngx_svc_admin_close_t  *close;

    close = ev->data;

    if (ngx_svc_pg_submit(close->op) != NGX_OK) {
        ngx_destroy_pool(close->op->pool);
    }
}


static void
ngx_svc_admin_stream_closed(ngx_svc_pg_op_t *op)
{
    ngx_destroy_pool(op->pool);
}
