/*
 * What other servers publish, as their keys: what fetches and stores it.
 */

#include "ngx_svc_published.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_PUBLISHED_MOST     256      /* refreshes in a worker */
#define NGX_SVC_PUBLISHED_WAITING  64       /* requests for one of them */
#define NGX_SVC_PUBLISHED_SOONEST  3600     /* s, until the next time */
#define NGX_SVC_PUBLISHED_LATEST   86400


static ngx_svc_published_t *ngx_svc_published_find(
    const ngx_svc_published_kind_t *kind, const ngx_str_t *id);
static ngx_svc_published_t *ngx_svc_published_new(
    const ngx_svc_published_kind_t *kind, const u_char *tenant,
    const ngx_str_t *id);
static ngx_int_t ngx_svc_published_claim(ngx_svc_published_t *published);
static void ngx_svc_published_claimed(ngx_svc_pg_op_t *op);
static void ngx_svc_published_late(ngx_event_t *ev);
static void ngx_svc_published_fetched(ngx_svc_fetch_t *fetch);
static ngx_int_t ngx_svc_published_read(ngx_svc_published_t *published);
static ngx_int_t ngx_svc_published_status(ngx_svc_published_t *published);
static ngx_int_t ngx_svc_published_store(ngx_svc_published_t *published);
static void ngx_svc_published_stored(ngx_svc_pg_op_t *op);
static ngx_svc_pg_op_t *ngx_svc_published_op(ngx_svc_published_t *published,
    ngx_svc_pg_handler_pt handler);
static ngx_int_t ngx_svc_published_submit(ngx_svc_published_t *published,
    ngx_svc_pg_op_t *op);
static void ngx_svc_published_end(ngx_svc_published_t *published);
static void ngx_svc_published_remove(ngx_svc_published_t *published);
static void ngx_svc_published_gone(void *data);
static void ngx_svc_published_forget(ngx_svc_published_wait_t *wait);
static void ngx_svc_published_over(ngx_svc_published_wait_t *wait);


#include "ngx_svc_published.sql.h"


static ngx_queue_t  ngx_svc_published = {       /* ngx_svc_published_t */
    &ngx_svc_published, &ngx_svc_published
};

static ngx_uint_t   ngx_svc_published_n;


/* Those that wait have gone by now; what was claimed is taken again later. */

void
ngx_svc_published_exit_worker(void)
{
    ngx_queue_t          *q;
    ngx_svc_published_t  *published;

    while (ngx_svc_published_n) {
        q = ngx_queue_head(&ngx_svc_published);
        published = ngx_queue_data(q, ngx_svc_published_t, queue);

        ngx_svc_fetch_cancel(&published->fetch);

        if (published->op) {
            ngx_svc_pg_cancel(published->op);
        }

        ngx_svc_published_remove(published);
        ngx_destroy_pool(published->pool);
    }
}


ngx_int_t
ngx_svc_published_refresh(const ngx_svc_published_kind_t *kind,
    const u_char *tenant, const ngx_str_t *id)
{
    ngx_svc_published_t  *published;

    if (ngx_svc_published_find(kind, id)) {
        return NGX_OK;
    }

    if (!ngx_svc_fetch_ready()
        || ngx_svc_published_n == NGX_SVC_PUBLISHED_MOST)
    {
        return NGX_DECLINED;
    }

    published = ngx_svc_published_new(kind, tenant, id);
    if (published == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_published_claim(published) != NGX_OK) {
        ngx_svc_published_end(published);
        return NGX_DECLINED;
    }

    return NGX_OK;
}


ngx_svc_published_t *
ngx_svc_published_create(const ngx_svc_published_kind_t *kind,
    const ngx_str_t *tenant, const ngx_str_t *id)
{
    u_char  bytes[NGX_SVC_UUID_LEN];

    return ngx_svc_published_n < NGX_SVC_PUBLISHED_MOST
           && ngx_svc_published_find(kind, id) == NULL
           && ngx_svc_uuid_parse(tenant->data, tenant->len, bytes) == NGX_OK
           ? ngx_svc_published_new(kind, bytes, id) : NULL;
}


static ngx_svc_published_t *
ngx_svc_published_find(const ngx_svc_published_kind_t *kind,
    const ngx_str_t *id)
{
    ngx_queue_t          *q;
    ngx_svc_published_t  *published;

    for (q = ngx_queue_head(&ngx_svc_published);
         q != &ngx_svc_published;
         q = ngx_queue_next(q))
    {
        published = ngx_queue_data(q, ngx_svc_published_t, queue);

        if (published->kind == kind && ngx_svc_same(&published->id, id)) {
            return published;
        }
    }

    return NULL;
}


