/*
 * The backlogs of tenants that wait for connections or have some, and their
 * share of the connections.
 */

#include "ngx_svc_pg_backlog.h"


static ngx_uint_t ngx_svc_pg_backlog_share(ngx_svc_pg_backlog_t *backlog);


void
ngx_svc_pg_backlog_init(ngx_svc_pg_pool_t *pool, ngx_svc_pg_backlog_t *backlog)
{
    ngx_memzero(backlog, sizeof(ngx_svc_pg_backlog_t));

    backlog->pool = pool;
    ngx_queue_init(&backlog->waiting);
}


ngx_svc_pg_backlog_t *
ngx_svc_pg_backlog_get(ngx_svc_pg_pool_t *pool, const u_char *tenant)
{
    ngx_queue_t           *q, *bucket;
    ngx_svc_pg_backlog_t  *backlog;

    if (tenant == NULL || pool->kind == NGX_SVC_PG_READ) {
        return &pool->own;
    }

    /* the last bits of a UUID are random */

    bucket = &pool->buckets[tenant[NGX_SVC_UUID_LEN - 1]
                            & (NGX_SVC_PG_BUCKETS - 1)];

    for (q = ngx_queue_head(bucket);
         q != ngx_queue_sentinel(bucket);
         q = ngx_queue_next(q))
    {
        backlog = ngx_queue_data(q, ngx_svc_pg_backlog_t, link);

        if (ngx_memcmp(backlog->tenant, tenant, NGX_SVC_UUID_LEN) == 0) {
            return backlog;
        }
    }

    /* the memory is bounded: each has a connection or a place in the queue */

    if (ngx_queue_empty(&pool->free_backlogs)) {
        backlog = ngx_palloc(pool->memory, sizeof(ngx_svc_pg_backlog_t));
        if (backlog == NULL) {
            return NULL;
        }

    } else {
        q = ngx_queue_head(&pool->free_backlogs);
        ngx_queue_remove(q);
        backlog = ngx_queue_data(q, ngx_svc_pg_backlog_t, turn);
    }

    ngx_svc_pg_backlog_init(pool, backlog);
    ngx_memcpy(backlog->tenant, tenant, NGX_SVC_UUID_LEN);
    ngx_queue_insert_head(bucket, &backlog->link);

    return backlog;
}


void
ngx_svc_pg_backlog_unused(ngx_svc_pg_backlog_t *backlog)
{
    ngx_svc_pg_pool_t  *pool;

    pool = backlog->pool;

    if (backlog == &pool->own || backlog->nwaiting || backlog->nconns) {
        return;
    }

    ngx_queue_remove(&backlog->link);
    ngx_queue_insert_head(&pool->free_backlogs, &backlog->turn);
}


/* Returns how many connections the backlog may have. */

static ngx_uint_t
ngx_svc_pg_backlog_share(ngx_svc_pg_backlog_t *backlog)
{
    ngx_svc_pg_pool_t  *pool;

    pool = backlog->pool;

    if (backlog == &pool->own) {
        return pool->nconns;
    }

    if (pool->kind == NGX_SVC_PG_WRITE && pool->nwaiting == backlog->nwaiting) {
        return ngx_max(pool->nready, 2) - 1;
    }

    return ngx_max(pool->nready / 2, 1);
}


/*
 * The backlogs that have their share are at most as many as there are
 * connections, so the search is short however many backlogs wait.
 */

ngx_svc_pg_backlog_t *
ngx_svc_pg_backlog_owed(ngx_svc_pg_pool_t *pool, ngx_svc_pg_backlog_t *but)
{
    ngx_queue_t           *q;
    ngx_svc_pg_backlog_t  *backlog;

    for (q = ngx_queue_head(&pool->turns);
         q != ngx_queue_sentinel(&pool->turns);
         q = ngx_queue_next(q))
    {
        backlog = ngx_queue_data(q, ngx_svc_pg_backlog_t, turn);

        if ((but == NULL || backlog != but)
            && backlog->nconns < ngx_svc_pg_backlog_share(backlog))
        {
            return backlog;
        }
    }

    return NULL;
}
