/*
 * Outbound SCIM: users of a target, from PostgreSQL and back.
 */

#include "ngx_svc_push_items.h"
#include "ngx_svc_push_sql.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_webhook_op.h"


#define NGX_SVC_PUSH_AGAIN      1000        /* ms, doubled with each attempt */
#define NGX_SVC_PUSH_AGAIN_MAX  600000
#define NGX_SVC_PUSH_WRONG      3600000     /* likewise, of a user who is
                                               refused */
#define NGX_SVC_PUSH_WRONG_MAX  86400000
#define NGX_SVC_PUSH_TRIES      100         /* no more are counted */
#define NGX_SVC_PUSH_EMPTY      1000        /* ms, after nobody was found */


typedef struct {
    int                column;
    size_t             offset;
} ngx_svc_push_field_t;


static void ngx_svc_push_taken(ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_push_item(ngx_svc_push_work_t *work, PGresult *res,
    int row);
static ngx_int_t ngx_svc_push_item_copy(ngx_pool_t *pool, ngx_str_t *to,
    const ngx_str_t *from);
static ngx_int_t ngx_svc_push_item_fields(ngx_svc_push_item_t *item,
    PGresult *res, int row);
static u_char *ngx_svc_push_items_ids(u_char *p, ngx_queue_t *queue);
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


static const ngx_svc_push_field_t  ngx_svc_push_fields[] = {
    { NGX_SVC_PUSH_I_USER_NAME, offsetof(ngx_svc_push_want_t, user_name) },
    { NGX_SVC_PUSH_I_DISPLAY_NAME,
      offsetof(ngx_svc_push_want_t, display_name) },
    { NGX_SVC_PUSH_I_FIRST_NAME, offsetof(ngx_svc_push_want_t, given_name) },
    { NGX_SVC_PUSH_I_LAST_NAME, offsetof(ngx_svc_push_want_t, family_name) },
    { NGX_SVC_PUSH_I_TITLE, offsetof(ngx_svc_push_want_t, title) },
    { NGX_SVC_PUSH_I_LOCALE, offsetof(ngx_svc_push_want_t, locale) },
    { NGX_SVC_PUSH_I_DEPARTMENT, offsetof(ngx_svc_push_want_t, department) },
};


#define ngx_svc_push_item_true(res, row, column)                              \
    (PQgetvalue(res, row, column)[0] == 't')


/* --- taking ------------------------------------------------------------ */

ngx_int_t
ngx_svc_push_items_take(ngx_svc_push_work_t *work, ngx_uint_t deactivate)
{
    u_char             *ids, *p;
    ngx_uint_t          n;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_push_store_op(work, NGX_SVC_PG_READ, ngx_svc_push_taken);
    if (op == NULL) {
        return NGX_ERROR;
    }

    n = work->nready + work->nflying + work->nresults;
    ids = ngx_pnalloc(op->pool, 2 + n * (NGX_SVC_UUID_TEXT_LEN + 1));
    call = ngx_svc_push_store_call(work, op, &ngx_svc_sql_push_take);

    if (ids == NULL || call == NULL
        || ngx_svc_pg_bind_int(op, call, NGX_SVC_PUSH_TAKE - work->nready)
           != NGX_OK)
    {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    p = ids;
    *p++ = '{';
    p = ngx_svc_push_items_ids(p, &work->ready);
    p = ngx_svc_push_items_ids(p, &work->flying);
    p = ngx_svc_push_items_ids(p, &work->results);

    if (p[-1] == ',') {
        p--;
    }

    *p++ = '}';

    ngx_svc_pg_bind(call, ids, p - ids);
    ngx_svc_pg_bind_bool(call, deactivate);

    return ngx_svc_push_store_submit(work, op);
}


static u_char *
ngx_svc_push_items_ids(u_char *p, ngx_queue_t *queue)
{
    ngx_queue_t          *q;
    ngx_svc_push_item_t  *item;

    for (q = ngx_queue_head(queue);
         q != ngx_queue_sentinel(queue);
         q = ngx_queue_next(q))
    {
        item = ngx_queue_data(q, ngx_svc_push_item_t, queue);
        p = ngx_cpymem(p, item->push.want.id.data, NGX_SVC_UUID_TEXT_LEN);
        *p++ = ',';
    }

    return p;
}


static void
ngx_svc_push_taken(ngx_svc_pg_op_t *op)
{
    int                   i, n;
    ngx_int_t             rc;
    PGresult             *res;
    ngx_svc_push_work_t  *work;

    work = op->data;

    if (ngx_svc_push_store_failed(op)) {
        ngx_svc_push_store_end(work, NGX_ERROR);
        return;
    }

    res = ngx_svc_webhook_op_result(op);
    n = PQntuples(res);
    rc = n ? NGX_OK : NGX_DECLINED;

    if (n && ngx_svc_push_item_true(res, 0, NGX_SVC_PUSH_I_HELD)) {
        work->hold = 1;
        work->ended = ngx_max(atoi(PQgetvalue(res, 0, NGX_SVC_PUSH_I_ENDED)),
                              0);
        work->users = ngx_max(atoi(PQgetvalue(res, 0, NGX_SVC_PUSH_I_USERS)),
                              0);
        n = 0;
    }

    if (n == 0 || PQgetisnull(res, 0, NGX_SVC_PUSH_I_ID)) {
        work->due = ngx_current_msec + NGX_SVC_PUSH_EMPTY;
        n = 0;
    }

    for (i = 0; i < n && rc == NGX_OK; i++) {
        rc = ngx_svc_push_item(work, res, i);
    }

    ngx_svc_push_store_end(work, rc);
}


static ngx_int_t
ngx_svc_push_item(ngx_svc_push_work_t *work, PGresult *res, int row)
{
    ngx_pool_t           *pool;
    ngx_svc_push_item_t  *item;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    item = ngx_pcalloc(pool, sizeof(ngx_svc_push_item_t));
    if (item == NULL) {
        goto failed;
    }

    item->push.pool = pool;
    item->push.data = item;
    item->work = work;

    if (ngx_svc_push_item_fields(item, res, row) != NGX_OK) {
        goto failed;
    }

    ngx_queue_insert_tail(&work->ready, &item->queue);
    work->nready++;

    return NGX_OK;

failed:

    ngx_destroy_pool(pool);

    return NGX_ERROR;
}


/* Whom a helper that has ended may have created is looked up. */

static ngx_int_t
ngx_svc_push_item_fields(ngx_svc_push_item_t *item, PGresult *res, int row)
{
    ngx_str_t                   id, rev, remote, hash, old, value;
    ngx_uint_t                  i;
    ngx_svc_push_t             *push;
    const ngx_svc_push_field_t *field;

    push = &item->push;

    id = ngx_svc_pg_value(res, row, NGX_SVC_PUSH_I_ID);
    rev = ngx_svc_pg_value(res, row, NGX_SVC_PUSH_I_REV);
    remote = ngx_svc_pg_value(res, row, NGX_SVC_PUSH_I_REMOTE);
    hash = ngx_svc_pg_value(res, row, NGX_SVC_PUSH_I_HASH);
    old = ngx_svc_pg_value(res, row, NGX_SVC_PUSH_I_REMOTE_HASH);

    if (ngx_svc_push_item_copy(push->pool, &push->want.id, &id) != NGX_OK
        || ngx_svc_push_item_copy(push->pool, &item->rev, &rev) != NGX_OK
        || ngx_svc_push_item_copy(push->pool, &push->remote_id, &remote)
           != NGX_OK
        || ngx_svc_push_item_copy(push->pool, &item->hash, &hash) != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < sizeof(ngx_svc_push_fields) / sizeof(*field); i++) {
        field = &ngx_svc_push_fields[i];
        value = ngx_svc_pg_value(res, row, field->column);

        if (ngx_svc_push_item_copy(push->pool,
                (ngx_str_t *) ((u_char *) &push->want + field->offset), &value)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    push->want.gone = ngx_svc_push_item_true(res, row, NGX_SVC_PUSH_I_GONE);
    push->want.active = ngx_svc_push_item_true(res, row,
                                               NGX_SVC_PUSH_I_ACTIVE);
    push->compare = ngx_svc_push_item_true(res, row, NGX_SVC_PUSH_I_COMPARE);
    push->remote_active = ngx_svc_push_item_true(res, row,
                                                NGX_SVC_PUSH_I_REMOTE_ACTIVE);
    item->attempts = ngx_max(atoi(PQgetvalue(res, row,
                                             NGX_SVC_PUSH_I_ATTEMPTS)), 0);

    item->same = !push->compare
                 && ((hash.len && hash.len == old.len
                      && ngx_memcmp(hash.data, old.data, hash.len) == 0)
                     || (push->want.gone && remote.len
                         && !push->remote_active));

    return NGX_OK;
}


static ngx_int_t
ngx_svc_push_item_copy(ngx_pool_t *pool, ngx_str_t *to, const ngx_str_t *from)
{
    to->data = ngx_pnalloc(pool, from->len + 1);
    if (to->data == NULL) {
        return NGX_ERROR;
    }

    to->len = from->len;
    *ngx_cpymem(to->data, from->data, from->len) = '\0';

    return NGX_OK;
}


void
ngx_svc_push_items_free(ngx_queue_t *queue)
{
    ngx_queue_t          *q, *next;
    ngx_svc_push_item_t  *item;

    for (q = ngx_queue_head(queue); q != ngx_queue_sentinel(queue); q = next) {
        next = ngx_queue_next(q);

        item = ngx_queue_data(q, ngx_svc_push_item_t, queue);
        ngx_destroy_pool(item->push.pool);
    }

    ngx_queue_init(queue);
}


/* --- recording --------------------------------------------------------- */

ngx_int_t
ngx_svc_push_items_record(ngx_svc_push_work_t *work)
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


/* What an attempt that failed has left there nobody knows. */

static void
ngx_svc_push_record_item(ngx_svc_json_writer_t *w, ngx_svc_push_item_t *item)
{
    ngx_uint_t       done, target, active;
    ngx_svc_push_t  *push;

    push = &item->push;
    done = push->outcome == NGX_SVC_PUSH_DONE;
    target = push->outcome == NGX_SVC_PUSH_PAUSE
             || push->outcome == NGX_SVC_PUSH_FAILING
             || push->outcome == NGX_SVC_PUSH_REFUSED;

    active = push->remote_active;

    if (done) {
        active = push->want.active && push->remote_id.len;
    }

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_plain(w, "id", push->want.id.data, push->want.id.len);
    ngx_svc_json_raw(w, "rev", item->rev.data, item->rev.len);
    ngx_svc_json_boolean(w, "done", done);
    ngx_svc_json_boolean(w, "failed", push->outcome == NGX_SVC_PUSH_USER);
    ngx_svc_json_boolean(w, "gone", push->want.gone);
    ngx_svc_json_boolean(w, "active", active);

    /* a text of PostgreSQL's has no NUL */

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

    ngx_svc_json_integer(w, "tries", ngx_min(item->attempts + !target,
                                             NGX_SVC_PUSH_TRIES));
    ngx_svc_json_integer(w, "delay", ngx_svc_push_record_delay(item));

    if (!done && push->error.len) {
        ngx_svc_json_string(w, "error", push->error.data,
                            ngx_min(push->error.len, NGX_SVC_PUSH_ERROR));
    }

    ngx_svc_json_close(w, '}');
}


/* In ms; what is the target's waits for it. */

static ngx_int_t
ngx_svc_push_record_delay(ngx_svc_push_item_t *item)
{
    ngx_int_t   ms, max;

    if (item->push.outcome == NGX_SVC_PUSH_RETRY) {
        ms = NGX_SVC_PUSH_AGAIN;
        max = NGX_SVC_PUSH_AGAIN_MAX;

    } else if (item->push.outcome == NGX_SVC_PUSH_USER) {
        ms = NGX_SVC_PUSH_WRONG;
        max = NGX_SVC_PUSH_WRONG_MAX;

    } else {
        return 0;
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

    return ngx_svc_pg_bind_int(op, call, work->version);
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


/* What could not be recorded is recorded later. */

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
