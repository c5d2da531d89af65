/*
 * Public answers, in memory that the workers share.
 *
 * Changes are counted, one counter for all tenants whose ids have the same
 * hash.  An entry notes its tenant's counter; when that has moved on, the entry
 * is as good as gone.  Who reads the database notes the count of all changes
 * before: if it has moved meanwhile, nobody knows what was read, and it is not
 * kept.
 *
 * Large bodies are sent from where they are.  A worker that does so holds the
 * entry; a held entry that is to go stays until the last holder lets go.  What
 * a worker that was killed held, the next worker to start lets go.  Who reads
 * slowly, or not at all, must not fill the memory with old bytes: the same
 * bytes that are read again stay where they are, and while too many are only
 * held nothing new is kept.
 */

#include "ngx_svc_cache.h"


#define NGX_SVC_CACHE_CHANNEL   "svc.branding"

#define NGX_SVC_CACHE_TTL       10000   /* ms */
#define NGX_SVC_CACHE_TTL_UNSUBSCRIBED  1000    /* other nodes are not heard */
#define NGX_SVC_CACHE_TTL_NONE  1000    /* of what was not found */

#define NGX_SVC_CACHE_COPIED    4096    /* bytes; larger bodies are held */
#define NGX_SVC_CACHE_NONE_MAX  4096    /* entries of what was not found */
#define NGX_SVC_CACHE_COUNTERS  1024
#define NGX_SVC_CACHE_WORKERS   64      /* that can hold entries */
#define NGX_SVC_CACHE_HOLDS     1000    /* of one entry, in one worker */
#define NGX_SVC_CACHE_EVICT     64      /* entries, for the room of one */


typedef struct {
    ngx_str_node_t         sn;          /* the name, in text */
    ngx_queue_t            queue;       /* by use; or among the removed ones */
    ngx_msec_t             created;
    uint64_t               epoch;
    uint32_t               changes;     /* the counter's value */
    uint16_t               counter;
    uint32_t               holders[NGX_SVC_CACHE_WORKERS];
    uint8_t                kind;
    uint8_t                found;
    uint8_t                removed;
    uint8_t                type_len;
    uint8_t                etag_len;
    uint32_t               body_len;
    u_char                 text[];      /* name, type, etag, body */
} ngx_svc_cache_entry_t;


typedef struct {
    ngx_rbtree_t           rbtree[NGX_SVC_CACHE_KINDS];
    ngx_rbtree_node_t      sentinel;
    ngx_queue_t            found;       /* the last used first */
    ngx_queue_t            none;        /* what was not found */
    ngx_queue_t            removed;     /* and held */
    ngx_uint_t             nnone;
    size_t                 pinned;      /* bytes of the removed ones */
    uint64_t               epoch;       /* all older entries are gone */
    uint64_t               nchanges;    /* of all tenants */
    uint32_t               changes[NGX_SVC_CACHE_COUNTERS];
    ngx_pid_t              workers[NGX_SVC_CACHE_WORKERS];
} ngx_svc_cache_shared_t;


typedef struct {
    ngx_svc_cache_entry_t *entry;
} ngx_svc_cache_hold_t;


static ngx_int_t ngx_svc_cache_init_zone(ngx_shm_zone_t *zone, void *data);
static ngx_svc_cache_entry_t *ngx_svc_cache_find(ngx_svc_cache_kind_e kind,
    ngx_str_t *name);
static ngx_uint_t ngx_svc_cache_good(ngx_svc_cache_entry_t *entry);
static ngx_int_t ngx_svc_cache_take(ngx_http_request_t *r,
    ngx_svc_cache_entry_t *entry, ngx_svc_cache_answer_t *answer);
static void ngx_svc_cache_release(void *data);
static ngx_svc_cache_entry_t *ngx_svc_cache_make(ngx_svc_cache_kind_e kind,
    const ngx_str_t *name, const ngx_str_t *owner,
    const ngx_svc_cache_answer_t *answer);
static ngx_svc_cache_entry_t *ngx_svc_cache_alloc(size_t size);
static ngx_uint_t ngx_svc_cache_renew(ngx_svc_cache_entry_t *entry,
    ngx_svc_cache_answer_t *answer);
static size_t ngx_svc_cache_size(ngx_svc_cache_entry_t *entry);
static size_t ngx_svc_cache_remove(ngx_svc_cache_entry_t *entry);
static void ngx_svc_cache_free(ngx_svc_cache_entry_t *entry);
static ngx_uint_t ngx_svc_cache_held(ngx_svc_cache_entry_t *entry);
static void ngx_svc_cache_forget(ngx_uint_t worker);
static void ngx_svc_cache_forget_in(ngx_queue_t *queue, ngx_uint_t worker);
static void ngx_svc_cache_changed(ngx_str_t *tenant);


static ngx_slab_pool_t         *ngx_svc_cache_pool;     /* NULL: no cache */
static ngx_svc_cache_shared_t  *ngx_svc_cache;
static ngx_uint_t               ngx_svc_cache_worker;   /* who holds */


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


