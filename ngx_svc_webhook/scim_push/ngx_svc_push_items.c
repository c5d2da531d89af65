/*
 * Outbound SCIM: takes users of a target from PostgreSQL.
 */

#include "ngx_svc_push_items.h"
#include "ngx_svc_push_sql_users.h"


#define NGX_SVC_PUSH_EMPTY      1000        /* ms until the next look, if no
                                               user was due */


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


static const ngx_svc_push_field_t  ngx_svc_push_fields[] = {
    { NGX_SVC_PUSH_I_ID, offsetof(ngx_svc_push_want_t, id) },
    { NGX_SVC_PUSH_I_USER_NAME, offsetof(ngx_svc_push_want_t, user_name) },
    { NGX_SVC_PUSH_I_DISPLAY_NAME,
      offsetof(ngx_svc_push_want_t, display_name) },
    { NGX_SVC_PUSH_I_FIRST_NAME, offsetof(ngx_svc_push_want_t, given_name) },
    { NGX_SVC_PUSH_I_LAST_NAME, offsetof(ngx_svc_push_want_t, family_name) },
    { NGX_SVC_PUSH_I_TITLE, offsetof(ngx_svc_push_want_t, title) },
    { NGX_SVC_PUSH_I_LOCALE, offsetof(ngx_svc_push_want_t, locale) },
    { NGX_SVC_PUSH_I_DEPARTMENT, offsetof(ngx_svc_push_want_t, department) },
};


#define NGX_SVC_PUSH_FIELDS                                                   \
    (sizeof(ngx_svc_push_fields) / sizeof(ngx_svc_push_field_t))

/* --- taking ------------------------------------------------------------ */

ngx_int_t
ngx_svc_push_items_take(ngx_svc_push_work_t *work, ngx_uint_t deactivate)
{
    u_char             *ids, *p;
    ngx_uint_t          n;
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_push_store_make(work, NGX_SVC_PG_READ, ngx_svc_push_taken,
                                 &ngx_svc_sql_push_take, &call);
    if (op == NULL) {
        return NGX_ERROR;
    }

    n = work->nready + work->ninflight + work->nresults;
    ids = ngx_pnalloc(op->pool, 2 + n * (NGX_SVC_UUID_TEXT_LEN + 1));

    if (ids == NULL
        || ngx_svc_pg_bind_int(op, call, NGX_SVC_PUSH_TAKE - work->nready)
           != NGX_OK)
    {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    p = ids;
    *p++ = '{';
    p = ngx_svc_push_items_ids(p, &work->ready);
    p = ngx_svc_push_items_ids(p, &work->inflight);
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

    res = ngx_svc_push_store_answer(op, &ngx_svc_sql_push_take);
    if (res == NULL) {
        return;
    }

    n = PQntuples(res);
    rc = n ? NGX_OK : NGX_DECLINED;

    if (n && ngx_svc_pg_true(res, 0, NGX_SVC_PUSH_I_HELD)) {
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


/* Users whom a helper that has ended may have created are looked up. */

static ngx_int_t
ngx_svc_push_item_fields(ngx_svc_push_item_t *item, PGresult *res, int row)
{
    ngx_str_t        rev, remote, hash, old, *value;
    ngx_uint_t       i;
    ngx_svc_push_t  *push;

    push = &item->push;

    rev = ngx_svc_pg_value(res, row, NGX_SVC_PUSH_I_REV);
    remote = ngx_svc_pg_value(res, row, NGX_SVC_PUSH_I_REMOTE);
    hash = ngx_svc_pg_value(res, row, NGX_SVC_PUSH_I_HASH);
    old = ngx_svc_pg_value(res, row, NGX_SVC_PUSH_I_REMOTE_HASH);

    if (ngx_svc_push_item_copy(push->pool, &item->rev, &rev) != NGX_OK
        || ngx_svc_push_item_copy(push->pool, &push->remote_id, &remote)
           != NGX_OK
        || ngx_svc_push_item_copy(push->pool, &item->hash, &hash) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_push_items_want(&push->want, res, row);

    for (i = 0; i < NGX_SVC_PUSH_FIELDS; i++) {
        value = (ngx_str_t *) ((u_char *) &push->want
                               + ngx_svc_push_fields[i].offset);

        if (ngx_svc_push_item_copy(push->pool, value, value) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    push->compare = ngx_svc_pg_true(res, row, NGX_SVC_PUSH_I_COMPARE);
    push->remote_active = ngx_svc_pg_true(res, row,
                                                NGX_SVC_PUSH_I_REMOTE_ACTIVE);
    item->attempts = ngx_max(atoi(PQgetvalue(res, row,
                                             NGX_SVC_PUSH_I_ATTEMPTS)), 0);

    push->absent_for = ngx_max(atoi(PQgetvalue(res, row,
                                               NGX_SVC_PUSH_I_ABSENT)), 0);

    item->same = !push->compare && push->absent_for == 0
                 && ((hash.len && hash.len == old.len
                      && ngx_memcmp(hash.data, old.data, hash.len) == 0)
                     || (push->want.gone && remote.len
                         && !push->remote_active));

    return NGX_OK;
}


void
ngx_svc_push_items_want(ngx_svc_push_want_t *want, PGresult *res, int row)
{
    ngx_uint_t                   i;
    const ngx_svc_push_field_t  *field;

    for (i = 0; i < NGX_SVC_PUSH_FIELDS; i++) {
        field = &ngx_svc_push_fields[i];

        *(ngx_str_t *) ((u_char *) want + field->offset) =
            ngx_svc_pg_value(res, row, field->column);
    }

    want->sent = PQgetisnull(res, row, NGX_SVC_PUSH_I_SENT)
                 ? NGX_SVC_PUSH_SENT
                 : ngx_max(atoi(PQgetvalue(res, row, NGX_SVC_PUSH_I_SENT)), 0);
    want->gone = ngx_svc_pg_true(res, row, NGX_SVC_PUSH_I_GONE);
    want->active = ngx_svc_pg_true(res, row, NGX_SVC_PUSH_I_ACTIVE);
}


static ngx_int_t
ngx_svc_push_item_copy(ngx_pool_t *pool, ngx_str_t *to, const ngx_str_t *from)
{
    u_char  *p;

    p = ngx_pnalloc(pool, from->len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    *ngx_cpymem(p, from->data, from->len) = '\0';

    to->len = from->len;
    to->data = p;

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
