/*
 * In the helper: queues events from the audit log that were not delivered.
 *
 * A round begins when the database says that a tenant is due, or when a
 * webhook has changed, which may be the first of its tenant.  It takes some
 * tenants whose log has grown, and looks at one after the other.  Redis knows
 * which deliveries are queued or in flight, or have ended of late: those are
 * not queued again.  A delivery without a place in the queue stays in the log
 * for a later round.
 */

#include "ngx_svc_webhook_outbox.h"
#include "ngx_svc_webhook_outbox.row.h"
#include "ngx_svc_lane.h"
#include "ngx_svc_webhook_endpoint.h"
#include "ngx_svc_webhook_event.h"
#include "ngx_svc_webhook_enqueue.h"
#include "ngx_svc_webhook_script.h"

#include "ngx_svc_metrics.h"
#include "ngx_svc_redis_pubsub.h"

#include <ngx_event.h>


#define NGX_SVC_WEBHOOK_OUTBOX_TICK     250     /* ms between rounds, at
                                                   least */
#define NGX_SVC_WEBHOOK_OUTBOX_REST     10000   /* ms between rounds, at most,
                                                   since messages may be lost */
#define NGX_SVC_WEBHOOK_OUTBOX_TENANTS  8       /* tenants of a round */

/*
 * Number of the script's arguments for a delivery, each as an event of its
 * own.
 */
#define NGX_SVC_WEBHOOK_OUTBOX_ARGS  (NGX_SVC_WEBHOOK_ENQUEUE_EVENT + 1)


typedef struct {
    ngx_uint_t         ntenants;        /* tenants left of the round */
    ngx_str_t          tenant;          /* whose log is looked at */
    unsigned           calling:1;       /* a call to Redis is under way */
    unsigned           woken:1;         /* woken since the round began */
    unsigned           stopped:1;
    u_char             tenants[NGX_SVC_WEBHOOK_OUTBOX_TENANTS]
                              [NGX_SVC_UUID_TEXT_LEN];
} ngx_svc_webhook_outbox_t;


static ngx_uint_t ngx_svc_webhook_outbox_due(const ngx_svc_lane_t *lane);
static ngx_int_t ngx_svc_webhook_outbox_take(const ngx_svc_lane_t *lane,
    ngx_svc_pg_op_t *op);
static void ngx_svc_webhook_outbox_taken(const ngx_svc_lane_t *lane,
    ngx_svc_pg_op_t *op);
static ngx_msec_t ngx_svc_webhook_outbox_rest(PGresult *res);
static void ngx_svc_webhook_outbox_next(void);
static ngx_int_t ngx_svc_webhook_outbox_look(void);
static void ngx_svc_webhook_outbox_looked(ngx_svc_pg_op_t *op);
static void ngx_svc_webhook_outbox_expired(ngx_int_t n);
static ngx_int_t ngx_svc_webhook_outbox_enqueue(PGresult *res,
    ngx_pool_t *pool);
static ngx_int_t ngx_svc_webhook_outbox_entry(PGresult *res, int row,
    ngx_pool_t *pool, ngx_str_t *entry);
static ngx_int_t ngx_svc_webhook_outbox_event(
    const ngx_svc_row_webhook_outbox_look_t *look, ngx_svc_event_t *event);
static void ngx_svc_webhook_outbox_enqueued(redisReply *reply, void *data);


static ngx_svc_webhook_outbox_t  ngx_svc_webhook_outbox;
static ngx_svc_lane_state_t      ngx_svc_webhook_outbox_state;


#include "ngx_svc_webhook_outbox.sql.h"


/* Begun and ended by the lane of webhooks. */

static const ngx_svc_lane_t  ngx_svc_webhook_outbox_lane = {
    .state = &ngx_svc_webhook_outbox_state,
    .look = NGX_SVC_WEBHOOK_OUTBOX_TICK,
    .lazy = 1,
    .waits = "webhook events that went missing are not looked for",
    .due = ngx_svc_webhook_outbox_due,
    .claim = ngx_svc_webhook_outbox_take,
    .claimed = ngx_svc_webhook_outbox_taken
};


void
ngx_svc_webhook_outbox_init(ngx_cycle_t *cycle)
{
    ngx_svc_webhook_outbox_t  *outbox;

    outbox = &ngx_svc_webhook_outbox;

    ngx_memzero(outbox, sizeof(ngx_svc_webhook_outbox_t));

    if (ngx_svc_webhook_conf()->outbox == 0) {
        return;
    }

    ngx_svc_lane_start(&ngx_svc_webhook_outbox_lane, cycle);

    ngx_svc_webhook_endpoint_changed = ngx_svc_webhook_outbox_wake;
}


/* What is under way may still be queued: any helper can deliver it. */

void
ngx_svc_webhook_outbox_stop(void)
{
    ngx_svc_webhook_outbox.stopped = 1;
    ngx_svc_webhook_outbox.ntenants = 0;
}