/* On a reload the zone is the same one, as long as its size is. */

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

    /* what does not fit is not kept: no reason to speak */

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


/* Under the lock: the request's pool is this worker's alone. */

static ngx_int_t
ngx_svc_cache_take(ngx_http_request_t *r, ngx_svc_cache_entry_t *entry,
    ngx_svc_cache_answer_t *answer)
{
    size_t                 size;
    u_char                *p;
    ngx_uint_t             hold;
    ngx_pool_cleanup_t    *cln;
    ngx_svc_cache_hold_t  *h;

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

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_svc_cache_hold_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    h = cln->data;
    h->entry = entry;
    cln->handler = ngx_svc_cache_release;

    entry->holders[ngx_svc_cache_worker]++;

    answer->body.data = entry->text + entry->sn.str.len + size;

    return NGX_OK;
}


static void
ngx_svc_cache_release(void *data)
{
    ngx_svc_cache_hold_t *h = data;

    ngx_svc_cache_entry_t  *entry;

    entry = h->entry;

    /* at a worker's end all that it holds is let go before its pools are */

    if (ngx_svc_cache_worker == NGX_SVC_CACHE_WORKERS) {
        return;
    }

    ngx_shmtx_lock(&ngx_svc_cache_pool->mutex);

    entry->holders[ngx_svc_cache_worker]--;

    if (entry->removed && !ngx_svc_cache_held(entry)) {
        ngx_svc_cache_free(entry);
    }

    ngx_shmtx_unlock(&ngx_svc_cache_pool->mutex);
}


void
ngx_svc_cache_put(ngx_svc_cache_kind_e kind, ngx_str_t *name,
    ngx_str_t *tenant, ngx_svc_cache_answer_t *answer, uint64_t ticket)
{
    ngx_str_t              *owner;
    ngx_svc_cache_entry_t  *entry;

    if (ngx_svc_cache_pool == NULL) {
        return;
    }

    owner = tenant->data ? tenant : name;

    ngx_shmtx_lock(&ngx_svc_cache_pool->mutex);

    if (ngx_svc_cache->nchanges != ticket) {
        goto done;
    }

    entry = ngx_svc_cache_find(kind, name);

    if (entry) {
        if (ngx_svc_cache_renew(entry, answer)) {
            goto done;
        }

        (void) ngx_svc_cache_remove(entry);
    }

    if (ngx_svc_cache->pinned
        > (size_t) (ngx_svc_cache_pool->end - ngx_svc_cache_pool->start) / 4)
    {
        goto done;
    }

    if (!answer->found && ngx_svc_cache->nnone == NGX_SVC_CACHE_NONE_MAX) {
        (void) ngx_svc_cache_remove(ngx_queue_data(
                                        ngx_queue_last(&ngx_svc_cache->none),
                                        ngx_svc_cache_entry_t, queue));
    }

    entry = ngx_svc_cache_make(kind, name, owner, answer);
    if (entry == NULL) {
        goto done;
    }

    ngx_rbtree_insert(&ngx_svc_cache->rbtree[kind], &entry->sn.node);

    if (entry->found) {
        ngx_queue_insert_head(&ngx_svc_cache->found, &entry->queue);

    } else {
        ngx_queue_insert_head(&ngx_svc_cache->none, &entry->queue);
        ngx_svc_cache->nnone++;
    }

done:

    ngx_shmtx_unlock(&ngx_svc_cache_pool->mutex);
}


/* owner: whose changes make it stale. */

static ngx_svc_cache_entry_t *
ngx_svc_cache_make(ngx_svc_cache_kind_e kind, const ngx_str_t *name,
    const ngx_str_t *owner, const ngx_svc_cache_answer_t *answer)
{
    u_char                 *p;
    ngx_svc_cache_entry_t  *entry;

    entry = ngx_svc_cache_alloc(sizeof(ngx_svc_cache_entry_t) + name->len
                                + answer->content_type.len + answer->etag.len
                                + answer->body.len);
    if (entry == NULL) {
        return NULL;
    }

    entry->sn.node.key = ngx_crc32_short(name->data, name->len);
    entry->sn.str.data = entry->text;
    entry->sn.str.len = name->len;
    entry->created = ngx_current_msec;
    entry->epoch = ngx_svc_cache->epoch;
    entry->counter = ngx_crc32_short(owner->data, owner->len)
                     % NGX_SVC_CACHE_COUNTERS;
    entry->changes = ngx_svc_cache->changes[entry->counter];
    entry->kind = kind;
    entry->found = answer->found;
    entry->type_len = (uint8_t) answer->content_type.len;
    entry->etag_len = (uint8_t) answer->etag.len;
    entry->body_len = (uint32_t) answer->body.len;

    p = ngx_cpymem(entry->text, name->data, name->len);
    p = ngx_cpymem(p, answer->content_type.data, answer->content_type.len);
    p = ngx_cpymem(p, answer->etag.data, answer->etag.len);
    ngx_memcpy(p, answer->body.data, answer->body.len);

    return entry;
}


/* The same bytes, read again: 1 if they are. */

