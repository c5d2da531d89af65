/*
 * Outbound SCIM: what PostgreSQL has of a target, and is told.
 */

#include "ngx_svc_push_store.h"
#include "ngx_svc_push_sql.h"
#include "ngx_svc_push_token.h"
#include "ngx_svc_webhook_op.h"


#define NGX_SVC_PUSH_NO_TOKEN  60000    /* ms, until it is tried again */


static void ngx_svc_push_polled(ngx_svc_pg_op_t *op);
static void ngx_svc_push_row(ngx_svc_push_work_t *work, PGresult *res);
static ngx_int_t ngx_svc_push_row_conf(ngx_svc_push_work_t *work,
    PGresult *res);
static ngx_int_t ngx_svc_push_conf_make(ngx_svc_push_work_t *work,
    PGresult *res, ngx_pool_t *pool);
static ngx_msec_t ngx_svc_push_row_time(PGresult *res, int column,
    ngx_uint_t *given);
static void ngx_svc_push_log(ngx_svc_push_work_t *work, PGresult *res);
static ngx_int_t ngx_svc_push_store_simple(ngx_svc_push_work_t *work,
    const ngx_svc_pg_statement_t *statement, ngx_svc_pg_handler_pt handler);
static void ngx_svc_push_stored(ngx_svc_pg_op_t *op);
static void ngx_svc_push_begun(ngx_svc_pg_op_t *op);
static void ngx_svc_push_followed(ngx_svc_pg_op_t *op);
static void ngx_svc_push_looked(ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_push_number(PGresult *res, int row, int column);
static ngx_uint_t ngx_svc_push_true(PGresult *res, int row, int column);
static void ngx_svc_push_keep(ngx_svc_push_text_t *text, PGresult *res,
    int column);


#define ngx_svc_push_is(value, literal)                                       \
    ((value)->len == sizeof(literal) - 1                                      \
     && ngx_memcmp((value)->data, literal, sizeof(literal) - 1) == 0)


static ngx_str_t  ngx_svc_push_helper;


void
ngx_svc_push_store_helper(const ngx_str_t *helper)
{
    ngx_svc_push_helper = *helper;
}


ngx_svc_pg_op_t *
ngx_svc_push_store_op(ngx_svc_push_work_t *work, ngx_svc_pg_pool_e kind,
    ngx_svc_pg_handler_pt handler)
{
    return ngx_svc_webhook_op_create(kind, &work->tenant->node.str, 1, handler,
                                     work);
}


ngx_svc_pg_call_t *
ngx_svc_push_store_call(ngx_svc_push_work_t *work, ngx_svc_pg_op_t *op,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_pg_call(op, statement);
    if (call == NULL) {
        return NULL;
    }

    ngx_svc_pg_bind_str(call, &work->id.str);
    ngx_svc_pg_bind_str(call, &ngx_svc_push_helper);

    return call;
}


ngx_int_t
ngx_svc_push_store_submit(ngx_svc_push_work_t *work, ngx_svc_pg_op_t *op)
{
    if (ngx_svc_pg_submit(op) != NGX_OK) {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    work->op = op;

    return NGX_OK;
}


void
ngx_svc_push_store_end(ngx_svc_push_work_t *work, ngx_int_t rc)
{
    ngx_destroy_pool(work->op->pool);
    work->op = NULL;

    if (work->answer) {
        ngx_destroy_pool(work->answer);
        work->answer = NULL;
    }

    work->stored(work, rc);
}


ngx_uint_t
ngx_svc_push_store_failed(ngx_svc_pg_op_t *op)
{
    if (op->status == NGX_SVC_PG_OK) {
        return 0;
    }

    ngx_svc_pg_op_failed(op, "outbound SCIM waits");

    return 1;
}


u_char *
ngx_svc_push_store_number(ngx_pool_t *pool, int64_t n, size_t *len)
{
    u_char  *p, *last;

    p = ngx_pnalloc(pool, NGX_INT64_LEN + 1);
    if (p == NULL) {
        return NULL;
    }

    last = ngx_sprintf(p, "%L%Z", n);
    *len = last - p - 1;

    return p;
}


/* --- the row, and the log ---------------------------------------------- */

ngx_int_t
ngx_svc_push_store_poll(ngx_svc_push_work_t *work)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_push_store_op(work, NGX_SVC_PG_READ, ngx_svc_push_polled);
    if (op == NULL) {
        return NGX_ERROR;
    }

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_poll);

    if (call && work->xid.str.len) {
        call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_log);

        if (call) {
            ngx_svc_pg_bind_str(call, &work->xid.str);
            ngx_svc_pg_bind_str(call, &work->event.str);
            ngx_svc_pg_bind_str(call, &work->since.str);
        }
    }

    if (call == NULL) {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    return ngx_svc_push_store_submit(work, op);
}


