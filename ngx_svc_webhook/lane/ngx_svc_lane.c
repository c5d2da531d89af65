/*
 * In the helper: what its lanes have in common.
 */

#include "ngx_svc_lane.h"


#define NGX_SVC_LANE_POOL   4096
#define NGX_SVC_LANE_VALUE  64          /* bytes of a value in an array, with
                                           its comma */

#define ngx_svc_lane_value(q, column)                                         \
    (&(ngx_queue_data(q, ngx_svc_lane_job_t, queue))->row[column])


static void ngx_svc_lane_timer(ngx_event_t *ev);
static void ngx_svc_lane_claimed(ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_lane_busy(const ngx_svc_lane_t *lane,
    const ngx_svc_lane_busy_t *busy, ngx_pool_t *pool, ngx_str_t *values);
static void ngx_svc_lane_job(const ngx_svc_lane_t *lane, PGresult *res,
    int n);
static ngx_int_t ngx_svc_lane_job_row(ngx_svc_lane_job_t *job, PGresult *res,
    int n);
static void ngx_svc_lane_job_answered(ngx_svc_outbound_t *r);
static ngx_svc_lane_outcome_e ngx_svc_lane_job_outcome(
    ngx_svc_lane_job_t *job);
static void ngx_svc_lane_job_end(ngx_svc_lane_job_t *job,
    ngx_svc_lane_outcome_e outcome);
static void ngx_svc_lane_job_recorded(ngx_svc_pg_op_t *op);
static void ngx_svc_lane_job_free(ngx_svc_lane_job_t *job);
static void ngx_svc_lane_jobs_free(const ngx_svc_lane_t *lane);


void
ngx_svc_lane_start(const ngx_svc_lane_t *lane, ngx_cycle_t *cycle)
{
    ngx_event_t  *timer;

    timer = &lane->state->timer;

    timer->handler = ngx_svc_lane_timer;
    timer->data = (void *) lane;
    timer->log = cycle->log;

    ngx_add_timer(timer, 1);
}


void
ngx_svc_lane_stop(const ngx_svc_lane_t *lane)
{
    ngx_svc_pg_drop(&lane->state->claim);

    if (lane->state->timer.timer_set) {
        ngx_del_timer(&lane->state->timer);
    }
}


void
ngx_svc_lane_look(const ngx_svc_lane_t *lane, ngx_msec_t ms)
{
    if (lane->state->timer.timer_set) {
        ngx_add_timer(&lane->state->timer, ms);
    }
}


static void
ngx_svc_lane_timer(ngx_event_t *ev)
{
    ngx_svc_pg_op_t       *op;
    const ngx_svc_lane_t  *lane;

    static ngx_str_t       nobody = ngx_string("");

    lane = ev->data;

    ngx_add_timer(ev, lane->look);

    if (!lane->due(lane) || lane->state->claim) {
        return;
    }

    op = ngx_svc_helper_op_create(NGX_SVC_PG_WRITE,
                                  lane->lazy ? &nobody : NULL, 1,
                                  ngx_svc_lane_claimed, (void *) lane);
    if (op) {
        (void) ngx_svc_helper_op_submit(op, lane->claim(lane, op),
                                        &lane->state->claim);
    }
}


static void
ngx_svc_lane_claimed(ngx_svc_pg_op_t *op)
{
    const ngx_svc_lane_t  *lane;

    lane = op->data;
    lane->state->claim = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, lane->waits);
    }

    lane->claimed(lane, op);

    ngx_destroy_pool(op->pool);
}


void
ngx_svc_lane_done(void (**done)(void))
{
    void  (*handler)(void);

    handler = *done;
    *done = NULL;

    if (handler) {
        handler();
    }
}


/* --- rows ---------------------------------------------------------------- */

