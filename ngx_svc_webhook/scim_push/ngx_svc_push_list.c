/*
 * Outbound SCIM: reads the target's own list of users, so that those who are
 * there as wanted need no request of their own.
 *
 * One page at a time is in memory.  The list only saves requests: users who
 * are not in it, or not for certain, are looked up as without it.  So are all
 * users if the target has no list, or repeats a page.
 */

#include "ngx_svc_push_list.h"
#include "ngx_svc_push_items.h"
#include "ngx_svc_push_outcome.h"
#include "ngx_svc_push_page.h"
#include "ngx_svc_push_patch.h"
#include "ngx_svc_push_read.h"
#include "ngx_svc_push_sql_list.h"
#include "ngx_svc_push_sql_list.row.h"
#include "ngx_svc_webhook.h"

#include "ngx_svc_crypto.h"
#include "ngx_svc_json_write.h"


#define NGX_SVC_PUSH_LOST    2          /* lost answers in a row, at most */
#define NGX_SVC_PUSH_RELIST  1000       /* ms after the first, then doubled */
#define NGX_SVC_PUSH_LIST_END  10000000 /* users; such a list has no end */


/* A resource of the page. */

typedef struct {
    ngx_str_t                id;
    const cJSON             *json;
} ngx_svc_push_listed_t;

typedef struct {
    ngx_svc_push_page_t      page;
    ngx_array_t              users;     /* ngx_svc_push_listed_t */
    ngx_uint_t               next;      /* start of the next page; 0: the
                                           last */
    ngx_uint_t               lack;      /* 1: memory ran out */
} ngx_svc_push_list_t;


static void ngx_svc_push_list_seen(ngx_svc_push_page_t *page,
    const ngx_str_t *id, const cJSON *resource);
static void ngx_svc_push_list_answer(ngx_svc_push_page_t *page);
static ngx_int_t ngx_svc_push_list_read(ngx_svc_push_work_t *work,
    ngx_svc_push_list_t *list);
static ngx_uint_t ngx_svc_push_list_next(ngx_svc_push_work_t *work,
    ngx_svc_push_list_t *list);
static ngx_uint_t ngx_svc_push_list_again(ngx_svc_push_work_t *work,
    ngx_svc_push_list_t *list);
static ngx_int_t ngx_svc_push_list_bind(ngx_pool_t *pool,
    ngx_svc_pg_call_t *call, ngx_svc_push_list_t *list);