void
ngx_svc_webhook_outbox_exit(void)
{
    ngx_svc_webhook_outbox_stop();
    ngx_svc_lane_stop(&ngx_svc_webhook_outbox_lane);
}


void
ngx_svc_webhook_outbox_wake(void)
{
    ngx_svc_webhook_outbox.woken = 1;

    ngx_svc_lane_look(&ngx_svc_webhook_outbox_lane,
                      NGX_SVC_WEBHOOK_OUTBOX_TICK);
}


/* Only one round is under way, and none while Redis is not up. */

static ngx_uint_t
ngx_svc_webhook_outbox_due(const ngx_svc_lane_t *lane)
{
    return !ngx_svc_webhook_outbox.stopped && !ngx_svc_webhook_outbox.calling
           && ngx_svc_redis_state() == NGX_SVC_REDIS_UP;
}


static ngx_int_t
ngx_svc_webhook_outbox_take(const ngx_svc_lane_t *lane, ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_call_t  *call;

    ngx_svc_webhook_outbox.woken = 0;

    call = ngx_svc_pg_call(op, &ngx_svc_sql_webhook_outbox_take);

    return (call == NULL
            || ngx_svc_pg_bind_int(op, call, NGX_SVC_WEBHOOK_OUTBOX_TENANTS)
               != NGX_OK
            || ngx_svc_pg_call(op, &ngx_svc_sql_webhook_outbox_rest) == NULL)
           ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_webhook_outbox_taken(const ngx_svc_lane_t *lane, ngx_svc_pg_op_t *op)
{
    int                                 i;
    PGresult                           *res;
    ngx_svc_webhook_outbox_t           *outbox;
    ngx_svc_row_webhook_outbox_take_t   row;

    outbox = &ngx_svc_webhook_outbox;

    if (op->status != NGX_SVC_PG_OK || outbox->stopped) {
        return;
    }

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_webhook_outbox_take);

    for (i = 0; i < PQntuples(res); i++) {
        ngx_svc_row_webhook_outbox_take(&row, res, i);

        if (row.tenant_id.len == NGX_SVC_UUID_TEXT_LEN
            && outbox->ntenants < NGX_SVC_WEBHOOK_OUTBOX_TENANTS)
        {
            ngx_memcpy(outbox->tenants[outbox->ntenants++], row.tenant_id.data,
                       row.tenant_id.len);
        }
    }

    if (outbox->ntenants == 0 && !outbox->woken) {
        res = ngx_svc_pg_op_result(op, &ngx_svc_sql_webhook_outbox_rest);
        ngx_svc_lane_look(lane, ngx_svc_webhook_outbox_rest(res));
    }

    ngx_svc_webhook_outbox_next();
}


static ngx_msec_t
ngx_svc_webhook_outbox_rest(PGresult *res)
{
    ngx_int_t                          ms;
    ngx_svc_row_webhook_outbox_rest_t  row;

    ngx_svc_row_webhook_outbox_rest(&row, res, 0);

    if (row.ms.data == NULL) {
        return NGX_SVC_WEBHOOK_OUTBOX_REST;
    }

    /* negative if due and another helper's: then this is no number */

    ms = ngx_max(ngx_atoi(row.ms.data, row.ms.len),
                 NGX_SVC_WEBHOOK_OUTBOX_TICK);

    return ngx_min(ms, NGX_SVC_WEBHOOK_OUTBOX_REST);
}


/* Looks at the round's next tenant; if that fails it will be due again. */

static void
ngx_svc_webhook_outbox_next(void)
{
    ngx_svc_webhook_outbox_t  *outbox;

    outbox = &ngx_svc_webhook_outbox;

    while (outbox->ntenants) {
        outbox->tenant.data = outbox->tenants[--outbox->ntenants];
        outbox->tenant.len = NGX_SVC_UUID_TEXT_LEN;

        if (ngx_svc_webhook_outbox_look() == NGX_OK) {
            return;
        }
    }
}


static ngx_int_t
ngx_svc_webhook_outbox_look(void)
{
    ngx_int_t           rc;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_helper_op_create(NGX_SVC_PG_WRITE,
                                  &ngx_svc_webhook_outbox.tenant, 1,
                                  ngx_svc_webhook_outbox_looked, NULL);
    if (op == NULL) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_webhook_outbox_look);

    rc = call ? ngx_svc_pg_bind_int(op, call, ngx_svc_webhook_conf()->outbox)
              : NGX_ERROR;

    return ngx_svc_helper_op_submit(op, rc,
                                    &ngx_svc_webhook_outbox_state.claim);
}


