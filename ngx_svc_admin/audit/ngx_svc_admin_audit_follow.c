/*
 * Those in this worker who follow the audit log: they poll when something was
 * written for their tenant, or else now and then.
 */

#include "ngx_svc_admin_audit_follow.h"
#include "ngx_svc_redis_pubsub.h"


/* Events in one poll, and of these so many are sent: see the statement. */
#define NGX_SVC_ADMIN_FOLLOW_SCAN     1000
#define NGX_SVC_ADMIN_FOLLOW_BATCH    200

#define NGX_SVC_ADMIN_FOLLOW_EVENT    512    /* bytes, a guess */

#define NGX_SVC_ADMIN_FOLLOW_PACE     20     /* ms, from a poll to the next */
#define NGX_SVC_ADMIN_FOLLOW_IDLE     15000  /* who is woken polls anyway */
#define NGX_SVC_ADMIN_FOLLOW_ALONE    1000   /* without Redis */
#define NGX_SVC_ADMIN_FOLLOW_PING     15000
#define NGX_SVC_ADMIN_FOLLOW_RENEW    10000  /* of the lease */
#define NGX_SVC_ADMIN_FOLLOW_TICK     250

#define ngx_svc_admin_follow_due(at)                                          \
    ((ngx_msec_int_t) (ngx_current_msec - (at)) >= 0)


/* All of a worker. */

typedef struct {
    ngx_queue_t   queue;        /* ngx_svc_admin_follow_t */
    ngx_event_t   tick;
    ngx_uint_t    subscribed;
    ngx_uint_t    ready;
} ngx_svc_admin_followers_t;


static ngx_int_t ngx_svc_admin_follow_poll(ngx_svc_admin_follow_t *f);
static ngx_int_t ngx_svc_admin_follow_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_follow_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_follow_events(ngx_svc_admin_follow_t *f,
    PGresult *res, ngx_svc_json_writer_t *w);
static void ngx_svc_admin_follow_event(ngx_svc_json_writer_t *w, PGresult *res,
    int row);
static void ngx_svc_admin_follow_pace(ngx_svc_admin_follow_t *f,
    ngx_uint_t more, ngx_uint_t final);
static void ngx_svc_admin_follow_put(ngx_svc_json_writer_t *w,
    const char *text);
static void ngx_svc_admin_follow_timer(ngx_event_t *ev);
static void ngx_svc_admin_follow_arm(ngx_svc_admin_follow_t *f);
static void ngx_svc_admin_follow_wake(ngx_svc_admin_follow_t *f);
static void ngx_svc_admin_follow_message(ngx_str_t *tenant);
static void ngx_svc_admin_follow_join(ngx_svc_admin_follow_t *f);
static void ngx_svc_admin_follow_tick(ngx_event_t *ev);
static void ngx_svc_admin_follow_quit(ngx_svc_admin_follow_t *f);


static ngx_svc_admin_followers_t  ngx_svc_admin_followers;


