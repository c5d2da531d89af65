/*
 * In the helper: applications are told of sessions that have ended.
 *
 * A row of svc.oauth_logout is of the transaction that has ended the session.
 * Who takes it has it for a minute; it goes when its outcome is final.  So each
 * is told at least once, whoever dies on the way.
 */

#include "ngx_svc_logout_lane.h"
#include "ngx_svc_logout_send.h"
#include "ngx_svc_logout_sql.h"
#include "ngx_svc_webhook_op.h"

#include "ngx_svc_metrics.h"


#define NGX_SVC_LOGOUT_LOOK    1000     /* ms between looks in vain */
#define NGX_SVC_LOGOUT_SOON    20       /* ms, when there may be more */
#define NGX_SVC_LOGOUT_FLYING  64       /* at the same time */
#define NGX_SVC_LOGOUT_APP     4        /* of one application, about */
#define NGX_SVC_LOGOUT_TENANT  16
#define NGX_SVC_LOGOUT_POOL    4096

/* The columns of what is taken. */

enum {
    NGX_SVC_LOGOUT_C_TENANT = 0,
    NGX_SVC_LOGOUT_C_CLIENT,
    NGX_SVC_LOGOUT_C_ROOT,
    NGX_SVC_LOGOUT_C_USER,
    NGX_SVC_LOGOUT_C_ATTEMPTS,
    NGX_SVC_LOGOUT_C_URI,
    NGX_SVC_LOGOUT_C_SLUG,
    NGX_SVC_LOGOUT_C_ALG,
    NGX_SVC_LOGOUT_C_KID,
    NGX_SVC_LOGOUT_C_SEALED
};


typedef struct {
    ngx_event_t       timer;
    ngx_svc_pg_op_t  *op;               /* that takes some, or NULL */
    ngx_queue_t       flying;           /* ngx_svc_logout_send_t */
    ngx_uint_t        n;                /* of them */
    ngx_str_t         base;             /* svc_base_url */
    void            (*drained)(void);
    unsigned          draining:1;
} ngx_svc_logout_lane_t;


static void ngx_svc_logout_lane_base(ngx_cycle_t *cycle, ngx_str_t *base);
static void ngx_svc_logout_lane_timer(ngx_event_t *ev);
static ngx_int_t ngx_svc_logout_lane_take(void);
static ngx_int_t ngx_svc_logout_lane_busy(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call);
static ngx_uint_t ngx_svc_logout_lane_count(const ngx_svc_logout_t *row,
    ngx_uint_t tenants);
static void ngx_svc_logout_lane_taken(ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_logout_lane_start(PGresult *res, int row);
static ngx_int_t ngx_svc_logout_lane_row(PGresult *res, int n,
    ngx_svc_logout_t *row);
static void ngx_svc_logout_lane_ended(ngx_svc_logout_send_t *send,
    ngx_svc_logout_outcome_e outcome);
static ngx_int_t ngx_svc_logout_lane_record(ngx_svc_logout_send_t *send,
    ngx_svc_logout_outcome_e outcome);
static void ngx_svc_logout_lane_recorded(ngx_svc_pg_op_t *op);
static void ngx_svc_logout_lane_free(ngx_svc_logout_send_t *send);


static ngx_svc_logout_lane_t  ngx_svc_logout_lane;


ngx_int_t
ngx_svc_logout_lane_init(ngx_cycle_t *cycle)
{
    ngx_svc_logout_lane_t  *lane;

    lane = &ngx_svc_logout_lane;

    ngx_queue_init(&lane->flying);
    ngx_svc_logout_lane_base(cycle, &lane->base);

    if (ngx_svc_webhook_request_init(cycle) != NGX_OK) {
        return NGX_ERROR;
    }

    lane->timer.handler = ngx_svc_logout_lane_timer;
    lane->timer.data = cycle;
    lane->timer.log = cycle->log;
    lane->timer.cancelable = 1;

    ngx_add_timer(&lane->timer, 1);

    return NGX_OK;
}


/* That of the first location of OAuth, by which tokens are issued. */

static void
ngx_svc_logout_lane_base(ngx_cycle_t *cycle, ngx_str_t *base)
{
    ngx_uint_t                i;
    ngx_svc_location_t       *location;
    ngx_svc_main_conf_t      *smcf;
    const ngx_svc_surface_t  *surface;

    static const ngx_str_t    oauth = ngx_string("/oauth");

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_svc_common_module);
    location = smcf->locations.elts;

    for (i = 0; i < smcf->locations.nelts; i++) {
        surface = location[i].conf->surface;

        if (surface && surface->prefix.len == oauth.len
            && ngx_memcmp(surface->prefix.data, oauth.data, oauth.len) == 0)
        {
            *base = location[i].conf->base_key;
            return;
        }
    }
}


