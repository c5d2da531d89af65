/*
 * The clients of this worker that follow the audit log: a client's stream polls
 * when something was written for its tenant, or else now and then.
 */

#include "ngx_svc_admin_audit_follow.h"
#include "ngx_svc_redis_pubsub.h"


#define NGX_SVC_ADMIN_FOLLOW_PACE     20     /* ms, from a poll to the next */
#define NGX_SVC_ADMIN_FOLLOW_IDLE     15000  /* ms; a poll without messages */
#define NGX_SVC_ADMIN_FOLLOW_ALONE    1000   /* ms; a poll without Redis */
#define NGX_SVC_ADMIN_FOLLOW_PING     15000
#define NGX_SVC_ADMIN_FOLLOW_RENEW    10000  /* ms; of the lease */
#define NGX_SVC_ADMIN_FOLLOW_WAIT     1000   /* ms; then we say so */
#define NGX_SVC_ADMIN_FOLLOW_TICK     250

#define ngx_svc_admin_follow_due(at)                                          \
    ((ngx_msec_int_t) (ngx_current_msec - (at)) >= 0)


/* All followers of a worker. */

typedef struct {
    ngx_queue_t   queue;        /* ngx_svc_admin_follow_t */
    ngx_event_t   tick;
    ngx_uint_t    subscribed;
    ngx_uint_t    ready;
} ngx_svc_admin_followers_t;


static ngx_int_t ngx_svc_admin_follow_poll(ngx_svc_admin_follow_t *f);
static ngx_int_t ngx_svc_admin_follow_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_follow_reply(ngx_svc_request_t *sr);
static void ngx_svc_admin_follow_tell(ngx_svc_admin_follow_t *f,
    ngx_svc_json_writer_t *w, ngx_uint_t final);
static void ngx_svc_admin_follow_pace(ngx_svc_admin_follow_t *f,
    ngx_uint_t more, ngx_uint_t final);
static void ngx_svc_admin_follow_timer(ngx_event_t *ev);
static void ngx_svc_admin_follow_arm(ngx_svc_admin_follow_t *f);
static void ngx_svc_admin_follow_wake(ngx_svc_admin_follow_t *f);
static void ngx_svc_admin_follow_message(ngx_str_t *tenant);
static void ngx_svc_admin_follow_join(ngx_svc_admin_follow_t *f);
static void ngx_svc_admin_follow_tick(ngx_event_t *ev);
static void ngx_svc_admin_follow_quit(ngx_svc_admin_follow_t *f);


static ngx_svc_admin_followers_t  ngx_svc_admin_followers;


#include "ngx_svc_admin_audit_follow.sql.h"


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


/* Sends the last chunk: the client will come again, maybe to another worker. */

ngx_int_t
ngx_svc_admin_follow_end(ngx_svc_admin_follow_t *f)
{
    ngx_svc_admin_follow_stop(f);

    return ngx_svc_stream_send(&f->stream, NULL, NULL, 1);
}


/* Called while neither a poll nor a send is under way. */

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
    ngx_int_t                rc;
    ngx_svc_admin_follow_t  *f;

    f = sr->data;

    if (f->renewing) {
        sr->op->committed = NULL;

        rc = ngx_svc_route_call(sr, &ngx_svc_sql_admin_audit_follow_renew,
                                NULL);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_audit_follow, NULL);
}


/* If the lease has run out meanwhile the stream is one too many: it ends. */

static ngx_int_t
ngx_svc_admin_follow_reply(ngx_svc_request_t *sr)
{
    PGresult                *res;
    ngx_uint_t               more, final;
    ngx_svc_json_writer_t    w;
    ngx_svc_admin_follow_t  *f;

    f = sr->data;

    f->polling = 0;

    if (f->renewing) {
        res = ngx_svc_result(sr, &ngx_svc_sql_admin_audit_follow_renew);

        if (PQntuples(res) == 0) {
            return ngx_svc_admin_follow_end(f);
        }

        f->renewed = ngx_current_msec;
    }

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_audit_follow);

    if (ngx_svc_admin_follow_events(f, res, &w, &more, &final) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_admin_follow_tell(f, &w, final);
    ngx_svc_admin_follow_pace(f, more, final);

    if (w.failed) {
        return NGX_ERROR;
    }

    if (w.last == w.start) {
        return ngx_svc_admin_follow_next(sr);
    }

    return ngx_svc_stream_send(&f->stream, w.start, w.last, 0);
}


/* Tells the client that events wait for an open transaction, or no longer. */

static void
ngx_svc_admin_follow_tell(ngx_svc_admin_follow_t *f, ngx_svc_json_writer_t *w,
    ngx_uint_t final)
{
    if (final || !f->waiting) {
        f->waiting = !final;
        f->waits = ngx_current_msec;
    }

    if (f->told == f->waiting
        || (f->waiting
            && !ngx_svc_admin_follow_due(f->waits
                                         + NGX_SVC_ADMIN_FOLLOW_WAIT)))
    {
        return;
    }

    f->told = f->waiting;

    ngx_svc_admin_follow_put(w, "event: waiting\ndata: {");
    ngx_svc_json_boolean(w, "waiting", f->told);
    ngx_svc_admin_follow_put(w, "}\n\n");
}


/* Sets the time of the next poll. */

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

        /*
         * the open transaction may be another tenant's: no message will tell us
         */

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


/*
 * A credential that is no longer valid ends the stream; a database that is away
 * does not.
 */

ngx_int_t
ngx_svc_admin_follow_failed(ngx_svc_request_t *sr)
{
    ngx_svc_admin_follow_t  *f;

    f = sr->data;

    f->polling = 0;

    switch (sr->error.kind) {

    case NGX_SVC_E_UNAUTHORIZED:
    case NGX_SVC_E_UNAUTHENTICATED:
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


/* nginx would leave a timer that moves by less than 300 ms as it is. */

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


/* Messages come from the workers of all nodes; without Redis from this one. */

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
 * A worker that quits would wait for its streams without end, so that it ends
 * them; and streams that wait for messages must poll when these cannot come.
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


/* An op under way holds a reference to the request, which becomes ours. */

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