static void
ngx_svc_push_polled(ngx_svc_pg_op_t *op)
{
    ngx_int_t             rc;
    PGresult             *res;
    ngx_svc_push_work_t  *work;

    work = op->data;

    if (ngx_svc_push_store_failed(op)) {
        ngx_svc_push_store_end(work, NGX_ERROR);
        return;
    }

    res = ngx_svc_webhook_op_result(op);

    if (PQntuples(res) == 0) {
        ngx_svc_push_store_end(work, NGX_DECLINED);
        return;
    }

    rc = NGX_OK;
    work->relevant = 0;
    work->more = 0;
    work->final = 1;

    /* what is in memory is ahead of the row: most events change nothing */

    if (op->ncalls > 2 && !ngx_svc_push_true(res, 0, NGX_SVC_PUSH_C_BEGIN)) {
        ngx_svc_push_row(work, res);
        ngx_svc_push_log(work, op->results[2]);

    } else {
        ngx_svc_push_keep(&work->xid, res, NGX_SVC_PUSH_C_XID);
        ngx_svc_push_keep(&work->event, res, NGX_SVC_PUSH_C_EVENT);
        ngx_svc_push_keep(&work->since, res, NGX_SVC_PUSH_C_SINCE);
        ngx_svc_push_row(work, res);
        work->more = work->xid.str.len && !work->begin;
    }

    work->needs |= (work->test.str.len > 0);

    if (work->needs
        && (work->conf == NULL
            || (work->conf->version != work->version
                && work->nready + work->nflying + work->nresults == 0
                && work->probe == NULL)))
    {
        rc = ngx_svc_push_row_conf(work, res);
    }

    ngx_svc_push_store_end(work, rc);
}


static void
ngx_svc_push_row(ngx_svc_push_work_t *work, PGresult *res)
{
    ngx_str_t   status;
    ngx_uint_t  given;

    status = ngx_svc_pg_value(res, 0, NGX_SVC_PUSH_C_STATUS);

    work->known = 1;
    work->version = ngx_svc_push_number(res, 0, NGX_SVC_PUSH_C_VERSION);
    work->failures = ngx_svc_push_number(res, 0, NGX_SVC_PUSH_C_FAILURES);
    work->enabled = ngx_svc_push_true(res, 0, NGX_SVC_PUSH_C_ENABLED);
    work->patch = ngx_svc_push_true(res, 0, NGX_SVC_PUSH_C_PATCH);
    work->config = ngx_svc_push_true(res, 0, NGX_SVC_PUSH_C_CONFIG);
    work->looking = ngx_svc_push_true(res, 0, NGX_SVC_PUSH_C_LOOKING);
    work->left = ngx_svc_push_true(res, 0, NGX_SVC_PUSH_C_LEFT);
    work->trouble = ngx_svc_push_true(res, 0, NGX_SVC_PUSH_C_TROUBLE);
    work->queued = ngx_svc_push_is(&status, "queued");
    work->syncing = ngx_svc_push_is(&status, "running");
    work->held = ngx_svc_push_is(&status, "held");
    work->begin = work->queued
                  || ngx_svc_push_true(res, 0, NGX_SVC_PUSH_C_BEGIN);

    work->not_before = ngx_svc_push_row_time(res, NGX_SVC_PUSH_C_WAIT, &given);
    work->paused = given;

    work->due = ngx_svc_push_row_time(res, NGX_SVC_PUSH_C_DUE, &given);
    work->idle = !given;

    ngx_svc_push_keep(&work->test, res, NGX_SVC_PUSH_C_TEST);
}