static void
ngx_svc_logout_lane_timer(ngx_event_t *ev)
{
    ngx_svc_logout_lane_t  *lane;

    lane = &ngx_svc_logout_lane;

    if (lane->draining) {
        return;
    }

    ngx_add_timer(ev, NGX_SVC_LOGOUT_LOOK);

    if (lane->op == NULL && lane->n < NGX_SVC_LOGOUT_FLYING
        && lane->base.len)
    {
        (void) ngx_svc_logout_lane_take();
    }
}


static ngx_int_t
ngx_svc_logout_lane_take(void)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    static ngx_str_t    nobody = ngx_string("");

    op = ngx_svc_webhook_op_create(NGX_SVC_PG_WRITE, &nobody, 1,
                                   ngx_svc_logout_lane_taken, NULL);
    if (op == NULL) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_logout_take);

    if (call == NULL
        || ngx_svc_pg_bind_int(op, call, NGX_SVC_LOGOUT_FLYING
                                         - ngx_svc_logout_lane.n)
           != NGX_OK
        || ngx_svc_logout_lane_busy(op, call) != NGX_OK
        || ngx_svc_pg_submit(op) != NGX_OK)
    {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    ngx_svc_logout_lane.op = op;

    return NGX_OK;
}


/*
 * Applications, and tenants, that have enough under way: one that does not
 * answer holds up nobody else.  Arrays, in which some are more than once.
 */

static ngx_int_t
ngx_svc_logout_lane_busy(ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call)
{
    u_char                 *p;
    ngx_str_t               text, *id;
    ngx_uint_t              tenants;
    ngx_queue_t            *q, *flying;
    ngx_svc_logout_send_t  *send;

    flying = &ngx_svc_logout_lane.flying;

    for (tenants = 0; tenants < 2; tenants++) {

        p = ngx_pnalloc(op->pool, 2 + NGX_SVC_LOGOUT_FLYING * 64);
        if (p == NULL) {
            return NGX_ERROR;
        }

        text.data = p;
        *p++ = '{';

        for (q = ngx_queue_head(flying); q != flying; q = ngx_queue_next(q)) {
            send = ngx_queue_data(q, ngx_svc_logout_send_t, queue);
            id = tenants ? &send->row.tenant : &send->row.client;

            if (ngx_svc_logout_lane_count(&send->row, tenants)
                >= (tenants ? NGX_SVC_LOGOUT_TENANT : NGX_SVC_LOGOUT_APP))
            {
                p = ngx_sprintf(p, p == text.data + 1 ? "%V" : ",%V", id);
            }
        }

        *p++ = '}';
        text.len = p - text.data;

        ngx_svc_pg_bind_str(call, &text);
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_logout_lane_count(const ngx_svc_logout_t *row, ngx_uint_t tenants)
{
    ngx_uint_t              n;
    ngx_queue_t            *q, *flying;
    const ngx_str_t        *own, *other;
    ngx_svc_logout_send_t  *send;

    n = 0;
    own = tenants ? &row->tenant : &row->client;
    flying = &ngx_svc_logout_lane.flying;

    for (q = ngx_queue_head(flying); q != flying; q = ngx_queue_next(q)) {
        send = ngx_queue_data(q, ngx_svc_logout_send_t, queue);
        other = tenants ? &send->row.tenant : &send->row.client;

        n += (other->len == own->len
              && ngx_memcmp(other->data, own->data, own->len) == 0);
    }

    return n;
}


/* What cannot be begun is due again in a minute. */

static void
ngx_svc_logout_lane_taken(ngx_svc_pg_op_t *op)
{
    int        i;
    PGresult  *res;

    ngx_svc_logout_lane.op = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, "logout tokens wait");

    } else {
        res = ngx_svc_pg_op_result(op, &ngx_svc_sql_logout_take);

        for (i = 0; i < PQntuples(res); i++) {
            (void) ngx_svc_logout_lane_start(res, i);
        }

        if (PQntuples(res) && ngx_svc_logout_lane.timer.timer_set) {
            ngx_add_timer(&ngx_svc_logout_lane.timer, NGX_SVC_LOGOUT_SOON);
        }
    }

    ngx_destroy_pool(op->pool);
}


