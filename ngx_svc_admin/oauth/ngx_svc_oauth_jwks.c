/*
 * Keys that clients publish: what fetches and stores them.
 */

#include "ngx_svc_oauth_jwks.h"
#include "ngx_svc_application_keys.h"
#include "ngx_svc_application.h"
#include "ngx_svc_fetch.h"
#include "ngx_svc_pg_task.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_OAUTH_JWKS_MOST     256         /* refreshes in a worker */
#define NGX_SVC_OAUTH_JWKS_WAITING  64          /* requests for one of them */
#define NGX_SVC_OAUTH_JWKS_TAKEN    16          /* clients in a round */
#define NGX_SVC_OAUTH_JWKS_LIMIT    262144      /* bytes of an answer */
#define NGX_SVC_OAUTH_JWKS_TIME     8000        /* ms */
#define NGX_SVC_OAUTH_JWKS_SOONEST  3600        /* s, until the next time */
#define NGX_SVC_OAUTH_JWKS_LATEST   86400


typedef struct {
    ngx_queue_t        queue;
    ngx_queue_t        waiting;         /* ngx_svc_oauth_jwks_wait_t */
    ngx_uint_t         nwaiting;
    ngx_pool_t        *pool;
    ngx_svc_pg_op_t   *op;              /* in flight, or NULL */
    ngx_svc_fetch_t    fetch;
    ngx_str_t          tenant;          /* UUID, as bytes */
    ngx_str_t          client_id;
    ngx_str_t          asked_at;        /* when it was claimed */
    ngx_str_t          keys;            /* that are stored */
    ngx_str_t          error;
} ngx_svc_oauth_jwks_t;


static ngx_svc_oauth_jwks_t *ngx_svc_oauth_jwks_find(
    const ngx_str_t *client_id);
static ngx_svc_oauth_jwks_t *ngx_svc_oauth_jwks_create(const u_char *tenant,
    const ngx_str_t *client_id);
static ngx_int_t ngx_svc_oauth_jwks_claim(ngx_svc_oauth_jwks_t *jwks);
static void ngx_svc_oauth_jwks_claimed(ngx_svc_pg_op_t *op);
static void ngx_svc_oauth_jwks_fetch(ngx_svc_oauth_jwks_t *jwks,
    const ngx_str_t *uri, const ngx_str_t *asked_at);
static void ngx_svc_oauth_jwks_fetched(ngx_svc_fetch_t *fetch);
static ngx_int_t ngx_svc_oauth_jwks_read(ngx_svc_oauth_jwks_t *jwks);
static ngx_int_t ngx_svc_oauth_jwks_status(ngx_svc_oauth_jwks_t *jwks);
static ngx_int_t ngx_svc_oauth_jwks_copy(ngx_pool_t *pool, ngx_str_t *to,
    const ngx_str_t *from);
static ngx_int_t ngx_svc_oauth_jwks_store(ngx_svc_oauth_jwks_t *jwks);
static ngx_int_t ngx_svc_oauth_jwks_store_calls(ngx_svc_oauth_jwks_t *jwks,
    ngx_svc_pg_op_t *op);
static void ngx_svc_oauth_jwks_stored(ngx_svc_pg_op_t *op);
static ngx_svc_pg_op_t *ngx_svc_oauth_jwks_op(ngx_svc_oauth_jwks_t *jwks,
    ngx_svc_pg_handler_pt handler);
static ngx_int_t ngx_svc_oauth_jwks_submit(ngx_svc_oauth_jwks_t *jwks,
    ngx_svc_pg_op_t *op);
static void ngx_svc_oauth_jwks_end(ngx_svc_oauth_jwks_t *jwks);
static void ngx_svc_oauth_jwks_remove(ngx_svc_oauth_jwks_t *jwks);
static ngx_int_t ngx_svc_oauth_jwks_take_bind(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call);
static void ngx_svc_oauth_jwks_taken(ngx_svc_pg_op_t *op);


#include "ngx_svc_oauth_jwks.sql.h"