static void ngx_svc_push_list_matched(ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_push_list_store(ngx_svc_push_work_t *work,
    PGresult *res);
static ngx_int_t ngx_svc_push_list_rows(ngx_svc_push_work_t *work,
    ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call, PGresult *res);
static ngx_int_t ngx_svc_push_list_row(ngx_svc_json_writer_t *w,
    ngx_svc_push_list_t *list, const ngx_svc_row_push_match_t *row);
static ngx_int_t ngx_svc_push_list_same(ngx_svc_push_listed_t *listed,
    ngx_svc_push_want_t *want);
static void ngx_svc_push_list_stored(ngx_svc_pg_op_t *op);


static void  (*ngx_svc_push_list_step)(ngx_svc_push_work_t *work);


void
ngx_svc_push_list_init(void (*step)(ngx_svc_push_work_t *work))
{
    ngx_svc_push_list_step = step;
}


/* --- a page ------------------------------------------------------------ */

ngx_int_t
ngx_svc_push_list(ngx_svc_push_work_t *work)
{
    ngx_pool_t           *pool;
    ngx_svc_push_list_t  *list;

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    list = ngx_pcalloc(pool, sizeof(ngx_svc_push_list_t));

    if (list == NULL
        || ngx_array_init(&list->users, pool, 100,
                          sizeof(ngx_svc_push_listed_t))
           != NGX_OK)
    {
        goto failed;
    }

    list->page.pool = pool;
    list->page.target = &work->conf->target;
    list->page.start = work->list;
    list->page.seen = ngx_svc_push_list_seen;
    list->page.handler = ngx_svc_push_list_answer;
    list->page.data = work;

    if (ngx_svc_push_page(&list->page) != NGX_OK) {
        goto failed;
    }

    work->page = list;
    work->tokens -= 1000;

    return NGX_OK;

failed:

    ngx_destroy_pool(pool);

    return NGX_ERROR;
}


static void
ngx_svc_push_list_seen(ngx_svc_push_page_t *page, const ngx_str_t *id,
    const cJSON *resource)
{
    ngx_svc_push_work_t    *work;
    ngx_svc_push_list_t    *list;
    ngx_svc_push_listed_t  *listed;

    work = page->data;
    list = work->page;

    listed = ngx_array_push(&list->users);

    if (listed == NULL) {
        list->lack = 1;
        return;
    }

    listed->id = *id;
    listed->json = resource;
}


static void
ngx_svc_push_list_answer(ngx_svc_push_page_t *page)
{
    ngx_svc_push_work_t  *work;
    ngx_svc_push_list_t  *list;

    work = page->data;
    list = work->page;

    if (work->conf->version == work->version) {
        ngx_svc_push_outcome(work, &page->answer);
    }

    if (ngx_svc_push_list_read(work, list) == NGX_OK) {
        work->listed = 1;

    } else {
        ngx_svc_push_list_cancel(work);
    }

    ngx_svc_push_list_step(work);
}


/* Reads a page.  NGX_DECLINED: the page is asked for again. */

static ngx_int_t
ngx_svc_push_list_read(ngx_svc_push_work_t *work, ngx_svc_push_list_t *list)
{
    switch (list->page.answer.outcome) {

    case NGX_SVC_PUSH_DONE:

        if (!list->lack) {
            work->lost = 0;
            list->next = ngx_svc_push_list_next(work, list);
            return NGX_OK;
        }

        /* fall through */

    case NGX_SVC_PUSH_RETRY:

        if (list->page.answer.status != NGX_HTTP_NOT_IMPLEMENTED
            && work->lost++ < NGX_SVC_PUSH_LOST)
        {
            work->relist = ngx_current_msec
                           + (NGX_SVC_PUSH_RELIST << (work->lost - 1));
            return NGX_DECLINED;
        }

        break;

    case NGX_SVC_PUSH_USER:
        break;

    default:
        return NGX_DECLINED;
    }

    /* goes on without the page */

    work->lost = 0;
    list->users.nelts = 0;

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_push_list_next(ngx_svc_push_work_t *work, ngx_svc_push_list_t *list)
{
    ngx_uint_t            next;
    ngx_svc_push_page_t  *page;

    page = &list->page;
    next = page->start + page->n;

    if (page->n == 0 || next > NGX_SVC_PUSH_LIST_END
        || (page->total && next > page->total)
        || ngx_svc_push_list_again(work, list))
    {
        return 0;
    }

    return next;
}


/* Returns whether this page is the one before it, sent again. */

static ngx_uint_t
ngx_svc_push_list_again(ngx_svc_push_work_t *work, ngx_svc_push_list_t *list)
{
    uint32_t                before;
    ngx_svc_push_listed_t  *first;

    if (list->users.nelts == 0) {
        return 0;
    }

    first = list->users.elts;
    before = work->page_crc;
    work->page_crc = ngx_crc32_short(first->id.data, first->id.len);

    return list->page.start > 1 && work->page_crc == before;
}


void
ngx_svc_push_list_cancel(ngx_svc_push_work_t *work)
{
    ngx_svc_push_list_t  *list;

    list = work->page;

    if (list) {
        ngx_svc_push_page_close(&list->page);
        ngx_destroy_pool(list->page.pool);

        work->page = NULL;
        work->listed = 0;
    }
}


/* --- the comparison ---------------------------------------------------- */

ngx_int_t
ngx_svc_push_list_compare(ngx_svc_push_work_t *work)
{
    ngx_svc_pg_op_t      *op;
    ngx_svc_pg_call_t    *call;
    ngx_svc_push_list_t  *list;

    list = work->page;

    if (list->users.nelts == 0) {
        return ngx_svc_push_list_store(work, NULL);
    }

    op = ngx_svc_push_store_make(work, NGX_SVC_PG_READ,
                                 ngx_svc_push_list_matched,
                                 &ngx_svc_sql_push_match, &call);
    if (op == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_push_list_bind(op->pool, call, list) != NGX_OK) {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    return ngx_svc_push_store_submit(work, op);
}


static ngx_int_t
ngx_svc_push_list_bind(ngx_pool_t *pool, ngx_svc_pg_call_t *call,
    ngx_svc_push_list_t *list)
{
    u_char                  uuid[NGX_SVC_UUID_LEN];
    ngx_str_t               text;
    ngx_uint_t              i;
    ngx_svc_json_writer_t   w;
    ngx_svc_push_listed_t  *listed;

    if (ngx_svc_json_writer_init(&w, pool, list->users.nelts * 200)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    listed = list->users.elts;
    ngx_svc_json_open(&w, NULL, '[');

    for (i = 0; i < list->users.nelts; i++) {
        ngx_svc_json_open(&w, NULL, '{');
        ngx_svc_json_integer(&w, "number", i);
        ngx_svc_json_string(&w, "remote", listed[i].id.data,
                            listed[i].id.len);

        (void) ngx_svc_push_read_text(listed[i].json, "externalId", &text);

        if (ngx_svc_uuid_parse(text.data, text.len, uuid) == NGX_OK) {
            ngx_svc_json_string(&w, "external", text.data, text.len);
        }

        (void) ngx_svc_push_read_text(listed[i].json, "userName", &text);
        ngx_svc_json_string(&w, "name", text.data, text.len);

        ngx_svc_json_close(&w, '}');
    }

    ngx_svc_json_close(&w, ']');

    ngx_svc_pg_bind(call, w.start, w.last - w.start);

    return w.failed ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_push_list_matched(ngx_svc_pg_op_t *op)
{
    ngx_int_t             rc;
    PGresult             *res;
    ngx_svc_push_work_t  *work;

    work = op->data;

    res = ngx_svc_push_store_answer(op, &ngx_svc_sql_push_match);
    if (res == NULL) {
        return;
    }

    rc = ngx_svc_push_list_store(work, res);

    if (rc == NGX_OK) {
        ngx_destroy_pool(op->pool);
        return;
    }

    work->op = op;
    ngx_svc_push_store_end(work, rc);
}


/*
 * Stores the users who are as wanted.  res: the users of the page's ids; NULL:
 * none was found.
 */

static ngx_int_t
ngx_svc_push_list_store(ngx_svc_push_work_t *work, PGresult *res)
{
    ngx_svc_pg_op_t      *op;
    ngx_svc_pg_call_t    *call;
    ngx_svc_push_list_t  *list;

    list = work->page;

    op = ngx_svc_push_store_make(work, NGX_SVC_PG_WRITE,
                                 ngx_svc_push_list_stored,
                                 &ngx_svc_sql_push_listed, &call);
    if (op == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_push_list_rows(work, op, call, res) != NGX_OK
        || ngx_svc_pg_bind_int(op, call, work->conf->version) != NGX_OK)
    {
        goto failed;
    }

    if (list->next == 0) {
        ngx_svc_pg_bind(call, NULL, 0);

    } else if (ngx_svc_pg_bind_int(op, call, list->next) != NGX_OK) {
        goto failed;
    }

    return ngx_svc_push_store_submit(work, op);

failed:

    ngx_destroy_pool(op->pool);

    return NGX_ERROR;
}


static ngx_int_t
ngx_svc_push_list_rows(ngx_svc_push_work_t *work, ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call, PGresult *res)
{
    int                       i, n;
    ngx_svc_json_writer_t     w;
    ngx_svc_row_push_match_t  row;

    n = res ? PQntuples(res) : 0;

    if (ngx_svc_json_writer_init(&w, op->pool, 16 + n * 200) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '[');

    for (i = 0; i < n; i++) {
        ngx_svc_row_push_match(&row, res, i);

        if (ngx_svc_push_list_row(&w, work->page, &row) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    ngx_svc_json_close(&w, ']');

    ngx_svc_pg_bind(call, w.start, w.last - w.start);

    return w.failed ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_push_list_row(ngx_svc_json_writer_t *w, ngx_svc_push_list_t *list,
    const ngx_svc_row_push_match_t *row)
{
    ngx_int_t               rc;
    ngx_str_t               hash, rev;
    ngx_svc_push_want_t     want;
    ngx_svc_push_listed_t  *listed;

    if (row->number < 0 || row->number >= (ngx_int_t) list->users.nelts) {
        return NGX_OK;
    }

    listed = (ngx_svc_push_listed_t *) list->users.elts + row->number;
    ngx_svc_push_items_want(&want, &row->push_wanted);

    rc = ngx_svc_push_list_same(listed, &want);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    rev = row->push_wanted.wanted_rev;
    hash = row->push_wanted.hash;

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_plain(w, "id", want.id.data, want.id.len);
    ngx_svc_json_raw(w, "rev", rev.data, rev.len);
    ngx_svc_json_string(w, "remote", listed->id.data, listed->id.len);
    ngx_svc_json_plain(w, "hash", hash.data + 2, ngx_max(hash.len, 2) - 2);
    ngx_svc_json_boolean(w, "active", want.active);
    ngx_svc_json_close(w, '}');

    return NGX_OK;
}


/*
 * Compares a resource with what is wanted.  NGX_DECLINED: nothing differs.
 * Some servers never show externalId.
 */

static ngx_int_t
ngx_svc_push_list_same(ngx_svc_push_listed_t *listed,
    ngx_svc_push_want_t *want)
{
    ngx_int_t            rc;
    ngx_str_t            body;
    ngx_pool_t          *pool;
    ngx_svc_push_want_t  shown;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    shown = *want;

    if (ngx_svc_push_read_member(listed->json, "externalId") == NULL) {
        ngx_str_null(&shown.id);
    }

    rc = ngx_svc_push_patch(pool, &shown, listed->json, &body);

    ngx_destroy_pool(pool);

    return rc;
}


static void
ngx_svc_push_list_stored(ngx_svc_pg_op_t *op)
{
    ngx_svc_push_list_t  *list;
    ngx_svc_push_work_t  *work;

    work = op->data;
    list = work->page;

    if (op->status == NGX_SVC_PG_OK) {
        work->list = list->next;
        work->relist = ngx_current_msec;
        work->dirty = 1;

        ngx_svc_push_list_cancel(work);
    }

    ngx_svc_push_stored(op);
}