/* In how many ms, as a time. */

static ngx_msec_t
ngx_svc_push_row_time(PGresult *res, int column, ngx_uint_t *given)
{
    ngx_str_t  text;
    ngx_int_t  n;

    text = ngx_svc_pg_value(res, 0, column);
    *given = text.len > 0;

    n = (text.len && text.data[0] != '-') ? ngx_atoi(text.data, text.len) : 0;

    return ngx_current_msec + (ngx_msec_t) ngx_max(n, 0);
}


/* Who is pushed to something else meanwhile has the old one. */

static ngx_int_t
ngx_svc_push_row_conf(ngx_svc_push_work_t *work, PGresult *res)
{
    ngx_int_t    rc;
    ngx_pool_t  *pool;

    if (work->conf) {
        ngx_destroy_pool(work->conf->pool);
        work->conf = NULL;
    }

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_push_conf_make(work, res, pool);

    if (rc == NGX_OK) {
        work->needs = 0;
        return NGX_OK;
    }

    ngx_destroy_pool(pool);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    /* without its token all goes on but the requests */

    work->paused = 1;
    work->not_before = ngx_current_msec + NGX_SVC_PUSH_NO_TOKEN;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_push_conf_make(ngx_svc_push_work_t *work, PGresult *res,
    ngx_pool_t *pool)
{
    size_t                    len;
    u_char                   *token;
    ngx_int_t                 rc;
    ngx_str_t                 url, sealed;
    ngx_svc_push_conf_row_t  *conf;

    url = ngx_svc_pg_value(res, 0, NGX_SVC_PUSH_C_URL);
    sealed = ngx_svc_pg_value(res, 0, NGX_SVC_PUSH_C_TOKEN);

    conf = ngx_pcalloc(pool, sizeof(ngx_svc_push_conf_row_t));
    token = ngx_pcalloc(pool, NGX_SVC_PUSH_TOKEN + 1);

    if (conf == NULL || token == NULL
        || ngx_svc_wipe_later(pool, token, NGX_SVC_PUSH_TOKEN) != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_push_token_open(&work->id.str, &sealed, token, &len);

    if (rc != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "the token of SCIM target %V of tenant %V cannot be "
                      "opened: its key is gone from \"svc_key_file\"",
                      &work->id.str, &work->tenant->node.str);
        return rc;
    }

    token[len] = '\0';

    conf->pool = pool;
    conf->version = work->version;
    conf->target.tenant = work->tenant->node.str;
    conf->target.id = work->id.str;
    conf->target.token.data = token;
    conf->target.token.len = len;
    conf->target.patch = work->patch;
    conf->target.base_url.data = ngx_pnalloc(pool, url.len + 1);
    conf->target.base_url.len = url.len;

    if (conf->target.base_url.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(conf->target.base_url.data, url.data, url.len);
    conf->target.base_url.data[url.len] = '\0';

    work->conf = conf;

    return NGX_OK;
}


/* Events that are of no interest are passed over, in memory. */

static void
ngx_svc_push_log(ngx_svc_push_work_t *work, PGresult *res)
{
    ngx_int_t  n, final;

    n = ngx_svc_push_number(res, 0, NGX_SVC_PUSH_L_N);
    final = ngx_svc_push_number(res, 0, NGX_SVC_PUSH_L_FINAL);

    work->final = n == final;
    work->relevant = ngx_svc_push_true(res, 0, NGX_SVC_PUSH_L_RELEVANT);
    work->more = final == NGX_SVC_PUSH_LOG;

    if (final && !work->relevant) {
        ngx_svc_push_keep(&work->xid, res, NGX_SVC_PUSH_L_XID);
        ngx_svc_push_keep(&work->event, res, NGX_SVC_PUSH_L_EVENT);
        ngx_svc_push_keep(&work->since, res, NGX_SVC_PUSH_L_SINCE);
    }
}


/* --- small ones -------------------------------------------------------- */

static ngx_int_t
ngx_svc_push_store_simple(ngx_svc_push_work_t *work,
    const ngx_svc_pg_statement_t *statement, ngx_svc_pg_handler_pt handler)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_push_store_op(work, NGX_SVC_PG_WRITE, handler);
    if (op == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_push_store_call(work, op, statement) == NULL) {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    return ngx_svc_push_store_submit(work, op);
}


static void
ngx_svc_push_stored(ngx_svc_pg_op_t *op)
{
    ngx_svc_push_work_t  *work;

    work = op->data;

    ngx_svc_push_store_end(work, ngx_svc_push_store_failed(op) ? NGX_ERROR
                                                               : NGX_OK);
}


ngx_int_t
ngx_svc_push_store_begin(ngx_svc_push_work_t *work)
{
    return ngx_svc_push_store_simple(work, &ngx_svc_sql_push_begin,
                                     ngx_svc_push_begun);
}


/* Where the log is followed from, the next poll says. */

static void
ngx_svc_push_begun(ngx_svc_pg_op_t *op)
{
    ngx_svc_push_work_t  *work;

    work = op->data;

    if (op->status == NGX_SVC_PG_OK) {
        work->begin = 0;
        work->looking = 1;
        work->xid.str.len = 0;
    }

    ngx_svc_push_stored(op);
}


ngx_int_t
ngx_svc_push_store_follow(ngx_svc_push_work_t *work)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    /* what is in memory must not be ahead of what outlives a crash */

    op = ngx_svc_webhook_op_create(NGX_SVC_PG_WRITE, &work->tenant->node.str,
                                   0, ngx_svc_push_followed, work);
    if (op == NULL) {
        return NGX_ERROR;
    }

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_follow);
    if (call == NULL) {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &work->xid.str);
    ngx_svc_pg_bind_str(call, &work->event.str);
    ngx_svc_pg_bind_str(call, &work->since.str);

    return ngx_svc_push_store_submit(work, op);
}