ngx_int_t
ngx_svc_lane_rows_init(const ngx_svc_lane_t *lane, ngx_cycle_t *cycle,
    const u_char *id, const ngx_str_t *before)
{
    u_char  *conf;

    conf = (u_char *) ngx_svc_webhook_conf();

    if (!*(ngx_flag_t *) (conf + lane->on)
        || (lane->can && lane->can(cycle) != NGX_OK))
    {
        return NGX_DECLINED;
    }

    if (ngx_svc_outbound_init(cycle) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_queue_init(&lane->state->jobs);
    ngx_svc_lane_start(lane, cycle);

    return NGX_OK;
}


ngx_uint_t
ngx_svc_lane_rows_due(const ngx_svc_lane_t *lane)
{
    return lane->state->njobs < lane->most;
}


/*
 * Values with enough jobs under way are not claimed, so they do not hold up
 * others.
 */

ngx_int_t
ngx_svc_lane_rows_claim(const ngx_svc_lane_t *lane, ngx_svc_pg_op_t *op)
{
    ngx_str_t           values;
    ngx_uint_t          i;
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_pg_call(op, lane->take);

    if (call == NULL
        || ngx_svc_pg_bind_int(op, call, lane->most - lane->state->njobs)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < lane->nbusy; i++) {
        if (ngx_svc_lane_busy(lane, &lane->busy[i], op->pool, &values)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        ngx_svc_pg_bind_str(call, &values);
    }

    return NGX_OK;
}


/* Writes an array of the busy values, some of them several times. */

static ngx_int_t
ngx_svc_lane_busy(const ngx_svc_lane_t *lane, const ngx_svc_lane_busy_t *busy,
    ngx_pool_t *pool, ngx_str_t *values)
{
    u_char       *p;
    ngx_str_t    *value, *other;
    ngx_uint_t    n;
    ngx_queue_t  *q, *each, *jobs;

    jobs = &lane->state->jobs;

    p = ngx_pnalloc(pool, 2 + lane->most * NGX_SVC_LANE_VALUE);
    if (p == NULL) {
        return NGX_ERROR;
    }

    values->data = p;
    *p++ = '{';

    for (q = ngx_queue_head(jobs); q != jobs; q = ngx_queue_next(q)) {
        value = ngx_svc_lane_value(q, busy->column);
        n = 0;

        for (each = ngx_queue_head(jobs);
             each != jobs;
             each = ngx_queue_next(each))
        {
            other = ngx_svc_lane_value(each, busy->column);

            n += (other->len == value->len
                  && ngx_memcmp(other->data, value->data, value->len) == 0);
        }

        if (n >= busy->most && value->len < NGX_SVC_LANE_VALUE) {
            p = ngx_sprintf(p, p == values->data + 1 ? "%V" : ",%V", value);
        }
    }

    *p++ = '}';
    values->len = p - values->data;

    return NGX_OK;
}


void
ngx_svc_lane_rows_claimed(const ngx_svc_lane_t *lane, ngx_svc_pg_op_t *op)
{
    int        i, n;
    PGresult  *res;

    if (op->status != NGX_SVC_PG_OK) {
        return;
    }

    res = ngx_svc_pg_op_result(op, lane->take);
    n = PQntuples(res);

    for (i = 0; i < n; i++) {
        ngx_svc_lane_job(lane, res, i);
    }

    if (n) {
        ngx_svc_lane_look(lane, lane->soon);
    }
}


/* --- jobs -------------------------------------------------------------- */

/* Begins a job.  A row whose job cannot begin will be due again. */

static void
ngx_svc_lane_job(const ngx_svc_lane_t *lane, PGresult *res, int n)
{
    ngx_int_t            rc;
    ngx_pool_t          *pool;
    ngx_svc_lane_job_t  *job;

    pool = ngx_create_pool(NGX_SVC_LANE_POOL, ngx_cycle->log);
    if (pool == NULL) {
        return;
    }

    job = ngx_pcalloc(pool, sizeof(ngx_svc_lane_job_t)
                            + lane->ncolumns * sizeof(ngx_str_t));
    if (job == NULL) {
        ngx_destroy_pool(pool);
        return;
    }

    job->lane = lane;
    job->pool = pool;
    job->row = (ngx_str_t *) (job + 1);
    job->request.handler = ngx_svc_lane_job_answered;
    job->request.data = job;

    ngx_queue_insert_tail(&lane->state->jobs, &job->queue);
    lane->state->njobs++;

    rc = ngx_svc_lane_job_row(job, res, n);

    if (rc == NGX_OK) {
        rc = lane->request(job);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_outbound_request(&job->request);
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_lane_job_end(job, NGX_SVC_LANE_NOBODY);

    } else if (rc != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "svc: a %s of tenant %V cannot be made", lane->name,
                      &job->row[lane->tenant]);
        ngx_svc_lane_job_free(job);
    }
}


static ngx_int_t
ngx_svc_lane_job_row(ngx_svc_lane_job_t *job, PGresult *res, int n)
{
    ngx_str_t   value;
    ngx_uint_t  i;

    for (i = 0; i < job->lane->ncolumns; i++) {

        if (PQgetisnull(res, n, i)) {
            continue;
        }

        value = ngx_svc_pg_value(res, n, i);

        job->row[i].data = ngx_pnalloc(job->pool, value.len + 1);
        if (job->row[i].data == NULL) {
            return NGX_ERROR;
        }

        *ngx_cpymem(job->row[i].data, value.data, value.len) = '\0';
        job->row[i].len = value.len;
    }

    return NGX_OK;
}


static void
ngx_svc_lane_job_answered(ngx_svc_outbound_t *r)
{
    ngx_svc_lane_job_end(r->data, ngx_svc_lane_job_outcome(r->data));
}


static ngx_svc_lane_outcome_e
ngx_svc_lane_job_outcome(ngx_svc_lane_job_t *job)
{
    ngx_int_t            n;
    ngx_str_t           *attempt;
    ngx_svc_outbound_t  *r;

    r = &job->request;

    if (r->result.status >= 200 && r->result.status < 300) {
        return NGX_SVC_LANE_DONE;
    }

    if (r->result.outcome == NGX_SVC_OUTBOUND_POSTPONED) {
        return NGX_SVC_LANE_POSTPONED;
    }

    if (r->nowhere) {
        return NGX_SVC_LANE_REFUSED;
    }

    attempt = &job->row[job->lane->attempt];
    n = ngx_max(ngx_atoi(attempt->data, attempt->len), 1);

    return (ngx_uint_t) n < job->lane->attempts ? NGX_SVC_LANE_RETRIED
                                                : NGX_SVC_LANE_ABANDONED;
}


static void
ngx_svc_lane_job_end(ngx_svc_lane_job_t *job, ngx_svc_lane_outcome_e outcome)
{
    ngx_svc_pg_op_t       *op;
    const ngx_svc_lane_t  *lane;

    lane = job->lane;
    job->outcome = outcome;

    if (outcome < NGX_SVC_LANE_COUNTED) {
        ngx_svc_metric_add(lane->metrics[outcome], 1);
    }

    op = ngx_svc_helper_op_create(NGX_SVC_PG_WRITE, &job->row[lane->tenant], 1,
                                  ngx_svc_lane_job_recorded, job);
    if (op == NULL
        || ngx_svc_helper_op_submit(op, lane->finish(job, op), &job->op)
           != NGX_OK)
    {
        ngx_svc_lane_job_free(job);
    }
}


static void
ngx_svc_lane_job_recorded(ngx_svc_pg_op_t *op)
{
    ngx_svc_lane_job_t  *job;

    job = op->data;
    job->op = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, job->lane->again);
    }

    ngx_destroy_pool(op->pool);
    ngx_svc_lane_job_free(job);
}