static ngx_svc_pg_task_t  ngx_svc_oauth_jwks_take = {
    .statement = &ngx_svc_sql_oauth_jwks_take,
    .bind = ngx_svc_oauth_jwks_take_bind,
    .done = ngx_svc_oauth_jwks_taken,
    .pool = NGX_SVC_PG_SLOW,
    .period = 5000,
    .pause = 500,
    .full = NGX_SVC_OAUTH_JWKS_TAKEN,
    .failed = "keys that clients publish cannot be looked for"
};

static ngx_queue_t  ngx_svc_oauth_jwks = {      /* ngx_svc_oauth_jwks_t */
    &ngx_svc_oauth_jwks, &ngx_svc_oauth_jwks
};

static ngx_uint_t   ngx_svc_oauth_jwks_n;


void
ngx_svc_oauth_jwks_init_worker(ngx_cycle_t *cycle)
{
    ngx_svc_pg_task_init(&ngx_svc_oauth_jwks_take, cycle);
}


/* Those that wait have gone by now; what was claimed is taken again later. */

void
ngx_svc_oauth_jwks_exit_worker(void)
{
    ngx_queue_t           *q;
    ngx_svc_oauth_jwks_t  *jwks;

    ngx_svc_pg_task_exit(&ngx_svc_oauth_jwks_take);

    while (ngx_svc_oauth_jwks_n) {
        q = ngx_queue_head(&ngx_svc_oauth_jwks);
        jwks = ngx_queue_data(q, ngx_svc_oauth_jwks_t, queue);

        ngx_svc_fetch_cancel(&jwks->fetch);

        if (jwks->op) {
            ngx_svc_pg_cancel(jwks->op);
        }

        ngx_svc_oauth_jwks_remove(jwks);
        ngx_destroy_pool(jwks->pool);
    }
}


