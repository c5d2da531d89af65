/*
 * In the helper: the lease by which it holds SCIM targets.
 *
 * One lease covers all targets, under a name that no other helper has.  When
 * the lease may have run out, all work stops, and begins anew under another
 * name.
 */

#include "ngx_svc_push_lane.h"
#include "ngx_svc_push_http.h"
#include "ngx_svc_push_sql.h"
#include "ngx_svc_push_sql.row.h"
#include "ngx_svc_push_store.h"
#include "ngx_svc_push_work.h"

#include "ngx_svc_submit.h"


#define NGX_SVC_PUSH_RENEW   2000       /* ms between renewals */
#define NGX_SVC_PUSH_SURE    20000      /* ms, of the 30 s of a lease */
#define NGX_SVC_PUSH_CLAIM   500        /* targets claimed at once */
#define NGX_SVC_PUSH_GIVE    500
#define NGX_SVC_PUSH_MOST    20000      /* targets of this process */
#define NGX_SVC_PUSH_HAND    50         /* ms between releases in a drain */


typedef struct {
    ngx_svc_pg_op_t  *release;          /* under way, or NULL */
    void            (*left)(void);
    ngx_svc_helper_owner_t  owner;
    unsigned          leased:1;
    unsigned          unsure:1;         /* a claim's answer was lost */
    unsigned          draining:1;
    unsigned          leaving:1;
} ngx_svc_push_lease_t;


static ngx_int_t ngx_svc_push_lane_init(const ngx_svc_lane_t *lane,
    ngx_cycle_t *cycle, const u_char *id, const ngx_str_t *before);
static ngx_int_t ngx_svc_push_lane_name(void);
static void ngx_svc_push_lane_message(ngx_str_t *tenant);
static ngx_uint_t ngx_svc_push_lane_due(const ngx_svc_lane_t *lane);
static void ngx_svc_push_lane_check(const ngx_svc_lane_t *lane);
static ngx_int_t ngx_svc_push_lane_claim(const ngx_svc_lane_t *lane,
    ngx_svc_pg_op_t *op);
static ngx_svc_pg_call_t *ngx_svc_push_lane_before(ngx_svc_pg_op_t *op);
static void ngx_svc_push_lane_claimed(const ngx_svc_lane_t *lane,
    ngx_svc_pg_op_t *op);
static void ngx_svc_push_lane_release(ngx_uint_t n);
static void ngx_svc_push_lane_released(ngx_svc_pg_op_t *op);
static void ngx_svc_push_lane_drain(const ngx_svc_lane_t *lane,
    void (*done)(void));
static void ngx_svc_push_lane_leave(const ngx_svc_lane_t *lane,
    void (*done)(void));
static void ngx_svc_push_lane_forget(const ngx_svc_lane_t *lane);
static void ngx_svc_push_lane_exit(const ngx_svc_lane_t *lane);


static ngx_svc_push_lease_t  ngx_svc_push_lease;
static ngx_svc_lane_state_t  ngx_svc_push_lane_state;


const ngx_svc_lane_t  ngx_svc_push_lane = {
    .init = ngx_svc_push_lane_init,
    .drain = ngx_svc_push_lane_drain,
    .leave = ngx_svc_push_lane_leave,
    .exit = ngx_svc_push_lane_exit,
    .state = &ngx_svc_push_lane_state,
    .look = NGX_SVC_PUSH_RENEW,
    .waits = "outbound SCIM waits",
    .due = ngx_svc_push_lane_due,
    .claim = ngx_svc_push_lane_claim,
    .claimed = ngx_svc_push_lane_claimed
};