static ngx_int_t
ngx_svc_logout_lane_start(PGresult *res, int row)
{
    ngx_int_t               rc;
    ngx_pool_t             *pool;
    ngx_svc_logout_send_t  *send;

    pool = ngx_create_pool(NGX_SVC_LOGOUT_POOL, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    send = ngx_pcalloc(pool, sizeof(ngx_svc_logout_send_t));

    if (send == NULL) {
        ngx_destroy_pool(pool);
        return NGX_ERROR;
    }

    send->row.pool = pool;
    send->handler = ngx_svc_logout_lane_ended;

    ngx_queue_insert_tail(&ngx_svc_logout_lane.flying, &send->queue);
    ngx_svc_logout_lane.n++;

    rc = ngx_svc_logout_lane_row(res, row, &send->row);

    if (rc == NGX_OK) {
        rc = ngx_svc_logout_send(send, &ngx_svc_logout_lane.base);
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_logout_lane_ended(send, NGX_SVC_LOGOUT_NOBODY);

    } else if (rc != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "svc: a logout token of tenant %V cannot be made",
                      &send->row.tenant);
        ngx_svc_logout_lane_free(send);
    }

    return rc;
}


static ngx_int_t
ngx_svc_logout_lane_row(PGresult *res, int n, ngx_svc_logout_t *row)
{
    ngx_uint_t  i;
    ngx_str_t   value, attempts;

    const struct {
        int         column;
        ngx_str_t  *text;
    } columns[] = {
        { NGX_SVC_LOGOUT_C_TENANT, &row->tenant },
        { NGX_SVC_LOGOUT_C_CLIENT, &row->client },
        { NGX_SVC_LOGOUT_C_ROOT, &row->root },
        { NGX_SVC_LOGOUT_C_USER, &row->user },
        { NGX_SVC_LOGOUT_C_URI, &row->uri },
        { NGX_SVC_LOGOUT_C_SLUG, &row->slug },
        { NGX_SVC_LOGOUT_C_ALG, &row->alg },
        { NGX_SVC_LOGOUT_C_KID, &row->kid },
        { NGX_SVC_LOGOUT_C_SEALED, &row->sealed }
    };

    for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {

        if (PQgetisnull(res, n, columns[i].column)) {
            continue;
        }

        value = ngx_svc_pg_value(res, n, columns[i].column);

        /* the URI is libcurl's, which wants its end */

        columns[i].text->data = ngx_pnalloc(row->pool, value.len + 1);
        if (columns[i].text->data == NULL) {
            return NGX_ERROR;
        }

        *ngx_cpymem(columns[i].text->data, value.data, value.len) = '\0';
        columns[i].text->len = value.len;
    }

    attempts = ngx_svc_pg_value(res, n, NGX_SVC_LOGOUT_C_ATTEMPTS);
    row->attempts = ngx_max(ngx_atoi(attempts.data, attempts.len), 1);

    return NGX_OK;
}


static void
ngx_svc_logout_lane_ended(ngx_svc_logout_send_t *send,
    ngx_svc_logout_outcome_e outcome)
{
    static const ngx_int_t  metrics[] = {
        [NGX_SVC_LOGOUT_DELIVERED] = NGX_SVC_M_LOGOUT_DELIVERED,
        [NGX_SVC_LOGOUT_RETRIED] = NGX_SVC_M_LOGOUT_RETRIED,
        [NGX_SVC_LOGOUT_ABANDONED] = NGX_SVC_M_LOGOUT_ABANDONED,
        [NGX_SVC_LOGOUT_REFUSED] = NGX_SVC_M_LOGOUT_REFUSED,
        [NGX_SVC_LOGOUT_POSTPONED] = NGX_ERROR,
        [NGX_SVC_LOGOUT_NOBODY] = NGX_ERROR
    };

    if (metrics[outcome] != NGX_ERROR) {
        ngx_svc_metric_add(metrics[outcome], 1);
    }

    if (ngx_svc_logout_lane_record(send, outcome) != NGX_OK) {
        ngx_svc_logout_lane_free(send);
    }
}