/*
 * An event is final when nothing can appear before it any more: it has an xid
 * below all that are under way.  Of the events behind the cursor come those
 * that are final and asked for; the last one that is final, to go on from; and
 * the last one, which tells whether some are not final.
 *
 * A transaction may be older than the event before it by as long as it was
 * open: a week.  With an upper bound of the time too, or with limits as
 * parameters, the planner would expect few rows, and sort them.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_audit_follow = {
    .name = "admin_audit_follow",
    .text =
        "SELECT " NGX_SVC_ADMIN_AUDIT_COLUMNS ", e.xid, e.final, e.match, e.n"
        " FROM (SELECT *, lead(final) OVER o AS next, row_number() OVER o AS n"
        " FROM (SELECT e.*,"
            " e.xid < pg_snapshot_xmin(pg_current_snapshot()) AS final,"
            " ((e.xid, e.id) > ($9::text::xid8, $10::text::int8)"
                " OR NOT pg_visible_in_snapshot(e.xid, $8::text::pg_snapshot))"
                " AND" NGX_SVC_ADMIN_AUDIT_MATCH " AS match"
        " FROM svc.audit_event e WHERE e.tenant_id = " NGX_SVC_TENANT
            " AND (e.xid, e.id) > ($5::text::xid8, $6::text::int8)"
            " AND e.created_at > $7::text::timestamptz - interval '7 days'"
        " ORDER BY e.xid, e.id LIMIT 1000) e"
        " WINDOW o AS (ORDER BY xid, id)) e"
        " WHERE e.final AND e.match OR e.final AND e.next IS NOT TRUE"
            " OR e.next IS NULL"
        " ORDER BY e.xid, e.id LIMIT 200",
    .nparams = 10
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_audit_follow_renew = {
    .name = "admin_audit_follow_renew",
    .text =
        "UPDATE svc.audit_stream"
        " SET expires_at = now() + $2::int4 * interval '1 second'"
        " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1::uuid"
        " RETURNING id",
    .nparams = 2
};

ngx_svc_pg_statements_t  ngx_svc_admin_audit_follow_statements[] = {
    &ngx_svc_sql_admin_audit_follow,
    &ngx_svc_sql_admin_audit_follow_renew,
    NULL
};


#define NGX_SVC_ADMIN_FOLLOW_XID    NGX_SVC_ADMIN_AUDIT_NCOLUMNS
#define NGX_SVC_ADMIN_FOLLOW_FINAL  (NGX_SVC_ADMIN_FOLLOW_XID + 1)
#define NGX_SVC_ADMIN_FOLLOW_MATCH  (NGX_SVC_ADMIN_FOLLOW_XID + 2)
#define NGX_SVC_ADMIN_FOLLOW_N      (NGX_SVC_ADMIN_FOLLOW_XID + 3)


ngx_int_t
ngx_svc_admin_follow_start(ngx_svc_admin_follow_t *f)
{
    ngx_svc_json_writer_t  w;

    f->timer.handler = ngx_svc_admin_follow_timer;
    f->timer.data = f;
    f->timer.log = f->sr->request->connection->log;

    f->pinged = ngx_current_msec;
    f->next = ngx_current_msec;
    f->backoff = NGX_SVC_ADMIN_FOLLOW_PACE;

    ngx_svc_admin_follow_join(f);

    (void) ngx_svc_json_writer_init(&w, f->stream.pool, 256);

    ngx_svc_admin_follow_put(&w, ": connected\nretry: 3000\n\n");

    if (f->gap) {
        ngx_svc_admin_follow_put(&w, "event: gap\ndata: {");
        ngx_svc_json_plain(&w, "from", f->from.data, f->from.len);
        ngx_svc_admin_follow_put(&w, "}\n\n");
    }

    if (w.failed) {
        return NGX_ERROR;
    }

    return ngx_svc_stream_send(&f->stream, w.start, w.last, 0);
}


void
ngx_svc_admin_follow_stop(ngx_svc_admin_follow_t *f)
{
    if (f->timer.timer_set) {
        ngx_del_timer(&f->timer);
    }

    if (!f->following) {
        return;
    }

    f->following = 0;
    ngx_queue_remove(&f->queue);

    if (ngx_queue_empty(&ngx_svc_admin_followers.queue)) {
        ngx_svc_request_listen(NULL);
        ngx_svc_redis_unsubscribe(NGX_SVC_AUDIT_CHANNEL);

        if (ngx_svc_admin_followers.tick.timer_set) {
            ngx_del_timer(&ngx_svc_admin_followers.tick);
        }
    }
}


/* The last chunk: the client comes again, to another worker if need be. */

ngx_int_t
ngx_svc_admin_follow_end(ngx_svc_admin_follow_t *f)
{
    ngx_svc_admin_follow_stop(f);

    return ngx_svc_stream_send(&f->stream, NULL, NULL, 1);
}


/* Neither a poll nor a piece is under way. */

ngx_int_t
ngx_svc_admin_follow_next(ngx_svc_request_t *sr)
{
    ngx_svc_admin_follow_t  *f;

    static u_char            ping[] = ": ping\n\n";

    f = sr->data;

    if (ngx_exiting || ngx_terminate) {
        return ngx_svc_admin_follow_end(f);
    }

    if (ngx_svc_admin_follow_due(f->pinged + NGX_SVC_ADMIN_FOLLOW_PING)) {
        f->pinged = ngx_current_msec;

        return ngx_svc_stream_send(&f->stream, ping, ping + sizeof(ping) - 1,
                                   0);
    }

    if (ngx_svc_admin_follow_due(f->next)) {
        return ngx_svc_admin_follow_poll(f);
    }

    ngx_svc_admin_follow_arm(f);

    return ngx_svc_stream_hold(&f->stream);
}


