/*
 * In the helper: the lease by which it has SCIM targets.
 *
 * There is one for all of them, under a name that nobody else has.  When it may
 * have run out all stops, and begins anew under another name.
 */

#include "ngx_svc_push_lane.h"
#include "ngx_svc_push_http.h"
#include "ngx_svc_push_sql.h"
#include "ngx_svc_push_store.h"
#include "ngx_svc_push_work.h"
#include "ngx_svc_webhook.h"

#include "ngx_svc_metrics.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_PUSH_RENEW   2000       /* ms */
#define NGX_SVC_PUSH_SURE    20000      /* of the 30 s that it lasts */
#define NGX_SVC_PUSH_CLAIM   500        /* targets at once */
#define NGX_SVC_PUSH_GIVE    500
#define NGX_SVC_PUSH_MOST    20000      /* targets in this process */
#define NGX_SVC_PUSH_HAND    50         /* ms, between what is handed over */


typedef struct {
    ngx_event_t       timer;
    ngx_svc_pg_op_t  *op;               /* a claim, or NULL */
    ngx_svc_pg_op_t  *release;          /* or NULL */
    ngx_msec_t        began;            /* the claim */
    ngx_msec_t        sure;             /* when the last one had begun */
    ngx_str_t         id;
    ngx_str_t         before;           /* of who has died, or empty */
    void            (*left)(void);
    ngx_msec_t        renewed;          /* when the last one was tried */
    unsigned          leased:1;
    unsigned          unsure:1;         /* which targets are leased */
    unsigned          draining:1;
    unsigned          leaving:1;
    u_char            text[NGX_SVC_WEBHOOK_ID];
    u_char            dead[NGX_SVC_WEBHOOK_ID];
} ngx_svc_push_lane_t;


static ngx_int_t ngx_svc_push_lane_name(void);
static void ngx_svc_push_lane_message(ngx_str_t *tenant);
static void ngx_svc_push_lane_timer(ngx_event_t *ev);
static void ngx_svc_push_lane_hand(void);
static void ngx_svc_push_lane_check(void);
static void ngx_svc_push_lane_claim(void);
static ngx_svc_pg_call_t *ngx_svc_push_lane_before(ngx_svc_pg_op_t *op);
static ngx_svc_pg_op_t *ngx_svc_push_lane_op(ngx_svc_pg_handler_pt handler);
static void ngx_svc_push_lane_claimed(ngx_svc_pg_op_t *op);
static void ngx_svc_push_lane_share(ngx_uint_t share);
static void ngx_svc_push_lane_release(ngx_uint_t n);
static void ngx_svc_push_lane_released(ngx_svc_pg_op_t *op);


static ngx_svc_push_lane_t  ngx_svc_push_lane;


