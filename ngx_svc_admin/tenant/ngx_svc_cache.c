/*
 * Public answers, in memory that the workers share.
 *
 * Changes are counted, with one counter for all tenants whose ids have the same
 * hash.  An entry notes its tenant's counter; when that has moved on the entry
 * is not valid any more.  A request notes the count of all changes before it
 * reads the database: if that has moved meanwhile it is not known what was
 * read, and the answer is not kept.
 *
 * Large bodies are sent from where they are.  A worker that does so holds the
 * entry; a held entry that is removed stays until its last holder lets go.  The
 * holds of a worker that was killed are released by the next worker that
 * starts.  Clients that read slowly, or not at all, must not fill the memory
 * with old bytes: bytes that are read again unchanged stay where they are, and
 * while too many bytes of removed entries are held nothing new is kept.
 */

#include "ngx_svc_cache_entry.h"
#include "ngx_svc_redis_pubsub.h"


#define NGX_SVC_CACHE_CHANNEL   "svc.branding"

#define NGX_SVC_CACHE_TTL       10000   /* ms */
#define NGX_SVC_CACHE_TTL_UNSUBSCRIBED  1000    /* other nodes are not heard */
#define NGX_SVC_CACHE_TTL_NONE  1000    /* answers "not found" */
#define NGX_SVC_CACHE_TTL_UNTOLD  1000  /* svcctl changes these, too */

#define NGX_SVC_CACHE_COPIED    4096    /* bytes; larger bodies are held */
#define NGX_SVC_CACHE_HOLDS     1000    /* of one entry, per worker */


typedef struct {
    ngx_svc_cache_entry_t *entry;
} ngx_svc_cache_hold_t;


static ngx_int_t ngx_svc_cache_init_zone(ngx_shm_zone_t *zone, void *data);
static ngx_uint_t ngx_svc_cache_good(ngx_svc_cache_entry_t *entry);
static ngx_int_t ngx_svc_cache_take(ngx_http_request_t *r,
    ngx_svc_cache_entry_t *entry, ngx_svc_cache_answer_t *answer);
static ngx_int_t ngx_svc_cache_hold(ngx_http_request_t *r,
    ngx_svc_cache_entry_t *entry);
static void ngx_svc_cache_release(void *data);
static void ngx_svc_cache_changed(ngx_str_t *tenant);


ngx_shm_zone_t *
ngx_svc_cache_zone(ngx_conf_t *cf, size_t size, void *tag)
{
    ngx_str_t        name = ngx_string("ngx_svc_cache");
    ngx_shm_zone_t  *zone;

    zone = ngx_shared_memory_add(cf, &name, size, tag);

    if (zone) {
        zone->init = ngx_svc_cache_init_zone;
        zone->data = tag;
    }

    return zone;
}


/* A reload keeps the zone, unless its size has changed. */

static ngx_int_t
ngx_svc_cache_init_zone(ngx_shm_zone_t *zone, void *data)
{
    ngx_uint_t               i;
    ngx_slab_pool_t         *pool;
    ngx_svc_cache_shared_t  *shared;

    pool = (ngx_slab_pool_t *) zone->shm.addr;

    if (data || zone->shm.exists) {
        return NGX_OK;
    }

    shared = ngx_slab_calloc(pool, sizeof(ngx_svc_cache_shared_t));
    if (shared == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_SVC_CACHE_KINDS; i++) {
        ngx_rbtree_init(&shared->rbtree[i], &shared->sentinel,
                        ngx_str_rbtree_insert_value);
    }

    ngx_queue_init(&shared->found);
    ngx_queue_init(&shared->none);
    ngx_queue_init(&shared->removed);

    /* an answer that does not fit is not kept: nothing to log */

    pool->log_nomem = 0;
    pool->data = shared;

    return NGX_OK;
}