static ngx_svc_published_t *
ngx_svc_published_new(const ngx_svc_published_kind_t *kind,
    const u_char *tenant, const ngx_str_t *id)
{
    ngx_str_t             bytes;
    ngx_pool_t           *pool;
    ngx_svc_published_t  *published;

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    bytes.data = (u_char *) tenant;
    bytes.len = NGX_SVC_UUID_LEN;

    published = ngx_pcalloc(pool, sizeof(ngx_svc_published_t));

    if (published == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    published->pool = pool;
    published->kind = kind;

    if (ngx_svc_published_copy(published, &published->tenant, &bytes) != NGX_OK
        || ngx_svc_published_copy(published, &published->id, id) != NGX_OK)
    {
        ngx_destroy_pool(pool);
        return NULL;
    }

    ngx_queue_init(&published->waiting);

    ngx_svc_published_n++;
    ngx_queue_insert_tail(&ngx_svc_published, &published->queue);

    return published;
}


ngx_int_t
ngx_svc_published_copy(ngx_svc_published_t *published, ngx_str_t *to,
    const ngx_str_t *from)
{
    *to = *from;
    to->data = ngx_pstrdup(published->pool, (ngx_str_t *) from);

    return to->data ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_published_claim(ngx_svc_published_t *published)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_published_op(published, ngx_svc_published_claimed);
    call = op ? ngx_svc_pg_call(op, published->kind->claim) : NULL;

    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &published->id);

    return ngx_svc_published_submit(published, op);
}


/* An op for a statement of the tenant, in its turn. */

static ngx_svc_pg_op_t *
ngx_svc_published_op(ngx_svc_published_t *published,
    ngx_svc_pg_handler_pt handler)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_pg_op_create(published->pool, NGX_SVC_PG_WRITE, handler,
                              published);
    call = op ? ngx_svc_pg_call(op, &ngx_svc_sql_published_tenant) : NULL;

    if (call == NULL) {
        return NULL;
    }

    op->tenant = published->tenant.data;
    ngx_svc_pg_bind_str(call, &published->tenant);

    return op;
}


static ngx_int_t
ngx_svc_published_submit(ngx_svc_published_t *published, ngx_svc_pg_op_t *op)
{
    if (ngx_svc_pg_submit(op) != NGX_OK) {
        return NGX_ERROR;
    }

    published->op = op;

    return NGX_OK;
}


static void
ngx_svc_published_claimed(ngx_svc_pg_op_t *op)
{
    PGresult             *res;
    ngx_svc_published_t  *published;

    published = op->data;
    published->op = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, published->kind->failed);
        ngx_svc_published_end(published);
        return;
    }

    res = ngx_svc_pg_op_result(op, published->kind->claim);

    if (PQntuples(res)) {
        ngx_svc_published_fetch(published,
                                published->kind->claimed(published, res));
        return;
    }

    /* another worker has just asked, or there is nothing to ask for any more */

    if (published->kind->late == 0) {
        ngx_svc_published_end(published);
        return;
    }

    published->timer.handler = ngx_svc_published_late;
    published->timer.data = published;
    published->timer.log = ngx_cycle->log;

    ngx_add_timer(&published->timer, published->kind->late);
}


static void
ngx_svc_published_late(ngx_event_t *ev)
{
    ngx_svc_published_end(ev->data);
}


void
ngx_svc_published_fetch(ngx_svc_published_t *published, ngx_int_t rc)
{
    size_t            limit;
    ngx_str_t         url;
    ngx_svc_fetch_t  *fetch;

    fetch = &published->fetch;
    url = fetch->url;
    limit = fetch->limit;

    ngx_memzero(fetch, sizeof(ngx_svc_fetch_t));

    fetch->url = url;
    fetch->limit = limit;
    fetch->tenant.data = ngx_pnalloc(published->pool, NGX_SVC_UUID_TEXT_LEN);

    if (rc != NGX_OK || fetch->tenant.data == NULL) {
        ngx_svc_published_end(published);
        return;
    }

    fetch->tenant.len = ngx_svc_uuid_text(fetch->tenant.data,
                                          published->tenant.data)
                        - fetch->tenant.data;
    fetch->pool = published->pool;
    fetch->timeout = published->kind->time;
    fetch->handler = ngx_svc_published_fetched;
    fetch->data = published;
    fetch->headers[0] = published->kind->accept;
    fetch->nheaders = 1;

    if (ngx_svc_fetch(fetch) != NGX_OK) {
        ngx_svc_published_fetched(fetch);
    }
}


/* What was not asked for is no failure of the other server. */

