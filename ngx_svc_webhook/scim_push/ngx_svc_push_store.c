/*
 * Outbound SCIM: the ops that read and write a target.
 */

#include "ngx_svc_push_store.h"
#include "ngx_svc_helper_op.h"
#include "ngx_svc_push_sql.h"
#include "ngx_svc_push_sql_log.h"
#include "ngx_svc_push_sql_log.row.h"


static ngx_svc_pg_op_t *ngx_svc_push_store_begin_op(ngx_svc_push_work_t *work,
    ngx_svc_pg_pool_e kind, ngx_uint_t lazy, ngx_svc_pg_handler_pt handler);
static ngx_int_t ngx_svc_push_store_simple(ngx_svc_push_work_t *work,
    const ngx_svc_pg_statement_t *statement, ngx_svc_pg_handler_pt handler);
static void ngx_svc_push_stopped(ngx_svc_pg_op_t *op);
static void ngx_svc_push_begun(ngx_svc_pg_op_t *op);
static void ngx_svc_push_followed(ngx_svc_pg_op_t *op);
static void ngx_svc_push_looked(ngx_svc_pg_op_t *op);


static ngx_str_t  ngx_svc_push_helper;


#include "ngx_svc_push_store.sql.h"


void
ngx_svc_push_store_helper(const ngx_str_t *helper)
{
    ngx_svc_push_helper = *helper;
}


ngx_svc_pg_op_t *
ngx_svc_push_store_op(ngx_svc_push_work_t *work, ngx_svc_pg_pool_e kind,
    ngx_svc_pg_handler_pt handler)
{
    return ngx_svc_push_store_begin_op(work, kind, 1, handler);
}


static ngx_svc_pg_op_t *
ngx_svc_push_store_begin_op(ngx_svc_push_work_t *work, ngx_svc_pg_pool_e kind,
    ngx_uint_t lazy, ngx_svc_pg_handler_pt handler)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_helper_op_create(kind, &work->tenant->node.str, lazy, handler,
                                  work);

    if (op && ngx_svc_pg_call(op, &ngx_svc_sql_push_plan) == NULL) {
        ngx_destroy_pool(op->pool);
        return NULL;
    }

    return op;
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


ngx_svc_pg_op_t *
ngx_svc_push_store_make(ngx_svc_push_work_t *work, ngx_svc_pg_pool_e kind,
    ngx_svc_pg_handler_pt handler, const ngx_svc_pg_statement_t *statement,
    ngx_svc_pg_call_t **call)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_push_store_op(work, kind, handler);
    if (op == NULL) {
        return NULL;
    }

    *call = ngx_svc_push_store_call(work, op, statement);
    if (*call == NULL) {
        ngx_destroy_pool(op->pool);
        return NULL;
    }

    return op;
}