static ngx_int_t
ngx_svc_push_lane_init(const ngx_svc_lane_t *lane, ngx_cycle_t *cycle,
    const u_char *id, const ngx_str_t *before)
{
    ngx_svc_push_lease_t  *lease;

    if (!ngx_svc_webhook_conf()->push.on) {
        return NGX_DECLINED;
    }

    lease = &ngx_svc_push_lease;

    ngx_svc_helper_owner(&lease->owner, "", id, before);
    ngx_svc_push_store_helper(&lease->owner.name);
    ngx_svc_push_work_init();

    if (ngx_svc_push_http_init(cycle) != NGX_OK
        || ngx_svc_redis_subscribe(NGX_SVC_AUDIT_CHANNEL,
                                   ngx_svc_push_lane_message)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_lane_start(lane, cycle);

    return NGX_OK;
}


/* Targets leased under the old name are nobody's until that lease runs out. */

static ngx_int_t
ngx_svc_push_lane_name(void)
{
    ngx_svc_push_lease.leased = 0;

    return ngx_svc_random_id(ngx_svc_push_lease.owner.name.data);
}


/* A tenant that is not known here may have got its first target. */

static void
ngx_svc_push_lane_message(ngx_str_t *tenant)
{
    if (tenant->data == NULL || (tenant->len == 1 && tenant->data[0] == '*')) {
        ngx_svc_push_work_wake(NULL);

    } else {
        ngx_svc_push_work_wake(tenant);
    }
}


/*
 * In a drain, targets with nothing under way are released to other helpers as
 * they become idle.
 */

static ngx_uint_t
ngx_svc_push_lane_due(const ngx_svc_lane_t *lane)
{
    ngx_svc_push_lease_t  *lease;

    lease = &ngx_svc_push_lease;

    ngx_svc_push_lane_check(lane);

    if (!lease->draining) {
        ngx_svc_push_work_listens(ngx_svc_redis_subscribed());

    } else {
        ngx_svc_lane_look(lane, NGX_SVC_PUSH_HAND);

        if (lease->leased && lease->release == NULL
            && ngx_svc_push_work_count())
        {
            ngx_svc_push_lane_release(NGX_SVC_PUSH_GIVE);
        }
    }

    ngx_svc_gauge_set(NGX_SVC_G_SCIM_TARGETS, ngx_svc_push_work_count());
    ngx_svc_gauge_set(NGX_SVC_G_SCIM_INFLIGHT, ngx_svc_push_work_inflight());

    return !lease->draining
           || ngx_current_msec - lease->owner.asked >= NGX_SVC_PUSH_RENEW;
}


static void
ngx_svc_push_lane_check(const ngx_svc_lane_t *lane)
{
    if (!ngx_svc_push_lease.leased
        || ngx_svc_helper_owner_age(&ngx_svc_push_lease.owner)
           < NGX_SVC_PUSH_SURE)
    {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "outbound SCIM: PostgreSQL has not renewed the lease in "
                  "time: others may have the targets");

    ngx_svc_pg_drop(&lane->state->claim);

    ngx_svc_push_work_forget();
    (void) ngx_svc_push_lane_name();
}


/* --- the lease --------------------------------------------------------- */

static ngx_int_t
ngx_svc_push_lane_claim(const ngx_svc_lane_t *lane, ngx_svc_pg_op_t *op)
{
    ngx_int_t              has, most;
    ngx_svc_pg_call_t     *call;
    ngx_svc_push_lease_t  *lease;

    lease = &ngx_svc_push_lease;
    lease->owner.asked = ngx_current_msec;

    has = ngx_svc_push_work_count();
    most = (has < NGX_SVC_PUSH_MOST && !lease->draining) ? NGX_SVC_PUSH_CLAIM
                                                         : 0;
    call = ngx_svc_push_lane_before(op);

    return (call == NULL
            || ngx_svc_pg_bind_int(op, call, lease->unsure ? -1 : has)
               != NGX_OK
            || ngx_svc_pg_bind_int(op, call, most) != NGX_OK)
           ? NGX_ERROR : NGX_OK;
}


/* The targets of the helper that died are claimed first. */

static ngx_svc_pg_call_t *
ngx_svc_push_lane_before(ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_call_t     *call;
    ngx_svc_push_lease_t  *lease;

    lease = &ngx_svc_push_lease;

    if (lease->owner.before.len) {
        call = ngx_svc_pg_call(op, &ngx_svc_sql_push_release);
        if (call == NULL) {
            return NULL;
        }

        ngx_svc_pg_bind_str(call, &lease->owner.before);
        ngx_svc_pg_bind(call, NULL, 0);
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_push_claim);

    if (call) {
        ngx_svc_pg_bind_str(call, &lease->owner.name);
    }

    return call;
}


/*
 * A helper that started later finds nothing to claim, so those with more than
 * their share release some.
 */

static void
ngx_svc_push_lane_claimed(const ngx_svc_lane_t *lane, ngx_svc_pg_op_t *op)
{
    int                        i;
    PGresult                  *res;
    ngx_uint_t                 has, share;
    ngx_svc_push_lease_t      *lease;
    ngx_svc_row_push_claim_t   row;

    lease = &ngx_svc_push_lease;

    /* a claim may have leased targets though its answer was lost */

    lease->unsure = op->status != NGX_SVC_PG_OK;

    if (lease->unsure) {
        return;
    }

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_push_claim);
    lease->owner.before.len = 0;

    ngx_svc_row_push_claim(&row, res, 0);
    share = ngx_max(row.share, 0);

    if (lease->leased && !row.kept) {
        ngx_svc_push_work_forget();
    }

    lease->leased = 1;
    lease->owner.confirmed = lease->owner.asked;

    for (i = 1; i < PQntuples(res); i++) {
        ngx_svc_row_push_claim(&row, res, i);

        if (ngx_svc_push_work_add(&row.tenant_id, &row.id) != NGX_OK) {
            lease->unsure = 1;
            break;
        }
    }

    has = ngx_svc_push_work_count();

    if (has > share && lease->release == NULL) {
        ngx_svc_push_lane_release(ngx_min(has - share, NGX_SVC_PUSH_GIVE));
    }
}