ngx_int_t
ngx_svc_cache_init_worker(ngx_shm_zone_t *zone)
{
    ngx_uint_t   i;
    ngx_pid_t   *workers;

    ngx_svc_cache_pool = (ngx_slab_pool_t *) zone->shm.addr;
    ngx_svc_cache = ngx_svc_cache_pool->data;
    ngx_svc_cache_worker = NGX_SVC_CACHE_WORKERS;

    workers = ngx_svc_cache->workers;

    ngx_shmtx_lock(&ngx_svc_cache_pool->mutex);

    for (i = 0; i < NGX_SVC_CACHE_WORKERS; i++) {

        if (workers[i] && kill(workers[i], 0) == -1 && ngx_errno == NGX_ESRCH)
        {
            ngx_svc_cache_forget(i);
        }

        if (workers[i] == 0 && ngx_svc_cache_worker == NGX_SVC_CACHE_WORKERS) {
            workers[i] = ngx_pid;
            ngx_svc_cache_worker = i;
        }
    }

    ngx_shmtx_unlock(&ngx_svc_cache_pool->mutex);

    return ngx_svc_redis_subscribe(NGX_SVC_CACHE_CHANNEL,
                                   ngx_svc_cache_changed);
}


void
ngx_svc_cache_exit_worker(void)
{
    if (ngx_svc_cache_pool == NULL
        || ngx_svc_cache_worker == NGX_SVC_CACHE_WORKERS)
    {
        return;
    }

    ngx_shmtx_lock(&ngx_svc_cache_pool->mutex);

    ngx_svc_cache_forget(ngx_svc_cache_worker);

    ngx_shmtx_unlock(&ngx_svc_cache_pool->mutex);

    ngx_svc_cache_worker = NGX_SVC_CACHE_WORKERS;
}


ngx_int_t
ngx_svc_cache_get(ngx_http_request_t *r, ngx_svc_cache_kind_e kind,
    ngx_str_t *name, ngx_svc_cache_answer_t *answer, uint64_t *ticket)
{
    ngx_int_t               rc;
    ngx_svc_cache_entry_t  *entry;

    if (ngx_svc_cache_pool == NULL) {
        return NGX_DECLINED;
    }

    rc = NGX_DECLINED;

    ngx_shmtx_lock(&ngx_svc_cache_pool->mutex);

    *ticket = ngx_svc_cache->nchanges;

    entry = ngx_svc_cache_find(kind, name);

    if (entry && ngx_svc_cache_good(entry)) {
        rc = ngx_svc_cache_take(r, entry, answer);
    }

    ngx_shmtx_unlock(&ngx_svc_cache_pool->mutex);

    return rc;
}


static ngx_uint_t
ngx_svc_cache_good(ngx_svc_cache_entry_t *entry)
{
    ngx_msec_t  ttl;

    if (!entry->found) {
        ttl = NGX_SVC_CACHE_TTL_NONE;

    } else if (entry->kind == NGX_SVC_CACHE_OPTIONS
               || entry->kind == NGX_SVC_CACHE_JWKS)
    {
        ttl = NGX_SVC_CACHE_TTL_UNTOLD;

    } else if (ngx_svc_redis_subscribed()) {
        ttl = NGX_SVC_CACHE_TTL;

    } else {
        ttl = NGX_SVC_CACHE_TTL_UNSUBSCRIBED;
    }

    /* another worker's clock may be a little ahead of ours */

    return entry->epoch == ngx_svc_cache->epoch
           && entry->changes == ngx_svc_cache->changes[entry->counter]
           && (ngx_msec_int_t) (ngx_current_msec - entry->created)
              < (ngx_msec_int_t) ttl;
}


/* Called under the lock; the request's pool is this worker's alone. */

