/*
 * Outbound SCIM: polls the row of a target, the version of it that users are
 * pushed to, and the audit log.
 */

#include "ngx_svc_push_poll.h"
#include "ngx_svc_push_sql.h"
#include "ngx_svc_push_sql.row.h"
#include "ngx_svc_push_sql_log.h"
#include "ngx_svc_push_sql_log.row.h"
#include "ngx_svc_push_token.h"


#define NGX_SVC_PUSH_NO_TOKEN  60000    /* ms until the token is opened again */


#define ngx_svc_push_is(value, literal)                                       \
    ((value)->len == sizeof(literal) - 1                                      \
     && ngx_memcmp((value)->data, literal, sizeof(literal) - 1) == 0)


static void ngx_svc_push_polled(ngx_svc_pg_op_t *op);
static void ngx_svc_push_row(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_poll_t *row);
static void ngx_svc_push_row_state(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_poll_t *row);
static ngx_int_t ngx_svc_push_row_conf(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_poll_t *row);
static void ngx_svc_push_row_sealed(ngx_svc_push_work_t *work);
static ngx_int_t ngx_svc_push_conf_make(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_poll_t *row, ngx_pool_t *pool);
static ngx_msec_t ngx_svc_push_row_time(const ngx_str_t *text);
static void ngx_svc_push_log(ngx_svc_push_work_t *work, PGresult *res);


ngx_int_t
ngx_svc_push_poll(ngx_svc_push_work_t *work)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_push_store_make(work, NGX_SVC_PG_READ, ngx_svc_push_polled,
                                 &ngx_svc_sql_push_poll, &call);
    if (op == NULL) {
        return NGX_ERROR;
    }

    if (work->xid.str.len
        && ngx_svc_push_store_behind(work, op, &ngx_svc_sql_push_log)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_push_store_submit(work, op);
}


static void
ngx_svc_push_polled(ngx_svc_pg_op_t *op)
{
    ngx_int_t                 rc;
    PGresult                 *res, *log;
    ngx_svc_push_work_t      *work;
    ngx_svc_row_push_poll_t   row;

    work = op->data;

    res = ngx_svc_push_store_answer(op, &ngx_svc_sql_push_poll);
    if (res == NULL) {
        return;
    }

    if (PQntuples(res) == 0) {
        ngx_svc_push_store_end(work, NGX_DECLINED);
        return;
    }

    ngx_svc_row_push_poll(&row, res, 0);

    rc = NGX_OK;
    work->relevant = 0;
    work->more = 0;
    work->final = 1;

    /* memory is ahead of the row: most events change nothing */

    log = ngx_svc_pg_op_result(op, &ngx_svc_sql_push_log);

    if (log && !row.lost) {
        ngx_svc_push_row(work, &row);
        ngx_svc_push_log(work, log);

    } else {
        ngx_svc_push_position(work, &row.push_position);
        ngx_svc_push_row(work, &row);
        work->more = work->xid.str.len && !work->begin;
    }

    work->needs |= (work->test.str.len > 0);

    if (work->needs
        && (work->conf == NULL
            || (work->conf->version != work->version
                && work->nready + work->ninflight + work->nresults == 0
                && work->probe == NULL && work->page == NULL)))
    {
        rc = ngx_svc_push_row_conf(work, &row);
    }

    ngx_svc_push_store_end(work, rc);
}


static void
ngx_svc_push_row(ngx_svc_push_work_t *work, const ngx_svc_row_push_poll_t *row)
{
    work->known = 1;
    work->enabled = row->enabled;
    work->patch = row->patch;
    work->config = row->unprobed;
    work->looking = row->looking;
    work->left = row->unsynced;
    work->list = ngx_max(row->list_next, 0);
    work->queued = ngx_svc_push_is(&row->status, "queued");
    work->syncing = ngx_svc_push_is(&row->status, "running");
    work->held = ngx_svc_push_is(&row->status, "held");
    work->begin = work->queued || row->lost;

    ngx_svc_push_row_state(work, row);

    work->due = ngx_svc_push_row_time(&row->item_ms);
    work->idle = (row->item_ms.data == NULL);

    ngx_svc_push_keep(&work->test, &row->test);
}


/*
 * What the target has answered since the poll began is newer than the row,
 * unless the answer was another version's.
 */

static void
ngx_svc_push_row_state(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_poll_t *row)
{
    if (row->version == work->version && (work->state || work->no_patch)) {
        return;
    }

    work->version = row->version;
    work->state = 0;
    work->no_patch = 0;

    work->failures = row->failures;
    work->trouble = row->failing;

    work->not_before = ngx_svc_push_row_time(&row->paused_ms);
    work->paused = (row->paused_ms.data != NULL);
}


/*
 * Returns the time in as many ms as the text says; now, if there is no text or
 * the time is past.
 */

static ngx_msec_t
ngx_svc_push_row_time(const ngx_str_t *text)
{
    ngx_int_t  n;

    n = (text->len && text->data[0] != '-') ? ngx_atoi(text->data, text->len)
                                            : 0;

    return ngx_current_msec + (ngx_msec_t) ngx_max(n, 0);
}


/*
 * Makes the conf of the row's version.  No push may use the old one any more.
 */

static ngx_int_t
ngx_svc_push_row_conf(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_poll_t *row)
{
    ngx_int_t    rc;
    ngx_pool_t  *pool;

    if (work->conf) {
        ngx_destroy_pool(work->conf->pool);
        work->conf = NULL;
    }

    if (work->sealed == work->version && !ngx_svc_push_due(work->reopen)) {
        ngx_svc_push_row_sealed(work);
        return NGX_OK;
    }

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_push_conf_make(work, row, pool);

    if (rc == NGX_OK) {
        work->needs = 0;
        return NGX_OK;
    }

    ngx_destroy_pool(pool);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    work->sealed = work->version;
    work->reopen = ngx_current_msec + NGX_SVC_PUSH_NO_TOKEN;

    ngx_svc_push_row_sealed(work);

    return NGX_OK;
}


/* Without its token everything goes on but requests and tests. */

static void
ngx_svc_push_row_sealed(ngx_svc_push_work_t *work)
{
    work->paused = 1;
    work->not_before = work->reopen;
    work->test.str.len = 0;
}


static ngx_int_t
ngx_svc_push_conf_make(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_poll_t *row, ngx_pool_t *pool)
{
    size_t                    len;
    u_char                   *token;
    ngx_int_t                 rc;
    ngx_str_t                 url;
    ngx_svc_push_conf_row_t  *conf;

    url = row->base_url;

    conf = ngx_pcalloc(pool, sizeof(ngx_svc_push_conf_row_t));
    token = ngx_pcalloc(pool, NGX_SVC_PUSH_TOKEN + 1);

    if (conf == NULL || token == NULL
        || ngx_svc_wipe_later(pool, token, NGX_SVC_PUSH_TOKEN) != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_push_token_open(&work->id.str, &row->token, token, &len);

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


/* Events that do not count are passed over, in memory only. */

static void
ngx_svc_push_log(ngx_svc_push_work_t *work, PGresult *res)
{
    ngx_svc_row_push_log_t  row;

    ngx_svc_row_push_log(&row, res, 0);

    work->final = row.events == row.final;
    work->relevant = row.relevant;
    work->more = row.final == NGX_SVC_PUSH_LOG;

    if (row.final && !row.relevant) {
        ngx_svc_push_position(work, &row.push_position);
    }
}