/* Releases n targets that have nothing to do; 0: all, and the lease. */

static void
ngx_svc_push_lane_release(ngx_uint_t n)
{
    u_char                *ids, *last;
    ngx_svc_pg_op_t       *op;
    ngx_svc_pg_call_t     *call;
    ngx_svc_push_lease_t  *lease;

    lease = &ngx_svc_push_lease;

    op = ngx_svc_helper_op_create(NGX_SVC_PG_WRITE, NULL, 0,
                                  ngx_svc_push_lane_released, NULL);
    if (op == NULL) {
        return;
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_push_release);
    ids = ngx_pnalloc(op->pool, 2 + n * (NGX_SVC_UUID_TEXT_LEN + 1));

    if (call == NULL || ids == NULL) {
        goto failed;
    }

    ngx_svc_pg_bind_str(call, &lease->owner.name);

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

    if (ngx_svc_helper_op_submit(op, NGX_OK, &lease->release) != NGX_OK) {
        lease->unsure = 1;
    }

    return;

failed:

    ngx_destroy_pool(op->pool);
}


/*
 * If a release failed, begins anew under another name: other helpers may or
 * may not have the targets.
 */

static void
ngx_svc_push_lane_released(ngx_svc_pg_op_t *op)
{
    ngx_svc_push_lease_t  *lease;

    lease = &ngx_svc_push_lease;
    lease->release = NULL;

    if (op->status != NGX_SVC_PG_OK && !lease->leaving) {
        ngx_svc_push_work_forget();
        (void) ngx_svc_push_lane_name();
    }

    ngx_destroy_pool(op->pool);
    ngx_svc_lane_done(&lease->left);
}


/* --- the end ----------------------------------------------------------- */

static void
ngx_svc_push_lane_drain(const ngx_svc_lane_t *lane, void (*done)(void))
{
    ngx_svc_push_lease.draining = 1;

    ngx_svc_lane_look(lane, 1);
    ngx_svc_push_work_drain(done);
}


static void
ngx_svc_push_lane_leave(const ngx_svc_lane_t *lane, void (*done)(void))
{
    ngx_svc_push_lease_t  *lease;

    lease = &ngx_svc_push_lease;

    lease->leaving = 1;

    ngx_svc_push_work_drain(NULL);
    ngx_svc_push_lane_forget(lane);
    ngx_svc_push_lane_release(0);

    lease->left = done;

    if (lease->release == NULL) {
        ngx_svc_lane_done(&lease->left);
    }
}


static void
ngx_svc_push_lane_forget(const ngx_svc_lane_t *lane)
{
    ngx_svc_push_work_forget();
    ngx_svc_lane_stop(lane);
    ngx_svc_pg_drop(&ngx_svc_push_lease.release);
}


static void
ngx_svc_push_lane_exit(const ngx_svc_lane_t *lane)
{
    ngx_svc_push_lane_forget(lane);
    ngx_svc_push_http_exit();
}