static void
ngx_svc_lane_job_free(ngx_svc_lane_job_t *job)
{
    const ngx_svc_lane_t  *lane;

    lane = job->lane;

    ngx_svc_pg_drop(&job->op);
    ngx_svc_outbound_close(&job->request);
    ngx_queue_remove(&job->queue);
    ngx_destroy_pool(job->pool);

    if (--lane->state->njobs == 0) {
        ngx_svc_lane_done(&lane->state->drained);
    }

    ngx_svc_lane_look(lane, lane->soon);
}


/* --- the end ----------------------------------------------------------- */

void
ngx_svc_lane_rows_drain(const ngx_svc_lane_t *lane, void (*done)(void))
{
    ngx_svc_lane_stop(lane);

    if (lane->state->njobs == 0) {
        done();
        return;
    }

    lane->state->drained = done;
}


void
ngx_svc_lane_rows_leave(const ngx_svc_lane_t *lane, void (*done)(void))
{
    ngx_svc_lane_jobs_free(lane);

    done();
}


void
ngx_svc_lane_rows_exit(const ngx_svc_lane_t *lane)
{
    ngx_svc_lane_jobs_free(lane);
    ngx_svc_outbound_exit();
}


static void
ngx_svc_lane_jobs_free(const ngx_svc_lane_t *lane)
{
    ngx_queue_t  *jobs;

    jobs = &lane->state->jobs;
    lane->state->drained = NULL;

    ngx_svc_lane_stop(lane);

    while (!ngx_queue_empty(jobs)) {
        ngx_svc_lane_job_free(ngx_queue_data(ngx_queue_head(jobs),
                                             ngx_svc_lane_job_t, queue));
    }
}
