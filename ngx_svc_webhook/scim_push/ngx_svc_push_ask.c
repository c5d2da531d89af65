/*
 * Outbound SCIM: asks a target what it can do, or tests it.
 */

#include "ngx_svc_push_ask.h"
#include "ngx_svc_push_outcome.h"
#include "ngx_svc_push_probe.h"
#include "ngx_svc_push_sql.h"


static void ngx_svc_push_asked(ngx_svc_push_probe_t *probe);
static ngx_int_t ngx_svc_push_ask_store(ngx_svc_push_work_t *work,
    const ngx_svc_push_probe_t *probe);
static ngx_int_t ngx_svc_push_ask_config(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op, const ngx_svc_push_probe_t *probe);
static ngx_int_t ngx_svc_push_ask_tested(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op, const ngx_svc_push_probe_t *probe);


static void  (*ngx_svc_push_ask_step)(ngx_svc_push_work_t *work);


void
ngx_svc_push_ask_init(void (*step)(ngx_svc_push_work_t *work))
{
    ngx_svc_push_ask_step = step;
}


ngx_int_t
ngx_svc_push_ask(ngx_svc_push_work_t *work, ngx_uint_t test)
{
    ngx_pool_t            *pool;
    ngx_svc_push_probe_t  *probe;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    probe = ngx_pcalloc(pool, sizeof(ngx_svc_push_probe_t));
    if (probe == NULL) {
        goto failed;
    }

    probe->pool = pool;
    probe->target = &work->conf->target;
    probe->handler = ngx_svc_push_asked;
    probe->data = work;

    if (ngx_svc_push_probe(probe) != NGX_OK) {
        goto failed;
    }

    work->probe = probe;
    work->probed = work->conf->version;
    work->testing = test;

    work->probing = work->test;
    work->probing.str.data = work->probing.text;

    return NGX_OK;

failed:

    ngx_destroy_pool(pool);

    return NGX_ERROR;
}


static void
ngx_svc_push_asked(ngx_svc_push_probe_t *probe)
{
    ngx_svc_push_work_t  *work;

    work = probe->data;
    work->answered = 1;

    if (!work->testing && work->probed == work->version) {
        ngx_svc_push_outcome(work, &probe->answer);
    }

    ngx_svc_push_ask_step(work);
}


ngx_int_t
ngx_svc_push_ask_answer(ngx_svc_push_work_t *work)
{
    ngx_int_t              rc;
    ngx_svc_push_probe_t  *probe;

    probe = work->probe;

    work->answered = 0;
    work->probe = NULL;

    if (probe->answer.outcome == NGX_SVC_PUSH_DONE && work->conf
        && work->conf->version == work->probed)
    {
        work->conf->target.patch = probe->patch;
    }

    work->config = 0;
    work->test.str.len = 0;

    rc = ngx_svc_push_ask_store(work, probe);

    /* the op has bound the probe's error: its pool lives until the op ends */

    if (rc == NGX_OK) {
        work->answer = probe->pool;

    } else {
        ngx_destroy_pool(probe->pool);
    }

    return rc;
}


static ngx_int_t
ngx_svc_push_ask_store(ngx_svc_push_work_t *work,
    const ngx_svc_push_probe_t *probe)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_push_store_op(work, NGX_SVC_PG_WRITE, ngx_svc_push_stored);
    if (op == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_push_ask_config(work, op, probe) != NGX_OK
        || (work->testing
            && ngx_svc_push_ask_tested(work, op, probe) != NGX_OK))
    {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    return ngx_svc_push_store_submit(work, op);
}


static ngx_int_t
ngx_svc_push_ask_config(ngx_svc_push_work_t *work, ngx_svc_pg_op_t *op,
    const ngx_svc_push_probe_t *probe)
{
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_config);
    if (call == NULL) {
        return NGX_ERROR;
    }

    if (probe->answer.outcome == NGX_SVC_PUSH_DONE) {
        ngx_svc_pg_bind_bool(call, probe->patch);
        ngx_svc_pg_bind_bool(call, 1);

    } else {
        ngx_svc_pg_bind(call, NULL, 0);
        ngx_svc_pg_bind_bool(call, 0);
    }

    return ngx_svc_pg_bind_int(op, call, work->probed);
}


static ngx_int_t
ngx_svc_push_ask_tested(ngx_svc_push_work_t *work, ngx_svc_pg_op_t *op,
    const ngx_svc_push_probe_t *probe)
{
    ngx_svc_pg_call_t            *call;
    const ngx_svc_push_answer_t  *answer;

    answer = &probe->answer;

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_tested);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &work->probing.str);

    if (ngx_svc_pg_bind_int(op, call, answer->status) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_bool(call, probe->patch);

    if (answer->outcome == NGX_SVC_PUSH_DONE) {
        ngx_svc_pg_bind(call, NULL, 0);

    } else {
        ngx_svc_pg_bind(call, answer->error.data,
                        ngx_min(answer->error.len, NGX_SVC_PUSH_ERROR));
    }

    return ngx_svc_pg_bind_int(op, call, work->probed);
}


void
ngx_svc_push_ask_cancel(ngx_svc_push_work_t *work)
{
    if (work->probe) {
        if (!work->answered) {
            ngx_svc_push_probe_cancel(work->probe);
        }

        ngx_destroy_pool(work->probe->pool);
        work->probe = NULL;
    }

    if (work->answer) {
        ngx_destroy_pool(work->answer);
        work->answer = NULL;
    }
}