static ngx_int_t
ngx_svc_cache_take(ngx_http_request_t *r, ngx_svc_cache_entry_t *entry,
    ngx_svc_cache_answer_t *answer)
{
    size_t       size;
    u_char      *p;
    ngx_uint_t   hold;

    answer->found = entry->found;
    answer->age = ngx_current_msec - entry->created;

    ngx_queue_remove(&entry->queue);
    ngx_queue_insert_head(entry->found ? &ngx_svc_cache->found
                                       : &ngx_svc_cache->none, &entry->queue);

    hold = entry->body_len > NGX_SVC_CACHE_COPIED
           && ngx_svc_cache_worker < NGX_SVC_CACHE_WORKERS;

    if (hold
        && entry->holders[ngx_svc_cache_worker] == NGX_SVC_CACHE_HOLDS)
    {
        return NGX_BUSY;
    }

    size = entry->type_len + entry->etag_len + (hold ? 0 : entry->body_len);

    p = ngx_pnalloc(r->pool, size + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(p, entry->text + entry->sn.str.len, size);

    answer->content_type.data = p;
    answer->content_type.len = entry->type_len;
    answer->etag.data = p + entry->type_len;
    answer->etag.len = entry->etag_len;
    answer->body.data = answer->etag.data + entry->etag_len;
    answer->body.len = entry->body_len;

    if (!hold) {
        return NGX_OK;
    }

    answer->body.data = entry->text + entry->sn.str.len + size;

    return ngx_svc_cache_hold(r, entry);
}


static ngx_int_t
ngx_svc_cache_hold(ngx_http_request_t *r, ngx_svc_cache_entry_t *entry)
{
    ngx_pool_cleanup_t    *cln;
    ngx_svc_cache_hold_t  *h;

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_svc_cache_hold_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    h = cln->data;
    h->entry = entry;
    cln->handler = ngx_svc_cache_release;

    entry->holders[ngx_svc_cache_worker]++;

    return NGX_OK;
}


static void
ngx_svc_cache_release(void *data)
{
    ngx_svc_cache_hold_t *h = data;

    /*
     * a worker that ends lets go of its entries before its pools are destroyed
     */

    if (ngx_svc_cache_worker == NGX_SVC_CACHE_WORKERS) {
        return;
    }

    ngx_shmtx_lock(&ngx_svc_cache_pool->mutex);

    ngx_svc_cache_let_go(h->entry);

    ngx_shmtx_unlock(&ngx_svc_cache_pool->mutex);
}


void
ngx_svc_cache_put(ngx_svc_cache_kind_e kind, ngx_str_t *name,
    ngx_str_t *tenant, ngx_svc_cache_answer_t *answer, uint64_t ticket)
{
    if (ngx_svc_cache_pool == NULL) {
        return;
    }

    ngx_shmtx_lock(&ngx_svc_cache_pool->mutex);

    if (ngx_svc_cache->nchanges == ticket) {
        ngx_svc_cache_store(kind, name, tenant->data ? tenant : name, answer);
    }

    ngx_shmtx_unlock(&ngx_svc_cache_pool->mutex);
}


/* Works at once on this node, on others when they get the message. */

void
ngx_svc_cache_change(ngx_str_t *tenant)
{
    ngx_svc_cache_changed(tenant);

    ngx_svc_redis_publish(NGX_SVC_CACHE_CHANNEL, tenant);
}


/* Also called without a tenant, when messages may have been lost. */

static void
ngx_svc_cache_changed(ngx_str_t *tenant)
{
    if (ngx_svc_cache_pool == NULL) {
        return;
    }

    ngx_shmtx_lock(&ngx_svc_cache_pool->mutex);

    ngx_svc_cache->nchanges++;

    if (tenant->data == NULL
        || (tenant->len == 1 && tenant->data[0] == '*'))
    {
        ngx_svc_cache->epoch++;

    } else {
        ngx_svc_cache->changes[ngx_crc32_short(tenant->data, tenant->len)
                               % NGX_SVC_CACHE_COUNTERS]++;
    }

    ngx_shmtx_unlock(&ngx_svc_cache_pool->mutex);
}
