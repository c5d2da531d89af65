/*
 * In the helper: makes the requests that workers wait for.
 *
 * Those of a tenant whose servers hang wait for each other, and not others for
 * them: a tenant has a quarter of all that are under way.
 */

#include "ngx_svc_fetch_lane.h"
#include "ngx_svc_fetch_job.h"
#include "ngx_svc_fetch_queue.h"


#define NGX_SVC_FETCH_JOBS   1000       /* in this process, at most */
#define NGX_SVC_FETCH_AGAIN  200        /* ms until an answer is left again */


/* A tenant with jobs. */

struct ngx_svc_fetch_tenant_s {
    ngx_str_node_t       node;          /* by id */
    ngx_queue_t          turn;          /* in lane.turns, if it has a turn */
    ngx_queue_t          waiting;       /* ngx_svc_fetch_job_t */
    ngx_uint_t           njobs;
    ngx_uint_t           active;        /* requests under way */
    unsigned             turns:1;
    u_char               id[NGX_SVC_UUID_TEXT_LEN];
};

typedef struct {
    ngx_rbtree_t         tenants;
    ngx_rbtree_node_t    sentinel;
    ngx_queue_t          turns;         /* tenants with a job that may begin */
    ngx_queue_t          jobs;
    ngx_uint_t           njobs;
    ngx_uint_t           active;        /* requests under way */
    void               (*drained)(void);
} ngx_svc_fetch_lane_t;


static ngx_int_t ngx_svc_fetch_lane_init(const ngx_svc_lane_t *lane,
    ngx_cycle_t *cycle, const u_char *id, const ngx_str_t *before);
static ngx_uint_t ngx_svc_fetch_lane_room(void);
static void ngx_svc_fetch_lane_take(const ngx_str_t *entry, ngx_msec_t ms);
static ngx_svc_fetch_tenant_t *ngx_svc_fetch_lane_tenant(
    const ngx_str_t *id);
static void ngx_svc_fetch_lane_turn(ngx_svc_fetch_tenant_t *tenant);
static void ngx_svc_fetch_lane_pump(void);
static void ngx_svc_fetch_lane_answered(ngx_svc_outbound_t *r);
static void ngx_svc_fetch_lane_leave(ngx_svc_fetch_job_t *job);
static void ngx_svc_fetch_lane_left(redisReply *reply, void *data);
static void ngx_svc_fetch_lane_again(ngx_event_t *ev);
static void ngx_svc_fetch_lane_free(ngx_svc_fetch_job_t *job);
static void ngx_svc_fetch_lane_drain(const ngx_svc_lane_t *lane,
    void (*done)(void));
static void ngx_svc_fetch_lane_end(const ngx_svc_lane_t *lane,
    void (*done)(void));
static void ngx_svc_fetch_lane_exit(const ngx_svc_lane_t *lane);


static const ngx_svc_fetch_queue_handlers_t  ngx_svc_fetch_lane_handlers = {
    .room = ngx_svc_fetch_lane_room,
    .take = ngx_svc_fetch_lane_take
};

static ngx_svc_fetch_lane_t  ngx_svc_fetch_lane_ctx;


const ngx_svc_lane_t  ngx_svc_fetch_lane = {
    .init = ngx_svc_fetch_lane_init,
    .drain = ngx_svc_fetch_lane_drain,
    .leave = ngx_svc_fetch_lane_end,
    .exit = ngx_svc_fetch_lane_exit
};