ngx_int_t
ngx_svc_oauth_jwks_refresh(const u_char *tenant, const ngx_str_t *client_id)
{
    ngx_svc_oauth_jwks_t  *jwks;

    if (ngx_svc_oauth_jwks_find(client_id)) {
        return NGX_OK;
    }

    if (!ngx_svc_fetch_ready()
        || ngx_svc_oauth_jwks_n == NGX_SVC_OAUTH_JWKS_MOST)
    {
        return NGX_DECLINED;
    }

    jwks = ngx_svc_oauth_jwks_create(tenant, client_id);
    if (jwks == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_oauth_jwks_claim(jwks) != NGX_OK) {
        ngx_svc_oauth_jwks_end(jwks);
        return NGX_DECLINED;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_jwks_wait(const ngx_str_t *client_id,
    ngx_svc_oauth_jwks_wait_t *wait)
{
    ngx_svc_oauth_jwks_t  *jwks;

    jwks = ngx_svc_oauth_jwks_find(client_id);

    if (jwks == NULL || jwks->nwaiting == NGX_SVC_OAUTH_JWKS_WAITING) {
        return NGX_DECLINED;
    }

    jwks->nwaiting++;
    wait->nwaiting = &jwks->nwaiting;
    ngx_queue_insert_tail(&jwks->waiting, &wait->queue);

    return NGX_OK;
}


void
ngx_svc_oauth_jwks_forget(ngx_svc_oauth_jwks_wait_t *wait)
{
    if (wait->nwaiting) {
        (*wait->nwaiting)--;
        wait->nwaiting = NULL;
        ngx_queue_remove(&wait->queue);
    }
}


void
ngx_svc_oauth_jwks_committed(const ngx_svc_pg_results_t *results,
    const ngx_str_t *client_id)
{
    u_char     id[NGX_SVC_UUID_LEN];
    ngx_str_t  tenant;

    ngx_svc_request_committed(results);

    if (client_id->data == NULL
        || ngx_svc_committed_tenant(results, &tenant) != NGX_OK
        || ngx_svc_uuid_parse(tenant.data, tenant.len, id) != NGX_OK)
    {
        return;
    }

    (void) ngx_svc_oauth_jwks_refresh(id, client_id);
}


static ngx_svc_oauth_jwks_t *
ngx_svc_oauth_jwks_find(const ngx_str_t *client_id)
{
    ngx_queue_t           *q;
    ngx_svc_oauth_jwks_t  *jwks;

    for (q = ngx_queue_head(&ngx_svc_oauth_jwks);
         q != &ngx_svc_oauth_jwks;
         q = ngx_queue_next(q))
    {
        jwks = ngx_queue_data(q, ngx_svc_oauth_jwks_t, queue);

        if (ngx_svc_same(&jwks->client_id, client_id)) {
            return jwks;
        }
    }

    return NULL;
}


static ngx_svc_oauth_jwks_t *
ngx_svc_oauth_jwks_create(const u_char *tenant, const ngx_str_t *client_id)
{
    ngx_str_t              id;
    ngx_pool_t            *pool;
    ngx_svc_oauth_jwks_t  *jwks;

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    id.data = (u_char *) tenant;
    id.len = NGX_SVC_UUID_LEN;

    jwks = ngx_pcalloc(pool, sizeof(ngx_svc_oauth_jwks_t));

    if (jwks == NULL
        || ngx_svc_oauth_jwks_copy(pool, &jwks->tenant, &id) != NGX_OK
        || ngx_svc_oauth_jwks_copy(pool, &jwks->client_id, client_id)
           != NGX_OK)
    {
        ngx_destroy_pool(pool);
        return NULL;
    }

    jwks->pool = pool;
    ngx_queue_init(&jwks->waiting);

    ngx_svc_oauth_jwks_n++;
    ngx_queue_insert_tail(&ngx_svc_oauth_jwks, &jwks->queue);

    return jwks;
}


static ngx_int_t
ngx_svc_oauth_jwks_copy(ngx_pool_t *pool, ngx_str_t *to, const ngx_str_t *from)
{
    *to = *from;
    to->data = ngx_pstrdup(pool, (ngx_str_t *) from);

    return to->data ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_oauth_jwks_claim(ngx_svc_oauth_jwks_t *jwks)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_oauth_jwks_op(jwks, ngx_svc_oauth_jwks_claimed);
    call = op ? ngx_svc_pg_call(op, &ngx_svc_sql_oauth_jwks_claim) : NULL;

    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &jwks->client_id);

    return ngx_svc_oauth_jwks_submit(jwks, op);
}


/* An op for a statement of the client's tenant, in its turn. */

static ngx_svc_pg_op_t *
ngx_svc_oauth_jwks_op(ngx_svc_oauth_jwks_t *jwks,
    ngx_svc_pg_handler_pt handler)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_pg_op_create(jwks->pool, NGX_SVC_PG_WRITE, handler, jwks);
    call = op ? ngx_svc_pg_call(op, &ngx_svc_sql_oauth_jwks_tenant) : NULL;

    if (call == NULL) {
        return NULL;
    }

    op->tenant = jwks->tenant.data;
    ngx_svc_pg_bind_str(call, &jwks->tenant);

    return op;
}


static ngx_int_t
ngx_svc_oauth_jwks_submit(ngx_svc_oauth_jwks_t *jwks, ngx_svc_pg_op_t *op)
{
    if (ngx_svc_pg_submit(op) != NGX_OK) {
        return NGX_ERROR;
    }

    jwks->op = op;

    return NGX_OK;
}


static void
ngx_svc_oauth_jwks_claimed(ngx_svc_pg_op_t *op)
{
    PGresult                        *res;
    ngx_svc_oauth_jwks_t            *jwks;
    ngx_svc_row_oauth_jwks_claim_t   row;

    jwks = op->data;
    jwks->op = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, "keys that a client publishes cannot be "
                             "fetched");
        ngx_svc_oauth_jwks_end(jwks);
        return;
    }

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_oauth_jwks_claim);
    ngx_svc_row_oauth_jwks_claim(&row, res, 0);

    if (PQntuples(res) == 0) {

        /* another worker has just asked, or there is no URI any more */

        ngx_svc_oauth_jwks_end(jwks);
        return;
    }

    ngx_svc_oauth_jwks_fetch(jwks, &row.jwks_uri, &row.asked_at);
}


