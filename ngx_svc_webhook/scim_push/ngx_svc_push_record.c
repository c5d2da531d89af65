/*
 * Outbound SCIM: records the outcomes of pushes.
 */

#include "ngx_svc_push_record.h"
#include "ngx_svc_push_items.h"
#include "ngx_svc_push_leave.h"
#include "ngx_svc_push_sql.h"
#include "ngx_svc_push_sql_users.h"

#include "ngx_svc_json_write.h"


#define NGX_SVC_PUSH_AGAIN      1000        /* ms, doubled with each attempt */
#define NGX_SVC_PUSH_AGAIN_MAX  600000
#define NGX_SVC_PUSH_WRONG      3600000     /* ms, doubled; the user was
                                               refused */
#define NGX_SVC_PUSH_WRONG_MAX  86400000
#define NGX_SVC_PUSH_SPREAD     300000      /* ms, at most, added to an hour */
#define NGX_SVC_PUSH_TRIES      100         /* the highest count of attempts */


static ngx_int_t ngx_svc_push_record_bind(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op);
static void ngx_svc_push_record_item(ngx_svc_json_writer_t *w,
    ngx_svc_push_item_t *item);
static ngx_int_t ngx_svc_push_record_delay(ngx_svc_push_item_t *item);
static ngx_int_t ngx_svc_push_record_state(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_push_record_patch(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op);
static void ngx_svc_push_recorded(ngx_svc_pg_op_t *op);


ngx_int_t
ngx_svc_push_record(ngx_svc_push_work_t *work)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_push_store_op(work, NGX_SVC_PG_WRITE, ngx_svc_push_recorded);
    if (op == NULL) {
        return NGX_ERROR;
    }

    if ((work->nresults
         && ngx_svc_push_record_bind(work, op) != NGX_OK)
        || (work->state && ngx_svc_push_record_state(work, op) != NGX_OK)
        || (work->no_patch && ngx_svc_push_record_patch(work, op) != NGX_OK))
    {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    if (ngx_svc_push_store_submit(work, op) != NGX_OK) {
        return NGX_ERROR;
    }

    work->storing = work->state;
    work->state = 0;
    work->no_patch = 0;

    if (work->nresults) {
        ngx_queue_add(&work->recording, &work->results);
        ngx_queue_init(&work->results);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_push_record_bind(ngx_svc_push_work_t *work, ngx_svc_pg_op_t *op)
{
    ngx_queue_t            *q;
    ngx_svc_pg_call_t      *call;
    ngx_svc_json_writer_t   w;

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_record);

    if (call == NULL
        || ngx_svc_json_writer_init(&w, op->pool, work->nresults * 300)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '[');

    for (q = ngx_queue_head(&work->results);
         q != ngx_queue_sentinel(&work->results);
         q = ngx_queue_next(q))
    {
        ngx_svc_push_record_item(&w, ngx_queue_data(q, ngx_svc_push_item_t,
                                                    queue));
    }

    ngx_svc_json_close(&w, ']');

    if (w.failed) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, w.start, w.last - w.start);

    return ngx_svc_pg_bind_int(op, call, work->conf->version);
}


/* After an attempt that failed, nobody knows what the target has. */

static void
ngx_svc_push_record_item(ngx_svc_json_writer_t *w, ngx_svc_push_item_t *item)
{
    ngx_str_t              *error;
    ngx_uint_t              done, target, active;
    ngx_svc_push_t         *push;
    ngx_svc_push_outcome_e  outcome;

    push = &item->push;
    error = &push->answer.error;
    outcome = push->answer.outcome;
    done = outcome == NGX_SVC_PUSH_DONE;
    target = outcome == NGX_SVC_PUSH_PAUSE
             || outcome == NGX_SVC_PUSH_FAILING
             || outcome == NGX_SVC_PUSH_REFUSED;

    active = push->remote_active;

    if (done) {
        active = push->want.active && push->remote_id.len;
    }

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_plain(w, "id", push->want.id.data, push->want.id.len);
    ngx_svc_json_raw(w, "rev", item->rev.data, item->rev.len);
    ngx_svc_json_boolean(w, "done", done);
    ngx_svc_json_boolean(w, "failed", outcome == NGX_SVC_PUSH_USER);
    ngx_svc_json_boolean(w, "gone", push->want.gone);
    ngx_svc_json_boolean(w, "active", active);

    if (push->seen != NGX_SVC_PUSH_UNSEEN) {
        ngx_svc_json_boolean(w, "absent", push->seen == NGX_SVC_PUSH_ABSENT);
    }

    /* a text in PostgreSQL cannot have a NUL */

    if (push->remote_id.len
        && ngx_strlchr(push->remote_id.data,
                       push->remote_id.data + push->remote_id.len, '\0')
           == NULL)
    {
        ngx_svc_json_string(w, "remote", push->remote_id.data,
                            push->remote_id.len);
    }

    if (done && item->hash.len > 2) {
        ngx_svc_json_plain(w, "hash", item->hash.data + 2,
                           item->hash.len - 2);
    }

    ngx_svc_json_integer(w, "sent", push->want.sent);
    ngx_svc_json_integer(w, "tries", ngx_min(item->attempts + !target,
                                             NGX_SVC_PUSH_TRIES));
    ngx_svc_json_integer(w, "delay", ngx_svc_push_record_delay(item));

    if (!done && error->len) {
        ngx_svc_json_string(w, "error", error->data,
                            ngx_min(error->len, NGX_SVC_PUSH_ERROR));
    }

    ngx_svc_json_close(w, '}');
}


/* Returns ms until the next attempt; 0: the user waits for the target. */

static ngx_int_t
ngx_svc_push_record_delay(ngx_svc_push_item_t *item)
{
    ngx_int_t   ms, max;

    if (item->push.answer.outcome == NGX_SVC_PUSH_RETRY) {
        ms = NGX_SVC_PUSH_AGAIN;
        max = NGX_SVC_PUSH_AGAIN_MAX;

    } else if (item->push.answer.outcome != NGX_SVC_PUSH_USER) {
        return 0;

    } else if (item->push.seen == NGX_SVC_PUSH_ABSENT) {
        ms = NGX_SVC_PUSH_ABSENCE - ngx_min(item->push.absent_for,
                                            NGX_SVC_PUSH_ABSENCE);

        return ms * 1000 + ngx_random() % NGX_SVC_PUSH_SPREAD;

    } else {
        ms = NGX_SVC_PUSH_WRONG;
        max = NGX_SVC_PUSH_WRONG_MAX;
    }

    ms = ngx_min(ms << ngx_min(item->attempts, 16), max);

    return ms - ms / 5 + ngx_random() % (2 * (ms / 5) + 1);
}


static ngx_int_t
ngx_svc_push_record_state(ngx_svc_push_work_t *work, ngx_svc_pg_op_t *op)
{
    size_t              len;
    u_char             *delay;
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_state);
    delay = ngx_svc_push_store_number(op->pool, work->delay, &len);

    if (call == NULL || delay == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, work->paused ? delay : NULL, work->paused ? len : 0);

    if (ngx_svc_pg_bind_int(op, call, work->failures) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, work->error.len ? work->error.data : NULL,
                    work->error.len);

    if (ngx_svc_pg_bind_int(op, call, work->version) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_bool(call, work->failing);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_push_record_patch(ngx_svc_push_work_t *work, ngx_svc_pg_op_t *op)
{
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_config);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_bool(call, 0);
    ngx_svc_pg_bind_bool(call, 1);

    return ngx_svc_pg_bind_int(op, call, work->version);
}


/* Results that could not be recorded are recorded later. */

static void
ngx_svc_push_recorded(ngx_svc_pg_op_t *op)
{
    ngx_uint_t            failed;
    ngx_queue_t          *q;
    ngx_svc_push_work_t  *work;

    work = op->data;
    failed = ngx_svc_push_store_failed(op);

    if (failed) {
        work->state |= work->storing;

        if (!ngx_queue_empty(&work->recording)) {
            ngx_queue_add(&work->results, &work->recording);
        }

        ngx_queue_init(&work->recording);

    } else {
        work->dirty = 1;
        work->paced = !work->storing;

        for (q = ngx_queue_head(&work->recording);
             q != ngx_queue_sentinel(&work->recording);
             q = ngx_queue_next(q))
        {
            work->nresults--;
        }

        ngx_svc_push_items_free(&work->recording);
    }

    work->storing = 0;

    ngx_svc_push_store_end(work, failed ? NGX_ERROR : NGX_OK);
}