ngx_int_t
ngx_svc_push_lane_init(ngx_cycle_t *cycle, const u_char *id,
    const ngx_str_t *before)
{
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;

    lane->id.data = lane->text;
    lane->id.len = NGX_SVC_WEBHOOK_ID;
    ngx_memcpy(lane->text, id, NGX_SVC_WEBHOOK_ID);

    if (before->len == NGX_SVC_WEBHOOK_ID) {
        lane->before.data = lane->dead;
        lane->before.len = NGX_SVC_WEBHOOK_ID;
        ngx_memcpy(lane->dead, before->data, NGX_SVC_WEBHOOK_ID);
    }

    ngx_svc_push_store_helper(&lane->id);

    ngx_svc_push_work_init();

    if (ngx_svc_push_http_init(cycle) != NGX_OK
        || ngx_svc_redis_subscribe(NGX_SVC_AUDIT_CHANNEL,
                                   ngx_svc_push_lane_message)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    lane->timer.handler = ngx_svc_push_lane_timer;
    lane->timer.data = cycle;
    lane->timer.log = cycle->log;

    ngx_add_timer(&lane->timer, 1);

    return NGX_OK;
}


/* Under the old name there may be targets that nobody works at, for a while. */

static ngx_int_t
ngx_svc_push_lane_name(void)
{
    ngx_svc_push_lane.leased = 0;

    return ngx_svc_webhook_id(ngx_svc_push_lane.text);
}


/* A tenant that is not known may have its first target. */

static void
ngx_svc_push_lane_message(ngx_str_t *tenant)
{
    if (tenant->data == NULL || (tenant->len == 1 && tenant->data[0] == '*')) {
        ngx_svc_push_work_wake(NULL);

    } else {
        ngx_svc_push_work_wake(tenant);
    }
}


static void
ngx_svc_push_lane_timer(ngx_event_t *ev)
{
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;

    if (lane->leaving) {
        return;
    }

    ngx_svc_push_lane_check();

    if (lane->draining) {
        ngx_add_timer(ev, NGX_SVC_PUSH_HAND);
        ngx_svc_push_lane_hand();

    } else {
        ngx_add_timer(ev, NGX_SVC_PUSH_RENEW);
        ngx_svc_push_work_listens(ngx_svc_redis_subscribed());
    }

    if (lane->op == NULL
        && (!lane->draining
            || ngx_current_msec - lane->renewed >= NGX_SVC_PUSH_RENEW))
    {
        lane->renewed = ngx_current_msec;
        ngx_svc_push_lane_claim();
    }

    ngx_svc_gauge_set(NGX_SVC_G_SCIM_TARGETS, ngx_svc_push_work_count());
    ngx_svc_gauge_set(NGX_SVC_G_SCIM_FLYING, ngx_svc_push_work_flying());
}


/* What has nothing under way is for others at once, as it comes to that. */

static void
ngx_svc_push_lane_hand(void)
{
    if (ngx_svc_push_lane.leased && ngx_svc_push_lane.release == NULL
        && ngx_svc_push_work_count())
    {
        ngx_svc_push_lane_release(NGX_SVC_PUSH_GIVE);
    }
}


static void
ngx_svc_push_lane_check(void)
{
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;

    if (!lane->leased
        || ngx_current_msec - lane->sure < NGX_SVC_PUSH_SURE)
    {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "outbound SCIM: PostgreSQL has not renewed the lease in "
                  "time: others may have the targets");

    if (lane->op) {
        ngx_svc_pg_cancel(lane->op);
        ngx_destroy_pool(lane->op->pool);
        lane->op = NULL;
    }

    ngx_svc_push_work_forget();
    (void) ngx_svc_push_lane_name();
}


/* --- the lease --------------------------------------------------------- */

static void
ngx_svc_push_lane_claim(void)
{
    ngx_int_t             has, most;
    ngx_svc_pg_op_t      *op;
    ngx_svc_pg_call_t    *call;
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;

    op = ngx_svc_push_lane_op(ngx_svc_push_lane_claimed);
    if (op == NULL) {
        return;
    }

    has = ngx_svc_push_work_count();
    most = (has < NGX_SVC_PUSH_MOST && !lane->draining) ? NGX_SVC_PUSH_CLAIM
                                                        : 0;
    call = ngx_svc_push_lane_before(op);

    if (call == NULL
        || ngx_svc_pg_bind_int(op, call, lane->unsure ? -1 : has) != NGX_OK
        || ngx_svc_pg_bind_int(op, call, most) != NGX_OK
        || ngx_svc_pg_submit(op) != NGX_OK)
    {
        ngx_destroy_pool(op->pool);
        return;
    }

    lane->op = op;
    lane->began = ngx_current_msec;
}


/* What the helper had that has died comes first. */

static ngx_svc_pg_call_t *
ngx_svc_push_lane_before(ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_call_t    *call;
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;

    if (lane->before.len) {
        call = ngx_svc_pg_call(op, &ngx_svc_sql_push_release);
        if (call == NULL) {
            return NULL;
        }

        ngx_svc_pg_bind_str(call, &lane->before);
        ngx_svc_pg_bind(call, NULL, 0);
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_push_claim);

    if (call) {
        ngx_svc_pg_bind_str(call, &lane->id);
    }

    return call;
}


/* In a pool of its own, or NULL. */

static ngx_svc_pg_op_t *
ngx_svc_push_lane_op(ngx_svc_pg_handler_pt handler)
{
    ngx_pool_t       *pool;
    ngx_svc_pg_op_t  *op;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    op = ngx_svc_pg_op_create(pool, NGX_SVC_PG_WRITE, handler,
                              &ngx_svc_push_lane);
    if (op == NULL) {
        ngx_destroy_pool(pool);
    }

    return op;
}


static void
ngx_svc_push_lane_claimed(ngx_svc_pg_op_t *op)
{
    int                   i;
    ngx_str_t             tenant, id, share;
    PGresult             *res;
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;
    lane->op = NULL;

    /* an answer that is lost may have leased something */

    if (op->status != NGX_SVC_PG_OK) {
        lane->unsure = 1;
        ngx_svc_pg_op_failed(op, "outbound SCIM waits");
        ngx_destroy_pool(op->pool);
        return;
    }

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_push_claim);
    lane->before.len = 0;

    if (lane->leased && !ngx_svc_pg_true(res, 0, 0)) {
        ngx_svc_push_work_forget();
    }

    lane->leased = 1;
    lane->unsure = 0;
    lane->sure = lane->began;

    for (i = 1; i < PQntuples(res); i++) {
        tenant = ngx_svc_pg_value(res, i, 2);
        id = ngx_svc_pg_value(res, i, 3);

        if (ngx_svc_push_work_add(&tenant, &id) != NGX_OK) {
            lane->unsure = 1;
            break;
        }
    }

    share = ngx_svc_pg_value(res, 0, 1);
    ngx_svc_push_lane_share(ngx_max(ngx_atoi(share.data, share.len), 0));

    ngx_destroy_pool(op->pool);
}