static void
ngx_svc_oauth_jwks_fetch(ngx_svc_oauth_jwks_t *jwks, const ngx_str_t *uri,
    const ngx_str_t *asked_at)
{
    ngx_svc_fetch_t  *fetch;

    fetch = &jwks->fetch;
    fetch->tenant.data = ngx_pnalloc(jwks->pool, NGX_SVC_UUID_TEXT_LEN);

    if (fetch->tenant.data == NULL
        || ngx_svc_oauth_jwks_copy(jwks->pool, &fetch->url, uri) != NGX_OK
        || ngx_svc_oauth_jwks_copy(jwks->pool, &jwks->asked_at, asked_at)
           != NGX_OK)
    {
        ngx_svc_oauth_jwks_end(jwks);
        return;
    }

    fetch->tenant.len = ngx_svc_uuid_text(fetch->tenant.data,
                                          jwks->tenant.data)
                        - fetch->tenant.data;
    fetch->pool = jwks->pool;
    fetch->limit = NGX_SVC_OAUTH_JWKS_LIMIT;
    fetch->timeout = NGX_SVC_OAUTH_JWKS_TIME;
    fetch->handler = ngx_svc_oauth_jwks_fetched;
    fetch->data = jwks;

    ngx_str_set(&fetch->headers[0],
                "Accept: application/jwk-set+json, application/json");
    fetch->nheaders = 1;

    if (ngx_svc_fetch(fetch) != NGX_OK) {
        ngx_svc_oauth_jwks_fetched(fetch);
    }
}


/* What was not asked for is no failure of the client's server. */

static void
ngx_svc_oauth_jwks_fetched(ngx_svc_fetch_t *fetch)
{
    ngx_svc_oauth_jwks_t  *jwks;

    jwks = fetch->data;

    if (fetch->outcome == NGX_SVC_FETCH_UNAVAILABLE
        || ngx_svc_oauth_jwks_read(jwks) == NGX_ERROR
        || ngx_svc_oauth_jwks_store(jwks) != NGX_OK)
    {
        ngx_svc_oauth_jwks_end(jwks);
    }
}


/* Sets the keys or the error.  Returns NGX_ERROR when memory runs out. */

static ngx_int_t
ngx_svc_oauth_jwks_read(ngx_svc_oauth_jwks_t *jwks)
{
    ngx_int_t         rc;
    const char       *why;
    ngx_svc_fetch_t  *fetch;

    fetch = &jwks->fetch;

    if (fetch->outcome != NGX_SVC_FETCH_ANSWERED) {
        jwks->error = fetch->why;
        return NGX_OK;
    }

    if (fetch->status != NGX_HTTP_OK) {
        return ngx_svc_oauth_jwks_status(jwks);
    }

    rc = ngx_svc_application_keys_keep(jwks->pool, &fetch->answer,
                                       &jwks->keys, &why);

    if (rc == NGX_DECLINED) {
        ngx_str_null(&jwks->keys);
        jwks->error.data = (u_char *) why;
        jwks->error.len = ngx_strlen(why);
        return NGX_OK;
    }

    return rc;
}