static void
ngx_svc_published_fetched(ngx_svc_fetch_t *fetch)
{
    ngx_int_t             rc;
    ngx_svc_published_t  *published;

    published = fetch->data;

    rc = fetch->outcome == NGX_SVC_FETCH_UNAVAILABLE
         ? NGX_ERROR : ngx_svc_published_read(published);

    if (rc == NGX_AGAIN) {
        ngx_svc_published_fetch(published, NGX_OK);
        return;
    }

    if (rc == NGX_ERROR || ngx_svc_published_store(published) != NGX_OK) {
        ngx_svc_published_end(published);
    }
}


static ngx_int_t
ngx_svc_published_read(ngx_svc_published_t *published)
{
    ngx_svc_fetch_t  *fetch;

    fetch = &published->fetch;

    if (fetch->outcome != NGX_SVC_FETCH_ANSWERED) {
        published->error = fetch->why;
        return NGX_DECLINED;
    }

    return fetch->status == NGX_HTTP_OK
           ? published->kind->answered(published)
           : ngx_svc_published_status(published);
}


static ngx_int_t
ngx_svc_published_status(ngx_svc_published_t *published)
{
    u_char  *p;

    static const char  status[] = "the answer was ";

    p = ngx_pnalloc(published->pool, sizeof(status) + NGX_INT_T_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    published->error.data = p;
    published->error.len = ngx_sprintf(p, "%s%ui", status,
                                       published->fetch.status)
                           - p;

    return NGX_DECLINED;
}


int32_t
ngx_svc_published_age(const ngx_svc_published_t *published)
{
    time_t  age;

    age = ngx_max(published->fetch.max_age, NGX_SVC_PUBLISHED_SOONEST);

    return ngx_min(age, NGX_SVC_PUBLISHED_LATEST);
}


static ngx_int_t
ngx_svc_published_store(ngx_svc_published_t *published)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_published_op(published, ngx_svc_published_stored);

    return op && published->kind->store(published, op) == NGX_OK
           ? ngx_svc_published_submit(published, op) : NGX_ERROR;
}


static void
ngx_svc_published_stored(ngx_svc_pg_op_t *op)
{
    ngx_svc_published_t  *published;

    published = op->data;
    published->op = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, published->kind->failed);
    }

    ngx_svc_published_end(published);
}


/* A request that has waited may begin another refresh. */

static void
ngx_svc_published_end(ngx_svc_published_t *published)
{
    ngx_queue_t               *q;
    ngx_svc_published_wait_t  *wait;

    ngx_svc_published_remove(published);

    while (!ngx_queue_empty(&published->waiting)) {
        q = ngx_queue_head(&published->waiting);
        wait = ngx_queue_data(q, ngx_svc_published_wait_t, queue);

        ngx_svc_published_forget(wait);
        ngx_svc_published_over(wait);
    }

    ngx_destroy_pool(published->pool);
}


static void
ngx_svc_published_remove(ngx_svc_published_t *published)
{
    if (published->timer.timer_set) {
        ngx_del_timer(&published->timer);
    }

    ngx_queue_remove(&published->queue);
    ngx_svc_published_n--;
}


ngx_int_t
ngx_svc_published_wait(const ngx_svc_published_kind_t *kind,
    const ngx_str_t *id, ngx_svc_request_t *sr, ngx_svc_pg_pool_e pool,
    ngx_int_t (*calls)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr))
{
    ngx_http_cleanup_t        *cln;
    ngx_svc_published_t       *published;
    ngx_svc_published_wait_t  *wait;

    published = ngx_svc_published_find(kind, id);

    if (published == NULL
        || published->nwaiting == NGX_SVC_PUBLISHED_WAITING)
    {
        return NGX_DECLINED;
    }

    cln = ngx_http_cleanup_add(sr->request, sizeof(ngx_svc_published_wait_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    wait = cln->data;
    ngx_memzero(wait, sizeof(ngx_svc_published_wait_t));

    cln->handler = ngx_svc_published_gone;

    wait->sr = sr;
    wait->pool = pool;
    wait->calls = calls;
    wait->reply = reply;
    wait->nwaiting = &published->nwaiting;

    published->nwaiting++;
    ngx_queue_insert_tail(&published->waiting, &wait->queue);

    sr->request->main->count++;

    return NGX_DONE;
}


static void
ngx_svc_published_gone(void *data)
{
    ngx_svc_published_forget(data);
}


static void
ngx_svc_published_forget(ngx_svc_published_wait_t *wait)
{
    if (wait->nwaiting) {
        (*wait->nwaiting)--;
        wait->nwaiting = NULL;
        ngx_queue_remove(&wait->queue);
    }
}


static void
ngx_svc_published_over(ngx_svc_published_wait_t *wait)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = wait->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_svc_request_again(wait->sr, wait->pool,
                                                       wait->calls,
                                                       wait->reply));

    ngx_http_run_posted_requests(c);
}
