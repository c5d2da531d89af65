/*
 * Outbound SCIM: takes users of a target from PostgreSQL.
 */

#include "ngx_svc_push_items.h"
#include "ngx_svc_push_sql_users.h"
#include "ngx_svc_push_sql_users.row.h"


#define NGX_SVC_PUSH_EMPTY      1000        /* ms until the next look, if no
                                               user was due */


static void ngx_svc_push_taken(ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_push_item(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_take_t *row);
static ngx_int_t ngx_svc_push_item_fields(ngx_svc_push_item_t *item,
    const ngx_svc_row_push_take_t *row);
static ngx_int_t ngx_svc_push_item_texts(ngx_svc_push_item_t *item);
static ngx_int_t ngx_svc_push_item_copy(ngx_pool_t *pool, ngx_str_t *text);
static u_char *ngx_svc_push_items_ids(u_char *p, ngx_queue_t *queue);


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
    int                       i, n;
    ngx_int_t                 rc;
    PGresult                 *res;
    ngx_svc_push_work_t      *work;
    ngx_svc_row_push_take_t   row;

    work = op->data;

    res = ngx_svc_push_store_answer(op, &ngx_svc_sql_push_take);
    if (res == NULL) {
        return;
    }

    n = PQntuples(res);
    rc = n ? NGX_OK : NGX_DECLINED;

    ngx_svc_row_push_take(&row, res, 0);

    if (row.held) {
        work->hold = 1;
        work->ended = row.ended;
        work->users = row.users;
    }

    if (row.held || row.push_wanted.user_id.data == NULL) {
        work->due = ngx_current_msec + NGX_SVC_PUSH_EMPTY;
        n = 0;
    }

    for (i = 0; i < n && rc == NGX_OK; i++) {
        ngx_svc_row_push_take(&row, res, i);
        rc = ngx_svc_push_item(work, &row);
    }

    ngx_svc_push_store_end(work, rc);
}


static ngx_int_t
ngx_svc_push_item(ngx_svc_push_work_t *work,
    const ngx_svc_row_push_take_t *row)
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

    if (ngx_svc_push_item_fields(item, row) != NGX_OK) {
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
ngx_svc_push_item_fields(ngx_svc_push_item_t *item,
    const ngx_svc_row_push_take_t *row)
{
    ngx_str_t        hash;
    ngx_svc_push_t  *push;

    push = &item->push;
    hash = row->push_wanted.hash;

    ngx_svc_push_items_want(&push->want, &row->push_wanted);

    item->rev = row->push_wanted.wanted_rev;
    item->hash = hash;
    item->attempts = row->attempts;

    push->remote_id = row->remote_id;
    push->compare = row->compare;
    push->remote_active = row->remote_active;
    push->absent_for = row->absent;

    item->same = !push->compare && push->absent_for == 0
                 && ((hash.len && hash.len == row->remote_hash.len
                      && ngx_memcmp(hash.data, row->remote_hash.data,
                                    hash.len)
                         == 0)
                     || (push->want.gone && push->remote_id.len
                         && !push->remote_active));

    return ngx_svc_push_item_texts(item);
}


void
ngx_svc_push_items_want(ngx_svc_push_want_t *want,
    const ngx_svc_row_push_wanted_t *row)
{
    want->id = row->user_id;
    want->user_name = row->user_name;
    want->display_name = row->display_name;
    want->given_name = row->first_name;
    want->family_name = row->last_name;
    want->title = row->title;
    want->locale = row->locale;
    want->department = row->department;
    want->sent = row->sent < 0 ? NGX_SVC_PUSH_SENT : row->sent;
    want->gone = row->gone;
    want->active = row->active;
}


/* Copies the item's texts, which are still those of the result. */

static ngx_int_t
ngx_svc_push_item_texts(ngx_svc_push_item_t *item)
{
    ngx_uint_t            i;
    ngx_svc_push_want_t  *want;

    want = &item->push.want;

    ngx_str_t *const  texts[] = {
        &item->rev, &item->hash, &item->push.remote_id,
        &want->id, &want->user_name, &want->display_name, &want->given_name,
        &want->family_name, &want->title, &want->locale, &want->department
    };

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (ngx_svc_push_item_copy(item->push.pool, texts[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_push_item_copy(ngx_pool_t *pool, ngx_str_t *text)
{
    u_char  *p;

    p = ngx_pnalloc(pool, text->len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    *ngx_cpymem(p, text->data, text->len) = '\0';

    text->data = p;

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