static ngx_int_t
ngx_svc_admin_follow_poll(ngx_svc_admin_follow_t *f)
{
    if (f->timer.timer_set) {
        ngx_del_timer(&f->timer);
    }

    f->polled = ngx_current_msec;
    f->polling = 1;
    f->woken = 0;
    f->renewing = ngx_svc_admin_follow_due(f->renewed
                                           + NGX_SVC_ADMIN_FOLLOW_RENEW);

    return ngx_svc_stream_again(&f->stream, f->renewing ? NGX_SVC_PG_WRITE
                                                        : NGX_SVC_PG_READ,
                                ngx_svc_admin_follow_prepare,
                                ngx_svc_admin_follow_reply);
}


static ngx_int_t
ngx_svc_admin_follow_prepare(ngx_svc_request_t *sr)
{
    ngx_svc_pg_call_t       *call;
    ngx_svc_admin_follow_t  *f;

    f = sr->data;

    if (f->renewing) {
        sr->op->committed = NULL;

        call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_audit_follow_renew);
        if (call == NULL) {
            return NGX_ERROR;
        }

        ngx_svc_pg_bind(call, f->lease, NGX_SVC_UUID_LEN);

        if (ngx_svc_pg_bind_int(sr->op, call, NGX_SVC_ADMIN_FOLLOW_LEASE)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_audit_follow);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_admin_audit_bind_match(call, &f->filter);

    ngx_svc_pg_bind_str(call, &f->cursor.xid);
    ngx_svc_pg_bind_str(call, &f->cursor.id);
    ngx_svc_pg_bind_str(call, &f->since);
    ngx_svc_pg_bind_str(call, &f->snapshot);
    ngx_svc_pg_bind_str(call, &f->skip.xid);
    ngx_svc_pg_bind_str(call, &f->skip.id);

    return NGX_OK;
}


/* Without its lease, which ran out meanwhile, the stream is one too many. */