/* Without a row: the target is another helper's, or begins anew. */

static void
ngx_svc_push_followed(ngx_svc_pg_op_t *op)
{
    PGresult             *res;
    ngx_svc_push_work_t  *work;

    work = op->data;

    if (op->status == NGX_SVC_PG_OK) {
        res = ngx_svc_webhook_op_result(op);
        work->relevant = 0;
        work->more = 1;

        if (PQntuples(res)) {
            ngx_svc_push_keep(&work->xid, res, 0);
            ngx_svc_push_keep(&work->event, res, 1);
            ngx_svc_push_keep(&work->since, res, 2);
            work->looking = ngx_svc_push_true(res, 0, 3);

            if (ngx_svc_push_number(res, 0, 4)) {
                work->idle = 0;
                work->dirty = 1;
                work->due = ngx_current_msec;
            }
        }
    }

    ngx_svc_push_stored(op);
}


ngx_int_t
ngx_svc_push_store_look(ngx_svc_push_work_t *work)
{
    return ngx_svc_push_store_simple(work, &ngx_svc_sql_push_look,
                                     ngx_svc_push_looked);
}


static void
ngx_svc_push_looked(ngx_svc_pg_op_t *op)
{
    PGresult             *res;
    ngx_svc_push_work_t  *work;

    work = op->data;

    if (op->status == NGX_SVC_PG_OK) {
        res = ngx_svc_webhook_op_result(op);
        work->looking = PQntuples(res) && ngx_svc_push_true(res, 0, 0);
        work->left = work->syncing;

        if (PQntuples(res) && ngx_svc_push_number(res, 0, 1)) {
            work->idle = 0;
            work->dirty = 1;
            work->due = ngx_current_msec;
        }
    }

    ngx_svc_push_stored(op);
}