static ngx_int_t
ngx_svc_logout_lane_record(ngx_svc_logout_send_t *send,
    ngx_svc_logout_outcome_e outcome)
{
    ngx_uint_t          again;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    again = outcome == NGX_SVC_LOGOUT_RETRIED
            || outcome == NGX_SVC_LOGOUT_POSTPONED;

    op = ngx_svc_webhook_op_create(NGX_SVC_PG_WRITE, &send->row.tenant, 1,
                                   ngx_svc_logout_lane_recorded, send);
    if (op == NULL) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(op, again ? &ngx_svc_sql_logout_again
                                     : &ngx_svc_sql_logout_done);
    if (call == NULL) {
        goto failed;
    }

    ngx_svc_pg_bind_str(call, &send->row.client);
    ngx_svc_pg_bind_str(call, &send->row.root);

    if (again) {
        ngx_svc_pg_bind_bool(call, outcome == NGX_SVC_LOGOUT_RETRIED);
    }

    if (ngx_svc_pg_submit(op) != NGX_OK) {
        goto failed;
    }

    send->op = op;

    return NGX_OK;

failed:

    ngx_destroy_pool(op->pool);

    return NGX_ERROR;
}


static void
ngx_svc_logout_lane_recorded(ngx_svc_pg_op_t *op)
{
    ngx_svc_logout_send_t  *send;

    send = op->data;
    send->op = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, "a logout token will be sent again");
    }

    ngx_destroy_pool(op->pool);
    ngx_svc_logout_lane_free(send);
}


static void
ngx_svc_logout_lane_free(ngx_svc_logout_send_t *send)
{
    void                 (*drained)(void);
    ngx_svc_logout_lane_t  *lane;

    lane = &ngx_svc_logout_lane;

    if (send->op) {
        ngx_svc_pg_cancel(send->op);
        ngx_destroy_pool(send->op->pool);
    }

    ngx_svc_logout_send_close(send);
    ngx_queue_remove(&send->queue);
    ngx_destroy_pool(send->row.pool);

    if (--lane->n == 0 && lane->draining && lane->drained) {
        drained = lane->drained;
        lane->drained = NULL;
        drained();
        return;
    }

    if (!lane->draining && lane->timer.timer_set) {
        ngx_add_timer(&lane->timer, NGX_SVC_LOGOUT_SOON);
    }
}


void
ngx_svc_logout_lane_drain(void (*done)(void))
{
    ngx_svc_logout_lane_t  *lane;

    lane = &ngx_svc_logout_lane;

    lane->draining = 1;

    if (lane->op) {
        ngx_svc_pg_cancel(lane->op);
        ngx_destroy_pool(lane->op->pool);
        lane->op = NULL;
    }

    if (lane->n == 0) {
        done();
        return;
    }

    lane->drained = done;
}


void
ngx_svc_logout_lane_leave(void (*done)(void))
{
    ngx_svc_logout_lane.drained = NULL;

    ngx_svc_logout_lane_exit();

    done();
}


void
ngx_svc_logout_lane_exit(void)
{
    ngx_queue_t            *q;
    ngx_svc_logout_lane_t  *lane;

    lane = &ngx_svc_logout_lane;

    lane->draining = 1;

    if (lane->op) {
        ngx_svc_pg_cancel(lane->op);
        ngx_destroy_pool(lane->op->pool);
        lane->op = NULL;
    }

    while (!ngx_queue_empty(&lane->flying)) {
        q = ngx_queue_head(&lane->flying);
        ngx_svc_logout_lane_free(ngx_queue_data(q, ngx_svc_logout_send_t,
                                                queue));
    }

    if (lane->timer.timer_set) {
        ngx_del_timer(&lane->timer);
    }
}