static ngx_uint_t
ngx_svc_cache_renew(ngx_svc_cache_entry_t *entry,
    ngx_svc_cache_answer_t *answer)
{
    u_char  *etag;

    etag = entry->text + entry->sn.str.len + entry->type_len;

    if (!entry->found || !answer->found
        || entry->body_len != answer->body.len
        || entry->etag_len != answer->etag.len
        || ngx_memcmp(etag, answer->etag.data, entry->etag_len) != 0)
    {
        return 0;
    }

    entry->created = ngx_current_msec;
    entry->epoch = ngx_svc_cache->epoch;
    entry->changes = ngx_svc_cache->changes[entry->counter];

    return 1;
}


/*
 * Zeroed but for its text.  Of the entries that nobody has asked for longest
 * some may go, but not many more than what is to come takes: where it finds no
 * room among them it finds none.
 */

static ngx_svc_cache_entry_t *
ngx_svc_cache_alloc(size_t size)
{
    size_t                  freed;
    ngx_uint_t              i;
    ngx_queue_t            *queue;
    ngx_svc_cache_entry_t  *entry;

    freed = 0;

    for (i = 0; i <= NGX_SVC_CACHE_EVICT; i++) {

        entry = ngx_slab_alloc_locked(ngx_svc_cache_pool, size);
        if (entry) {
            ngx_memzero(entry, sizeof(ngx_svc_cache_entry_t));
            return entry;
        }

        queue = ngx_queue_empty(&ngx_svc_cache->none) ? &ngx_svc_cache->found
                                                      : &ngx_svc_cache->none;

        if (ngx_queue_empty(queue) || freed > 4 * size) {
            return NULL;
        }

        freed += ngx_svc_cache_remove(ngx_queue_data(ngx_queue_last(queue),
                                                     ngx_svc_cache_entry_t,
                                                     queue));
    }

    return NULL;
}


static size_t
ngx_svc_cache_size(ngx_svc_cache_entry_t *entry)
{
    return sizeof(ngx_svc_cache_entry_t) + entry->sn.str.len + entry->type_len
           + entry->etag_len + entry->body_len;
}


/* Returns how many bytes are free now. */

static size_t
ngx_svc_cache_remove(ngx_svc_cache_entry_t *entry)
{
    size_t  size;

    size = ngx_svc_cache_size(entry);

    ngx_rbtree_delete(&ngx_svc_cache->rbtree[entry->kind], &entry->sn.node);
    ngx_queue_remove(&entry->queue);

    if (!entry->found) {
        ngx_svc_cache->nnone--;
    }

    ngx_queue_insert_head(&ngx_svc_cache->removed, &entry->queue);
    ngx_svc_cache->pinned += size;
    entry->removed = 1;

    if (ngx_svc_cache_held(entry)) {
        return 0;
    }

    ngx_svc_cache_free(entry);

    return size;
}


static void
ngx_svc_cache_free(ngx_svc_cache_entry_t *entry)
{
    ngx_queue_remove(&entry->queue);
    ngx_svc_cache->pinned -= ngx_svc_cache_size(entry);

    ngx_slab_free_locked(ngx_svc_cache_pool, entry);
}


static ngx_uint_t
ngx_svc_cache_held(ngx_svc_cache_entry_t *entry)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_CACHE_WORKERS; i++) {
        if (entry->holders[i]) {
            return 1;
        }
    }

    return 0;
}


static void
ngx_svc_cache_forget(ngx_uint_t worker)
{
    ngx_svc_cache_forget_in(&ngx_svc_cache->found, worker);
    ngx_svc_cache_forget_in(&ngx_svc_cache->removed, worker);

    ngx_svc_cache->workers[worker] = 0;
}


static void
ngx_svc_cache_forget_in(ngx_queue_t *queue, ngx_uint_t worker)
{
    ngx_queue_t            *q, *next;
    ngx_svc_cache_entry_t  *entry;

    for (q = ngx_queue_head(queue); q != ngx_queue_sentinel(queue); q = next) {

        next = ngx_queue_next(q);
        entry = ngx_queue_data(q, ngx_svc_cache_entry_t, queue);

        entry->holders[worker] = 0;

        if (entry->removed && !ngx_svc_cache_held(entry)) {
            ngx_svc_cache_free(entry);
        }
    }
}


/* At once here, and on the other nodes as soon as they hear of it. */

void
ngx_svc_cache_change(ngx_str_t *tenant)
{
    ngx_svc_cache_changed(tenant);

    ngx_svc_redis_publish(NGX_SVC_CACHE_CHANNEL, tenant);
}


/* Also what is told when messages may have been lost: without a tenant. */

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


static ngx_svc_cache_entry_t *
ngx_svc_cache_find(ngx_svc_cache_kind_e kind, ngx_str_t *name)
{
    ngx_str_node_t  *sn;

    sn = ngx_str_rbtree_lookup(&ngx_svc_cache->rbtree[kind], name,
                               ngx_crc32_short(name->data, name->len));

    return sn ? ngx_queue_data(sn, ngx_svc_cache_entry_t, sn) : NULL;
}