ngx_int_t
ngx_svc_push_store_keep(ngx_svc_push_work_t *work)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_push_store_op(work, NGX_SVC_PG_WRITE, ngx_svc_push_stored);
    if (op == NULL) {
        return NGX_ERROR;
    }

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_keep);
    if (call == NULL) {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &work->xid.str);
    ngx_svc_pg_bind_str(call, &work->event.str);

    return ngx_svc_push_store_submit(work, op);
}


ngx_int_t
ngx_svc_push_store_hold(ngx_svc_push_work_t *work)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_push_store_op(work, NGX_SVC_PG_WRITE, ngx_svc_push_stored);
    if (op == NULL) {
        return NGX_ERROR;
    }

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_hold);

    if (call == NULL || ngx_svc_pg_bind_int(op, call, work->ended) != NGX_OK
        || ngx_svc_pg_bind_int(op, call, work->users) != NGX_OK)
    {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    return ngx_svc_push_store_submit(work, op);
}


ngx_int_t
ngx_svc_push_store_count(ngx_svc_push_work_t *work, ngx_uint_t ended)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_push_store_op(work, NGX_SVC_PG_WRITE, ngx_svc_push_stored);
    if (op == NULL) {
        return NGX_ERROR;
    }

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_count);
    if (call == NULL) {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_bool(call, ended);

    return ngx_svc_push_store_submit(work, op);
}


ngx_int_t
ngx_svc_push_store_probe(ngx_svc_push_work_t *work,
    const ngx_svc_push_probe_t *probe, ngx_uint_t test)
{
    ngx_uint_t          ok;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_push_store_op(work, NGX_SVC_PG_WRITE, ngx_svc_push_stored);
    if (op == NULL) {
        return NGX_ERROR;
    }

    ok = probe->outcome == NGX_SVC_PUSH_DONE;

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_config);
    if (call == NULL) {
        goto failed;
    }

    if (ok) {
        ngx_svc_pg_bind_bool(call, probe->patch);

    } else {
        ngx_svc_pg_bind(call, NULL, 0);
    }

    ngx_svc_pg_bind_bool(call, ok);

    if (ngx_svc_pg_bind_int(op, call, work->version) != NGX_OK) {
        goto failed;
    }

    if (test) {
        call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_tested);
        if (call == NULL) {
            goto failed;
        }

        ngx_svc_pg_bind_str(call, &work->test.str);

        if (ngx_svc_pg_bind_int(op, call, probe->status) != NGX_OK) {
            goto failed;
        }

        ngx_svc_pg_bind_bool(call, probe->patch);
        ngx_svc_pg_bind(call, ok ? NULL : probe->error.data,
                        ok ? 0 : ngx_min(probe->error.len,
                                         NGX_SVC_PUSH_ERROR));
    }

    return ngx_svc_push_store_submit(work, op);

failed:

    ngx_destroy_pool(op->pool);

    return NGX_ERROR;
}


/* --- values ------------------------------------------------------------ */

static ngx_int_t
ngx_svc_push_number(PGresult *res, int row, int column)
{
    ngx_str_t  text;

    text = ngx_svc_pg_value(res, row, column);

    return text.len ? ngx_atoi(text.data, text.len) : 0;
}


static ngx_uint_t
ngx_svc_push_true(PGresult *res, int row, int column)
{
    ngx_str_t  text;

    text = ngx_svc_pg_value(res, row, column);

    return text.len == 1 && text.data[0] == 't';
}


static void
ngx_svc_push_keep(ngx_svc_push_text_t *text, PGresult *res, int column)
{
    ngx_str_t  value;

    value = ngx_svc_pg_value(res, 0, column);

    text->str.data = text->text;
    text->str.len = ngx_min(value.len, NGX_SVC_PUSH_TEXT);
    ngx_memcpy(text->text, value.data, text->str.len);
}
