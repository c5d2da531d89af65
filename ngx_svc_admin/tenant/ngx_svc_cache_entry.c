/*
 * Entries of the cache of public answers.
 */

#include "ngx_svc_cache_entry.h"


#define NGX_SVC_CACHE_NONE_MAX  4096    /* entries "not found" */
#define NGX_SVC_CACHE_EVICT     64      /* entries removed for a new one */


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
static void ngx_svc_cache_forget_in(ngx_queue_t *queue, ngx_uint_t worker);


ngx_slab_pool_t         *ngx_svc_cache_pool;
ngx_svc_cache_shared_t  *ngx_svc_cache;
ngx_uint_t               ngx_svc_cache_worker;


ngx_svc_cache_entry_t *
ngx_svc_cache_find(ngx_svc_cache_kind_e kind, ngx_str_t *name)
{
    ngx_str_node_t  *sn;

    sn = ngx_str_rbtree_lookup(&ngx_svc_cache->rbtree[kind], name,
                               ngx_murmur_hash2(name->data, name->len));

    return sn ? ngx_queue_data(sn, ngx_svc_cache_entry_t, sn) : NULL;
}


void
ngx_svc_cache_store(ngx_svc_cache_kind_e kind, ngx_str_t *name,
    ngx_str_t *owner, ngx_svc_cache_answer_t *answer)
{
    ngx_svc_cache_entry_t  *entry;

    entry = ngx_svc_cache_find(kind, name);

    if (entry) {
        if (ngx_svc_cache_renew(entry, answer)) {
            return;
        }

        (void) ngx_svc_cache_remove(entry);
    }

    if (ngx_svc_cache->pinned
        > (size_t) (ngx_svc_cache_pool->end - ngx_svc_cache_pool->start) / 4)
    {
        return;
    }

    if (!answer->found && ngx_svc_cache->nnone == NGX_SVC_CACHE_NONE_MAX) {
        (void) ngx_svc_cache_remove(ngx_queue_data(
                                        ngx_queue_last(&ngx_svc_cache->none),
                                        ngx_svc_cache_entry_t, queue));
    }

    entry = ngx_svc_cache_make(kind, name, owner, answer);
    if (entry == NULL) {
        return;
    }

    ngx_rbtree_insert(&ngx_svc_cache->rbtree[kind], &entry->sn.node);

    if (entry->found) {
        ngx_queue_insert_head(&ngx_svc_cache->found, &entry->queue);

    } else {
        ngx_queue_insert_head(&ngx_svc_cache->none, &entry->queue);
        ngx_svc_cache->nnone++;
    }
}


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

    entry->sn.node.key = ngx_murmur_hash2(name->data, name->len);
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


/* Returns 1 when the same bytes have been read again: the entry stays. */

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
 * Allocates an entry; all but its text is zeroed.  It may remove the entries
 * that have not been used for longest, but not many more bytes than the new one
 * takes: if that makes no room there is none.
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


/* Returns how many bytes have become free. */

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


void
ngx_svc_cache_let_go(ngx_svc_cache_entry_t *entry)
{
    entry->holders[ngx_svc_cache_worker]--;

    if (entry->removed && !ngx_svc_cache_held(entry)) {
        ngx_svc_cache_free(entry);
    }
}


void
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