/* A helper that has come later has nothing to take. */

static void
ngx_svc_push_lane_share(ngx_uint_t share)
{
    ngx_uint_t  has;

    has = ngx_svc_push_work_count();

    if (has > share && ngx_svc_push_lane.release == NULL) {
        ngx_svc_push_lane_release(ngx_min(has - share, NGX_SVC_PUSH_GIVE));
    }
}


/* n: of those that have nothing to do; 0: all, and the lease. */

static void
ngx_svc_push_lane_release(ngx_uint_t n)
{
    u_char               *ids, *last;
    ngx_svc_pg_op_t      *op;
    ngx_svc_pg_call_t    *call;
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;

    op = ngx_svc_push_lane_op(ngx_svc_push_lane_released);
    if (op == NULL) {
        return;
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_push_release);
    ids = ngx_pnalloc(op->pool, 2 + n * (NGX_SVC_UUID_TEXT_LEN + 1));

    if (call == NULL || ids == NULL) {
        goto failed;
    }

    ngx_svc_pg_bind_str(call, &lane->id);

    if (n == 0) {
        ngx_svc_pg_bind(call, NULL, 0);

    } else {
        *ids = '{';
        last = ngx_svc_push_work_give(ids + 1, n);

        if (last == ids + 1) {
            goto failed;
        }

        last[-1] = '}';
        ngx_svc_pg_bind(call, ids, last - ids);
    }

    if (ngx_svc_pg_submit(op) != NGX_OK) {
        lane->unsure = 1;
        goto failed;
    }

    lane->release = op;

    return;

failed:

    ngx_destroy_pool(op->pool);
}


/* Who has lost what it wanted to give back begins anew: nobody else has it. */

static void
ngx_svc_push_lane_released(ngx_svc_pg_op_t *op)
{
    void                (*left)(void);
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;
    lane->release = NULL;

    if (op->status != NGX_SVC_PG_OK && !lane->leaving) {
        ngx_svc_push_work_forget();
        (void) ngx_svc_push_lane_name();
    }

    ngx_destroy_pool(op->pool);

    if (lane->left) {
        left = lane->left;
        lane->left = NULL;
        left();
    }
}


/* --- the end ----------------------------------------------------------- */

void
ngx_svc_push_lane_drain(void (*done)(void))
{
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;

    lane->draining = 1;
    lane->renewed = lane->began;

    if (lane->timer.timer_set) {
        ngx_add_timer(&lane->timer, 1);
    }

    ngx_svc_push_work_drain(done);
}


void
ngx_svc_push_lane_leave(void (*done)(void))
{
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;

    lane->leaving = 1;

    ngx_svc_push_work_drain(NULL);
    ngx_svc_push_work_forget();

    ngx_svc_push_lane_exit();
    ngx_svc_push_lane_release(0);

    lane->left = done;

    if (lane->release == NULL) {
        lane->left = NULL;
        done();
    }
}


void
ngx_svc_push_lane_exit(void)
{
    ngx_svc_push_lane_t  *lane;

    lane = &ngx_svc_push_lane;

    ngx_svc_push_work_forget();

    if (lane->op) {
        ngx_svc_pg_cancel(lane->op);
        ngx_destroy_pool(lane->op->pool);
        lane->op = NULL;
    }

    if (lane->release) {
        ngx_svc_pg_cancel(lane->release);
        ngx_destroy_pool(lane->release->pool);
        lane->release = NULL;
    }

    if (lane->timer.timer_set) {
        ngx_del_timer(&lane->timer);
    }
}