static ngx_int_t
ngx_svc_oauth_jwks_status(ngx_svc_oauth_jwks_t *jwks)
{
    u_char  *p;

    static const char  status[] = "the answer was ";

    p = ngx_pnalloc(jwks->pool, sizeof(status) + NGX_INT_T_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    jwks->error.data = p;
    jwks->error.len = ngx_sprintf(p, "%s%ui", status, jwks->fetch.status) - p;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_jwks_store(ngx_svc_oauth_jwks_t *jwks)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_oauth_jwks_op(jwks, ngx_svc_oauth_jwks_stored);

    return op && ngx_svc_oauth_jwks_store_calls(jwks, op) == NGX_OK
           ? ngx_svc_oauth_jwks_submit(jwks, op) : NGX_ERROR;
}


static ngx_int_t
ngx_svc_oauth_jwks_store_calls(ngx_svc_oauth_jwks_t *jwks, ngx_svc_pg_op_t *op)
{
    time_t              age;
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_pg_call(op, &ngx_svc_sql_admin_application_lock);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &jwks->client_id);

    call = ngx_svc_pg_call(op, jwks->keys.data
                               ? &ngx_svc_sql_oauth_jwks_store
                               : &ngx_svc_sql_oauth_jwks_failed);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &jwks->client_id);
    ngx_svc_pg_bind_str(call, &jwks->asked_at);

    if (jwks->keys.data == NULL) {
        ngx_svc_pg_bind_str(call, &jwks->error);
        return NGX_OK;
    }

    ngx_svc_pg_bind_str(call, &jwks->keys);

    age = ngx_max(jwks->fetch.max_age, NGX_SVC_OAUTH_JWKS_SOONEST);

    return ngx_svc_pg_bind_int(op, call,
                               ngx_min(age, NGX_SVC_OAUTH_JWKS_LATEST));
}


static void
ngx_svc_oauth_jwks_stored(ngx_svc_pg_op_t *op)
{
    ngx_svc_oauth_jwks_t  *jwks;

    jwks = op->data;
    jwks->op = NULL;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, "keys that a client publishes cannot be "
                             "stored");
    }

    ngx_svc_oauth_jwks_end(jwks);
}


/* A handler may begin another refresh. */

static void
ngx_svc_oauth_jwks_end(ngx_svc_oauth_jwks_t *jwks)
{
    ngx_queue_t                *q;
    ngx_svc_oauth_jwks_wait_t  *wait;

    ngx_svc_oauth_jwks_remove(jwks);

    while (!ngx_queue_empty(&jwks->waiting)) {
        q = ngx_queue_head(&jwks->waiting);
        wait = ngx_queue_data(q, ngx_svc_oauth_jwks_wait_t, queue);

        ngx_svc_oauth_jwks_forget(wait);
        wait->handler(wait->data);
    }

    ngx_destroy_pool(jwks->pool);
}


static void
ngx_svc_oauth_jwks_remove(ngx_svc_oauth_jwks_t *jwks)
{
    ngx_queue_remove(&jwks->queue);
    ngx_svc_oauth_jwks_n--;
}


/* A node that cannot fetch leaves them to others. */

static ngx_int_t
ngx_svc_oauth_jwks_take_bind(ngx_svc_pg_op_t *op, ngx_svc_pg_call_t *call)
{
    return ngx_svc_fetch_ready() ? NGX_OK : NGX_ERROR;
}


static void
ngx_svc_oauth_jwks_taken(ngx_svc_pg_op_t *op)
{
    int                             i;
    u_char                          tenant[NGX_SVC_UUID_LEN];
    PGresult                       *res;
    ngx_svc_oauth_jwks_t           *jwks;
    ngx_svc_row_oauth_jwks_take_t   row;

    res = ngx_svc_pg_op_result(op, &ngx_svc_sql_oauth_jwks_take);

    for (i = 0; i < PQntuples(res); i++) {
        ngx_svc_row_oauth_jwks_take(&row, res, i);

        if (ngx_svc_oauth_jwks_n == NGX_SVC_OAUTH_JWKS_MOST
            || ngx_svc_oauth_jwks_find(&row.client_id)
            || ngx_svc_uuid_parse(row.tenant.data, row.tenant.len, tenant)
               != NGX_OK)
        {
            continue;
        }

        jwks = ngx_svc_oauth_jwks_create(tenant, &row.client_id);

        if (jwks) {
            ngx_svc_oauth_jwks_fetch(jwks, &row.jwks_uri, &row.asked_at);
        }
    }
}