static ngx_int_t
ngx_svc_fetch_lane_init(const ngx_svc_lane_t *lane, ngx_cycle_t *cycle,
    const u_char *id, const ngx_str_t *before)
{
    ngx_svc_fetch_lane_t  *ctx;

    if (!ngx_svc_webhook_conf()->fetch) {
        return NGX_DECLINED;
    }

    ctx = &ngx_svc_fetch_lane_ctx;

    ngx_rbtree_init(&ctx->tenants, &ctx->sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_queue_init(&ctx->turns);
    ngx_queue_init(&ctx->jobs);

    if (ngx_svc_outbound_init(cycle) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_fetch_queue_start(cycle, id, &ngx_svc_fetch_lane_handlers);
}


static ngx_uint_t
ngx_svc_fetch_lane_room(void)
{
    return NGX_SVC_FETCH_JOBS - ngx_min(ngx_svc_fetch_lane_ctx.njobs,
                                        NGX_SVC_FETCH_JOBS);
}


static void
ngx_svc_fetch_lane_take(const ngx_str_t *entry, ngx_msec_t ms)
{
    ngx_svc_fetch_job_t     *job;
    ngx_svc_fetch_lane_t    *ctx;
    ngx_svc_fetch_tenant_t  *tenant;

    ctx = &ngx_svc_fetch_lane_ctx;

    job = ngx_svc_fetch_job(entry, ms);
    if (job == NULL) {
        return;
    }

    tenant = ngx_svc_fetch_lane_tenant(&job->fetch.tenant);
    if (tenant == NULL) {
        ngx_destroy_pool(job->pool);
        return;
    }

    job->tenant = tenant;
    job->request.handler = ngx_svc_fetch_lane_answered;

    tenant->njobs++;
    ctx->njobs++;
    ngx_queue_insert_tail(&ctx->jobs, &job->all);
    ngx_queue_insert_tail(&tenant->waiting, &job->queue);
    ngx_svc_gauge_set(NGX_SVC_G_FETCHES, ctx->njobs);

    ngx_svc_fetch_lane_turn(tenant);
    ngx_svc_fetch_lane_pump();
}


static ngx_svc_fetch_tenant_t *
ngx_svc_fetch_lane_tenant(const ngx_str_t *id)
{
    uint32_t                 hash;
    ngx_svc_fetch_lane_t    *ctx;
    ngx_svc_fetch_tenant_t  *tenant;

    ctx = &ngx_svc_fetch_lane_ctx;
    hash = ngx_crc32_short(id->data, id->len);

    tenant = (ngx_svc_fetch_tenant_t *)
                 ngx_str_rbtree_lookup(&ctx->tenants, (ngx_str_t *) id, hash);
    if (tenant) {
        return tenant;
    }

    tenant = ngx_calloc(sizeof(ngx_svc_fetch_tenant_t), ngx_cycle->log);
    if (tenant == NULL) {
        return NULL;
    }

    ngx_memcpy(tenant->id, id->data, id->len);
    tenant->node.node.key = hash;
    tenant->node.str.data = tenant->id;
    tenant->node.str.len = id->len;
    ngx_queue_init(&tenant->waiting);

    ngx_rbtree_insert(&ctx->tenants, &tenant->node.node);

    return tenant;
}


/* Gives a tenant a turn, or takes it away. */

static void
ngx_svc_fetch_lane_turn(ngx_svc_fetch_tenant_t *tenant)
{
    ngx_uint_t  turns, share;

    share = ngx_max(ngx_svc_webhook_conf()->fetches / 4, 1);
    turns = !ngx_queue_empty(&tenant->waiting) && tenant->active < share;

    if (turns && !tenant->turns) {
        ngx_queue_insert_tail(&ngx_svc_fetch_lane_ctx.turns, &tenant->turn);

    } else if (!turns && tenant->turns) {
        ngx_queue_remove(&tenant->turn);
    }

    tenant->turns = turns;
}


static void
ngx_svc_fetch_lane_pump(void)
{
    ngx_queue_t             *q;
    ngx_svc_fetch_job_t     *job;
    ngx_svc_fetch_lane_t    *ctx;
    ngx_svc_fetch_tenant_t  *tenant;

    ctx = &ngx_svc_fetch_lane_ctx;

    while (!ngx_queue_empty(&ctx->turns)
           && ctx->active < ngx_svc_webhook_conf()->fetches)
    {
        q = ngx_queue_head(&ctx->turns);
        tenant = ngx_queue_data(q, ngx_svc_fetch_tenant_t, turn);

        ngx_queue_remove(q);
        tenant->turns = 0;

        q = ngx_queue_head(&tenant->waiting);
        job = ngx_queue_data(q, ngx_svc_fetch_job_t, queue);

        ngx_queue_remove(q);

        if (ngx_svc_fetch_job_begin(job) == NGX_OK) {
            job->active = 1;
            tenant->active++;
            ctx->active++;
            ngx_svc_fetch_lane_turn(tenant);

        } else {
            ngx_svc_fetch_lane_turn(tenant);
            ngx_svc_fetch_lane_leave(job);
        }
    }
}


static void
ngx_svc_fetch_lane_answered(ngx_svc_outbound_t *r)
{
    ngx_svc_fetch_job_t  *job;

    job = r->data;

    ngx_svc_fetch_job_result(job);

    job->active = 0;
    job->tenant->active--;
    ngx_svc_fetch_lane_ctx.active--;

    ngx_svc_fetch_lane_turn(job->tenant);
    ngx_svc_fetch_lane_leave(job);
    ngx_svc_fetch_lane_pump();
}


/* A job with a result ends when Redis has that, or nobody waits any more. */

static void
ngx_svc_fetch_lane_leave(ngx_svc_fetch_job_t *job)
{
    if (ngx_svc_fetch_job_answer(job) != NGX_OK) {
        ngx_svc_fetch_lane_free(job);
        return;
    }

    if (ngx_svc_fetch_queue_leave(&job->fetch, &job->answer,
                                  ngx_svc_fetch_lane_left, job)
        != NGX_OK)
    {
        ngx_svc_fetch_lane_left(NULL, job);
    }
}


static void
ngx_svc_fetch_lane_left(redisReply *reply, void *data)
{
    ngx_svc_fetch_job_t *job = data;

    if (reply || (ngx_msec_int_t) (job->due + NGX_SVC_FETCH_GRACE
                                   - ngx_current_msec) <= 0)
    {
        ngx_svc_fetch_lane_free(job);
        return;
    }

    job->timer.handler = ngx_svc_fetch_lane_again;
    job->timer.data = job;
    job->timer.log = ngx_cycle->log;

    ngx_add_timer(&job->timer, NGX_SVC_FETCH_AGAIN);
}


static void
ngx_svc_fetch_lane_again(ngx_event_t *ev)
{
    ngx_svc_fetch_lane_leave(ev->data);
}


static void
ngx_svc_fetch_lane_free(ngx_svc_fetch_job_t *job)
{
    ngx_svc_fetch_lane_t    *ctx;
    ngx_svc_fetch_tenant_t  *tenant;

    ctx = &ngx_svc_fetch_lane_ctx;
    tenant = job->tenant;

    ngx_queue_remove(&job->all);
    ngx_svc_fetch_job_free(job);

    if (--tenant->njobs == 0) {
        ngx_rbtree_delete(&ctx->tenants, &tenant->node.node);
        ngx_free(tenant);
    }

    if (ctx->njobs-- == NGX_SVC_FETCH_JOBS) {
        ngx_svc_fetch_queue_take();
    }

    ngx_svc_gauge_set(NGX_SVC_G_FETCHES, ctx->njobs);

    if (ctx->njobs == 0) {
        ngx_svc_lane_done(&ctx->drained);
    }
}


/* What was taken is asked still: nobody else will. */

static void
ngx_svc_fetch_lane_drain(const ngx_svc_lane_t *lane, void (*done)(void))
{
    ngx_svc_fetch_queue_stop();

    if (ngx_svc_fetch_lane_ctx.njobs == 0) {
        done();
        return;
    }

    ngx_svc_fetch_lane_ctx.drained = done;
}


static void
ngx_svc_fetch_lane_end(const ngx_svc_lane_t *lane, void (*done)(void))
{
    ngx_svc_fetch_queue_stop();
    ngx_svc_fetch_lane_ctx.drained = NULL;

    done();
}


static void
ngx_svc_fetch_lane_exit(const ngx_svc_lane_t *lane)
{
    ngx_queue_t          *q;
    ngx_svc_fetch_job_t  *job;

    while (!ngx_queue_empty(&ngx_svc_fetch_lane_ctx.jobs)) {
        q = ngx_queue_head(&ngx_svc_fetch_lane_ctx.jobs);
        job = ngx_queue_data(q, ngx_svc_fetch_job_t, all);

        ngx_svc_fetch_lane_free(job);
    }

    ngx_svc_outbound_exit();
}