static void
ngx_svc_webhook_outbox_looked(ngx_svc_pg_op_t *op)
{
    PGresult                           *res;
    ngx_svc_webhook_outbox_t           *outbox;
    ngx_svc_row_webhook_outbox_look_t   row;

    outbox = &ngx_svc_webhook_outbox;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, ngx_svc_webhook_outbox_lane.waits);

    } else {
        res = ngx_svc_pg_op_result(op, &ngx_svc_sql_webhook_outbox_look);

        if (PQntuples(res)) {
            ngx_svc_row_webhook_outbox_look(&row, res, 0);
            ngx_svc_webhook_outbox_expired(row.expired);

            if (row.delivery.data
                && ngx_svc_webhook_outbox_enqueue(res, op->pool) == NGX_ERROR)
            {
                ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                              "webhook events of tenant %V cannot be queued "
                              "from the audit log now: no memory",
                              &outbox->tenant);
            }
        }
    }

    ngx_destroy_pool(op->pool);
    ngx_svc_webhook_outbox_state.claim = NULL;

    if (!outbox->calling) {
        ngx_svc_webhook_outbox_next();
    }
}


static void
ngx_svc_webhook_outbox_expired(ngx_int_t n)
{
    if (n > 0) {
        ngx_svc_metric_add(NGX_SVC_M_DROPPED_EXPIRED, n);

        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "%i webhook deliveries of tenant %V dropped: the queue "
                      "has not taken them for a day", n,
                      &ngx_svc_webhook_outbox.tenant);
    }
}


/*
 * Queues deliveries.  NGX_OK: Redis will answer; NGX_DECLINED: it is down, or
 * busy; NGX_ERROR: no memory.
 */

static ngx_int_t
ngx_svc_webhook_outbox_enqueue(PGresult *res, ngx_pool_t *pool)
{
    int                        i, n;
    ngx_str_t                 *args, *arg;
    ngx_svc_webhook_outbox_t  *outbox;

    outbox = &ngx_svc_webhook_outbox;
    n = PQntuples(res);

    args = ngx_palloc(pool, (NGX_SVC_WEBHOOK_ENQUEUE_HEAD
                             + n * NGX_SVC_WEBHOOK_OUTBOX_ARGS)
                            * sizeof(ngx_str_t));

    if (args == NULL || ngx_svc_webhook_enqueue_head(args, pool) != NGX_OK) {
        return NGX_ERROR;
    }

    arg = args + NGX_SVC_WEBHOOK_ENQUEUE_HEAD;

    for (i = 0; i < n; i++) {
        arg[0] = outbox->tenant;
        ngx_str_set(&arg[1], "1");

        if (ngx_svc_webhook_outbox_entry(res, i, pool, &arg[2]) != NGX_OK) {
            return NGX_ERROR;
        }

        arg += NGX_SVC_WEBHOOK_OUTBOX_ARGS;
    }

    if (ngx_svc_redis_call(&ngx_svc_webhook_enqueue_script, args, arg - args,
                           2, ngx_svc_webhook_outbox_enqueued, NULL)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    outbox->calling = 1;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_outbox_entry(PGresult *res, int row, ngx_pool_t *pool,
    ngx_str_t *entry)
{
    ngx_str_t                          body;
    ngx_svc_event_t                    event;
    ngx_svc_webhook_delivery_t         d;
    ngx_svc_row_webhook_outbox_look_t  look;

    ngx_svc_row_webhook_outbox_look(&look, res, row);

    if (look.event.len != NGX_SVC_ID_DIGITS
        || ngx_svc_webhook_outbox_event(&look, &event) != NGX_OK
        || ngx_svc_webhook_event_body(pool, &event, look.event.data, 0, &body)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_memzero(&d, sizeof(ngx_svc_webhook_delivery_t));

    d.id = look.delivery;
    d.endpoint = look.endpoint_id;

    ngx_svc_webhook_event_delivery(&d, &event, look.event.data, &body);

    return ngx_svc_webhook_enqueue_entry(entry, pool, &d);
}


static ngx_int_t
ngx_svc_webhook_outbox_event(const ngx_svc_row_webhook_outbox_look_t *look,
    ngx_svc_event_t *event)
{
    ngx_memzero(event, sizeof(ngx_svc_event_t));

    if (ngx_svc_webhook_event_kind(&look->action, &event->kind) != NGX_OK) {
        return NGX_ERROR;
    }

    event->tenant = ngx_svc_webhook_outbox.tenant;
    event->user = look->target_id;
    event->at = look->created_at;
    event->email = look->user_name;

    return NGX_OK;
}


static void
ngx_svc_webhook_outbox_enqueued(redisReply *reply, void *data)
{
    size_t                     i;
    ngx_uint_t                 n;
    ngx_svc_webhook_outbox_t  *outbox;

    outbox = &ngx_svc_webhook_outbox;
    outbox->calling = 0;

    n = 0;

    if (reply && reply->type == REDIS_REPLY_STRING) {
        for (i = 0; i < reply->len; i++) {
            n += (reply->str[i] == '0');
        }
    }

    if (n) {
        ngx_svc_metric_add(NGX_SVC_M_QUEUED, n);
        ngx_svc_metric_add(NGX_SVC_M_REPLAYED, n);

        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "%ui webhook deliveries of tenant %V queued from the "
                      "audit log", n, &outbox->tenant);
    }

    if (!outbox->stopped) {
        ngx_svc_webhook_outbox_next();
    }
}