static ngx_int_t
ngx_svc_admin_follow_reply(ngx_svc_request_t *sr)
{
    ngx_svc_json_writer_t    w;
    ngx_svc_admin_follow_t  *f;

    f = sr->data;

    f->polling = 0;

    if (f->renewing) {
        if (PQntuples(sr->results[0]) == 0) {
            return ngx_svc_admin_follow_end(f);
        }

        f->renewed = ngx_current_msec;
    }

    if (ngx_svc_admin_follow_events(f, sr->results[f->renewing], &w)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (w.last == w.start) {
        return ngx_svc_admin_follow_next(sr);
    }

    return ngx_svc_stream_send(&f->stream, w.start, w.last, 0);
}


/* Writes events, moves the cursor, and says when the next poll is due. */

static ngx_int_t
ngx_svc_admin_follow_events(ngx_svc_admin_follow_t *f, PGresult *res,
    ngx_svc_json_writer_t *w)
{
    int         i, n;
    ngx_uint_t  scanned, final;

    n = PQntuples(res);
    scanned = 0;
    final = 1;

    if (ngx_svc_json_writer_init(w, f->stream.pool,
                                 n * NGX_SVC_ADMIN_FOLLOW_EVENT)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {

        if (*PQgetvalue(res, i, NGX_SVC_ADMIN_FOLLOW_FINAL) != 't') {
            final = 0;
            break;
        }

        scanned = (ngx_uint_t) ngx_atoi(
                         (u_char *) PQgetvalue(res, i, NGX_SVC_ADMIN_FOLLOW_N),
                         PQgetlength(res, i, NGX_SVC_ADMIN_FOLLOW_N));

        if (*PQgetvalue(res, i, NGX_SVC_ADMIN_FOLLOW_MATCH) != 't') {
            continue;
        }

        ngx_svc_admin_follow_event(w, res, i);
    }

    if (i) {
        ngx_svc_admin_audit_copy(&f->cursor.xid, f->cursor.xid_text,
                                 NGX_SVC_ADMIN_FOLLOW_KEY, res, i - 1,
                                 NGX_SVC_ADMIN_FOLLOW_XID);
        ngx_svc_admin_audit_copy(&f->cursor.id, f->cursor.id_text,
                                 NGX_SVC_ADMIN_FOLLOW_KEY, res, i - 1,
                                 NGX_SVC_ADMIN_AUDIT_ID);
        ngx_svc_admin_audit_copy(&f->since, f->since_text,
                                 NGX_SVC_ADMIN_FOLLOW_TIME, res, i - 1,
                                 NGX_SVC_ADMIN_AUDIT_CREATED);
    }

    ngx_svc_admin_follow_pace(f, n == NGX_SVC_ADMIN_FOLLOW_BATCH
                                 || scanned == NGX_SVC_ADMIN_FOLLOW_SCAN,
                              final);

    return w->failed ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_admin_follow_event(ngx_svc_json_writer_t *w, PGresult *res, int row)
{
    ngx_str_t  id;

    id = ngx_svc_pg_value(res, row, NGX_SVC_ADMIN_AUDIT_ID);

    ngx_svc_admin_follow_put(w, "id: ");
    w->comma = 0;
    ngx_svc_json_raw(w, NULL, id.data, id.len);
    ngx_svc_admin_follow_put(w, "\nevent: audit\ndata: ");
    w->comma = 0;
    ngx_svc_admin_audit_event(w, NULL, res, row, 0);
    ngx_svc_admin_follow_put(w, "\n\n");
}


/* more: there are some behind these.  final: no event before them will come. */

static void
ngx_svc_admin_follow_pace(ngx_svc_admin_follow_t *f, ngx_uint_t more,
    ngx_uint_t final)
{
    if (final) {
        f->backoff = NGX_SVC_ADMIN_FOLLOW_PACE;
    }

    if (more) {
        f->next = ngx_current_msec;

    } else if (!final) {

        /* whoever is in the way need not be of this tenant: nobody will tell */

        f->next = f->polled + f->backoff;
        f->backoff = ngx_min(2 * f->backoff, NGX_SVC_ADMIN_FOLLOW_ALONE);

    } else {
        f->next = f->polled + (ngx_svc_redis_subscribed()
                               ? NGX_SVC_ADMIN_FOLLOW_IDLE
                               : NGX_SVC_ADMIN_FOLLOW_ALONE);
    }

    if (f->woken && !ngx_svc_admin_follow_due(f->next)) {
        f->next = f->polled + NGX_SVC_ADMIN_FOLLOW_PACE;
    }
}


static void
ngx_svc_admin_follow_put(ngx_svc_json_writer_t *w, const char *text)
{
    w->comma = 0;
    ngx_svc_json_raw(w, NULL, (u_char *) text, ngx_strlen(text));
    w->comma = 0;
}


/* A token that is no longer good ends it; the database away does not. */

ngx_int_t
ngx_svc_admin_follow_failed(ngx_svc_request_t *sr)
{
    ngx_svc_admin_follow_t  *f;

    f = sr->data;

    f->polling = 0;

    switch (sr->error.kind) {

    case NGX_SVC_E_UNAUTHORIZED:
    case NGX_SVC_E_FORBIDDEN:
        return ngx_svc_admin_follow_end(f);

    case NGX_SVC_E_UNAVAILABLE:
        sr->error.kind = NGX_SVC_E_NONE;

        f->next = ngx_current_msec + NGX_SVC_ADMIN_FOLLOW_ALONE
                  + ngx_random() % NGX_SVC_ADMIN_FOLLOW_TICK;

        return ngx_svc_admin_follow_next(sr);

    default:
        return NGX_ERROR;
    }
}


static void
ngx_svc_admin_follow_timer(ngx_event_t *ev)
{
    ngx_svc_admin_follow_t  *f;

    f = ev->data;

    ngx_svc_stream_finalize(f->sr, ngx_svc_admin_follow_next(f->sr));
}


/* nginx leaves a timer as it is that is to be moved by less than 300 ms. */

static void
ngx_svc_admin_follow_arm(ngx_svc_admin_follow_t *f)
{
    ngx_msec_int_t  poll, ping;

    if (f->timer.timer_set) {
        ngx_del_timer(&f->timer);
    }

    poll = f->next - ngx_current_msec;
    ping = f->pinged + NGX_SVC_ADMIN_FOLLOW_PING - ngx_current_msec;

    poll = ngx_min(poll, ping);

    ngx_add_timer(&f->timer, (ngx_msec_t) ngx_max(poll, 0));
}


static void
ngx_svc_admin_follow_wake(ngx_svc_admin_follow_t *f)
{
    f->woken = 1;

    if (f->polling) {
        return;
    }

    if ((ngx_msec_int_t) (f->next - f->polled) > NGX_SVC_ADMIN_FOLLOW_PACE) {
        f->next = f->polled + NGX_SVC_ADMIN_FOLLOW_PACE;
    }

    if (!f->stream.sending) {
        ngx_svc_admin_follow_arm(f);
    }
}


/* From the workers of all nodes, or, without Redis, from this one. */

static void
ngx_svc_admin_follow_message(ngx_str_t *tenant)
{
    ngx_uint_t               all;
    ngx_queue_t             *q;
    ngx_svc_admin_follow_t  *f;

    all = tenant->data == NULL || (tenant->len == 1 && tenant->data[0] == '*');

    for (q = ngx_queue_head(&ngx_svc_admin_followers.queue);
         q != ngx_queue_sentinel(&ngx_svc_admin_followers.queue);
         q = ngx_queue_next(q))
    {
        f = ngx_queue_data(q, ngx_svc_admin_follow_t, queue);

        if (all || (f->tenant.len == tenant->len
                    && ngx_memcmp(f->tenant.data, tenant->data, tenant->len)
                       == 0))
        {
            ngx_svc_admin_follow_wake(f);
        }
    }
}


static void
ngx_svc_admin_follow_join(ngx_svc_admin_follow_t *f)
{
    ngx_svc_admin_followers_t  *all;

    all = &ngx_svc_admin_followers;

    if (!all->ready) {
        all->ready = 1;
        ngx_queue_init(&all->queue);

        all->tick.handler = ngx_svc_admin_follow_tick;
        all->tick.data = all;
        all->tick.log = ngx_cycle->log;
    }

    if (ngx_queue_empty(&all->queue)) {
        ngx_svc_request_listen(ngx_svc_admin_follow_message);
        (void) ngx_svc_redis_subscribe(NGX_SVC_AUDIT_CHANNEL,
                                       ngx_svc_admin_follow_message);

        all->subscribed = ngx_svc_redis_subscribed();
        ngx_add_timer(&all->tick, NGX_SVC_ADMIN_FOLLOW_TICK);
    }

    f->following = 1;
    ngx_queue_insert_tail(&all->queue, &f->queue);
}


/*
 * A worker that quits would wait for its streams without end; and who waits to
 * be woken must know when nobody will.
 */

static void
ngx_svc_admin_follow_tick(ngx_event_t *ev)
{
    ngx_str_t                   everybody;
    ngx_uint_t                  subscribed;
    ngx_svc_admin_followers_t  *all;

    all = &ngx_svc_admin_followers;

    if (ngx_exiting || ngx_terminate) {
        while (!ngx_queue_empty(&all->queue)) {
            ngx_svc_admin_follow_quit(
                ngx_queue_data(ngx_queue_head(&all->queue),
                               ngx_svc_admin_follow_t, queue));
        }

        return;
    }

    subscribed = ngx_svc_redis_subscribed();

    if (all->subscribed && !subscribed) {
        ngx_str_null(&everybody);
        ngx_svc_admin_follow_message(&everybody);
    }

    all->subscribed = subscribed;

    ngx_add_timer(&all->tick, NGX_SVC_ADMIN_FOLLOW_TICK);
}


/* The reference that a poll under way holds becomes ours. */

static void
ngx_svc_admin_follow_quit(ngx_svc_admin_follow_t *f)
{
    ngx_int_t  rc;

    if (f->polling) {
        f->polling = 0;
        ngx_svc_pg_cancel(f->sr->op);
    }

    ngx_svc_admin_follow_stop(f);

    rc = f->stream.sending ? NGX_ERROR : ngx_svc_admin_follow_end(f);

    ngx_svc_stream_finalize(f->sr, rc);
}