ngx_int_t
ngx_svc_push_store_submit(ngx_svc_push_work_t *work, ngx_svc_pg_op_t *op)
{
    return ngx_svc_helper_op_submit(op, NGX_OK, &work->op);
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


PGresult *
ngx_svc_push_store_answer(ngx_svc_pg_op_t *op,
    const ngx_svc_pg_statement_t *statement)
{
    if (ngx_svc_push_store_failed(op)) {
        ngx_svc_push_store_end(op->data, NGX_ERROR);
        return NULL;
    }

    return ngx_svc_pg_op_result(op, statement);
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


/* --- simple ops -------------------------------------------------------- */

static ngx_int_t
ngx_svc_push_store_simple(ngx_svc_push_work_t *work,
    const ngx_svc_pg_statement_t *statement, ngx_svc_pg_handler_pt handler)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_push_store_make(work, NGX_SVC_PG_WRITE, handler, statement,
                                 &call);

    return op ? ngx_svc_push_store_submit(work, op) : NGX_ERROR;
}


void
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


/* The next poll reads from where the log is to be followed. */

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
    ngx_svc_pg_op_t  *op;

    /* commits durably: memory must not be ahead of what outlives a crash */

    op = ngx_svc_push_store_begin_op(work, NGX_SVC_PG_WRITE, 0,
                                     ngx_svc_push_followed);
    if (op == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_push_store_behind(work, op, &ngx_svc_sql_push_follow)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_push_store_submit(work, op);
}


ngx_int_t
ngx_svc_push_store_behind(ngx_svc_push_work_t *work, ngx_svc_pg_op_t *op,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_push_store_call(work, op, statement);
    if (call == NULL) {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &work->xid.str);
    ngx_svc_pg_bind_str(call, &work->event.str);
    ngx_svc_pg_bind_str(call, &work->since.str);

    return NGX_OK;
}


/*
 * No row: another helper holds the target, or it begins anew.  Fewer events
 * than the limit: all final events have been followed.
 */

static void
ngx_svc_push_followed(ngx_svc_pg_op_t *op)
{
    PGresult                   *res;
    ngx_svc_push_work_t        *work;
    ngx_svc_row_push_follow_t   row;

    work = op->data;

    if (op->status == NGX_SVC_PG_OK) {
        res = ngx_svc_pg_op_result(op, &ngx_svc_sql_push_follow);
        work->relevant = 0;
        work->more = 1;

        if (PQntuples(res)) {
            ngx_svc_row_push_follow(&row, res, 0);

            work->more = row.events == NGX_SVC_PUSH_EVENTS;
            work->paced = !work->more;
            work->looking = row.looking;
            ngx_svc_push_position(work, &row.push_position);

            if (row.marked > 0) {
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
    PGresult                 *res;
    ngx_svc_push_work_t      *work;
    ngx_svc_row_push_look_t   row;

    work = op->data;

    if (op->status == NGX_SVC_PG_OK) {
        res = ngx_svc_pg_op_result(op, &ngx_svc_sql_push_look);
        ngx_svc_row_push_look(&row, res, 0);

        work->looking = row.looking;
        work->left = work->syncing;

        if (row.marked > 0) {
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

    op = ngx_svc_push_store_make(work, NGX_SVC_PG_WRITE, ngx_svc_push_stored,
                                 &ngx_svc_sql_push_keep, &call);
    if (op == NULL) {
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

    op = ngx_svc_push_store_make(work, NGX_SVC_PG_WRITE, ngx_svc_push_stopped,
                                 &ngx_svc_sql_push_hold, &call);
    if (op == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_pg_bind_int(op, call, work->ended) != NGX_OK
        || ngx_svc_pg_bind_int(op, call, work->users) != NGX_OK)
    {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    return ngx_svc_push_store_submit(work, op);
}


/*
 * The target stays held until the next poll, whatever became of it meanwhile.
 */

static void
ngx_svc_push_stopped(ngx_svc_pg_op_t *op)
{
    ngx_svc_push_work_t  *work;

    work = op->data;

    if (op->status == NGX_SVC_PG_OK) {
        work->hold = 0;
        work->held = 1;
    }

    ngx_svc_push_stored(op);
}


ngx_int_t
ngx_svc_push_store_count(ngx_svc_push_work_t *work, ngx_uint_t ended)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_push_store_make(work, NGX_SVC_PG_WRITE, ngx_svc_push_stored,
                                 &ngx_svc_sql_push_count, &call);
    if (op == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_bool(call, ended);

    return ngx_svc_push_store_submit(work, op);
}


/* --- values ------------------------------------------------------------ */

void
ngx_svc_push_position(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_position_t *row)
{
    ngx_svc_push_keep(&work->xid, &row->xid);
    ngx_svc_push_keep(&work->event, &row->event_id);
    ngx_svc_push_keep(&work->since, &row->event_at);
}


void
ngx_svc_push_keep(ngx_svc_push_text_t *text, const ngx_str_t *value)
{
    text->str.data = text->text;
    text->str.len = ngx_min(value->len, NGX_SVC_PUSH_TEXT);
    ngx_memcpy(text->text, value->data, text->str.len);
}
