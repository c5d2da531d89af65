/*
 * Fixed windows in shared memory.
 *
 * An entry is in two trees: by its key, and, with the others of its order, by
 * the end of its window.  Spent entries have an order of their own, from which
 * none is removed before its end: else a client that fills the memory would
 * have all attempts once more.  The others are ordered by family: the windows
 * of a family have one length, so that the first entry of an order is the one
 * that began first.
 */

#include "ngx_svc_limit_memory.h"


#define NGX_SVC_LIMIT_SPENT   (NGX_SVC_LIMIT_LOCK + 1)
#define NGX_SVC_LIMIT_ORDERS  (NGX_SVC_LIMIT_SPENT + 1)


typedef struct {
    ngx_rbtree_node_t     node;         /* by the key's hash */
    ngx_rbtree_node_t     ending;       /* by the end, as ngx_current_msec */
    uint32_t              window;       /* ms */
    uint32_t              count;
    ngx_uint_t            order;
    ngx_svc_limit_key_t   key;
} ngx_svc_limit_entry_t;


typedef struct {
    ngx_rbtree_t          keys;
    ngx_rbtree_t          orders[NGX_SVC_LIMIT_ORDERS];
    ngx_rbtree_node_t     sentinel;
} ngx_svc_limit_shared_t;


#define ngx_svc_limit_by_node(n)                                              \
    (ngx_rbtree_data(n, ngx_svc_limit_entry_t, node))
#define ngx_svc_limit_by_ending(n)                                            \
    (ngx_rbtree_data(n, ngx_svc_limit_entry_t, ending))


static void ngx_svc_limit_insert(ngx_rbtree_node_t *root,
    ngx_rbtree_node_t *node, ngx_rbtree_node_t *sentinel);
static ngx_uint_t ngx_svc_limit_hash(const ngx_svc_limit_key_t *key);
static ngx_svc_limit_entry_t *ngx_svc_limit_find(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key);
static ngx_svc_limit_entry_t *ngx_svc_limit_create(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key, ngx_msec_t window);
static ngx_uint_t ngx_svc_limit_evict(ngx_slab_pool_t *pool);
static ngx_svc_limit_entry_t *ngx_svc_limit_first(
    ngx_svc_limit_shared_t *shared, ngx_uint_t order);
static void ngx_svc_limit_order(ngx_svc_limit_shared_t *shared,
    ngx_svc_limit_entry_t *entry, ngx_uint_t order);
static void ngx_svc_limit_remove(ngx_slab_pool_t *pool,
    ngx_svc_limit_entry_t *entry);
static ngx_msec_int_t ngx_svc_limit_left(ngx_svc_limit_entry_t *entry);


ngx_int_t
ngx_svc_limit_memory_init(ngx_slab_pool_t *pool)
{
    ngx_uint_t               i;
    ngx_svc_limit_shared_t  *shared;

    shared = ngx_slab_calloc(pool, sizeof(ngx_svc_limit_shared_t));
    if (shared == NULL) {
        return NGX_ERROR;
    }

    ngx_rbtree_init(&shared->keys, &shared->sentinel, ngx_svc_limit_insert);

    for (i = 0; i < NGX_SVC_LIMIT_ORDERS; i++) {
        ngx_rbtree_init(&shared->orders[i], &shared->sentinel,
                        ngx_rbtree_insert_timer_value);
    }

    /* a full pool is nothing unusual */

    pool->log_nomem = 0;
    pool->data = shared;

    return NGX_OK;
}


ngx_int_t
ngx_svc_limit_memory_hit(ngx_slab_pool_t *pool, const ngx_svc_limit_key_t *key,
    ngx_uint_t max, ngx_msec_t window, ngx_svc_limit_hit_t *hit)
{
    ngx_svc_limit_entry_t  *entry;

    ngx_shmtx_lock(&pool->mutex);

    entry = ngx_svc_limit_find(pool, key);

    if (entry == NULL) {
        entry = ngx_svc_limit_create(pool, key, window);
    }

    if (entry) {
        entry->count += (entry->count < NGX_MAX_UINT32_VALUE);

        ngx_svc_limit_order(pool->data, entry,
                            entry->count >= max ? NGX_SVC_LIMIT_SPENT
                                                : key->family);
        hit->count = entry->count;

    } else {
        entry = ngx_svc_limit_first(pool->data, NGX_SVC_LIMIT_SPENT);
        hit->count = 0;
    }

    hit->end = entry ? entry->ending.key : ngx_current_msec;
    hit->left = ngx_max((ngx_msec_int_t) (hit->end - ngx_current_msec), 1);

    ngx_shmtx_unlock(&pool->mutex);

    return hit->count ? NGX_OK : NGX_DECLINED;
}


void
ngx_svc_limit_memory_give_back(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key, ngx_uint_t max, ngx_msec_t end)
{
    ngx_svc_limit_entry_t  *entry;

    ngx_shmtx_lock(&pool->mutex);

    entry = ngx_svc_limit_find(pool, key);

    if (entry && (ngx_msec_int_t) (entry->ending.key - end) <= 0
        && entry->count)
    {
        entry->count--;

        if (entry->count < max) {
            ngx_svc_limit_order(pool->data, entry, key->family);
        }
    }

    ngx_shmtx_unlock(&pool->mutex);
}


void
ngx_svc_limit_memory_forgive(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key, ngx_uint_t max, ngx_uint_t hits)
{
    ngx_svc_limit_entry_t  *entry;

    ngx_shmtx_lock(&pool->mutex);

    entry = ngx_svc_limit_find(pool, key);

    if (entry) {
        entry->count = ngx_min(entry->count, max);
        entry->count -= ngx_min(entry->count, hits);

        if (entry->count < max) {
            ngx_svc_limit_order(pool->data, entry, key->family);
        }
    }

    ngx_shmtx_unlock(&pool->mutex);
}


void
ngx_svc_limit_memory_put(ngx_slab_pool_t *pool, const ngx_svc_limit_key_t *key,
    ngx_msec_t ms)
{
    ngx_svc_limit_entry_t  *entry;

    ngx_shmtx_lock(&pool->mutex);

    entry = ngx_svc_limit_find(pool, key);

    if (entry) {
        ngx_svc_limit_remove(pool, entry);
    }

    (void) ngx_svc_limit_create(pool, key, ms);

    ngx_shmtx_unlock(&pool->mutex);
}


ngx_msec_t
ngx_svc_limit_memory_left(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key)
{
    ngx_msec_t              left;
    ngx_svc_limit_entry_t  *entry;

    ngx_shmtx_lock(&pool->mutex);

    entry = ngx_svc_limit_find(pool, key);
    left = entry ? ngx_svc_limit_left(entry) : 0;

    ngx_shmtx_unlock(&pool->mutex);

    return left;
}


void
ngx_svc_limit_memory_remove(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key)
{
    ngx_svc_limit_entry_t  *entry;

    ngx_shmtx_lock(&pool->mutex);

    entry = ngx_svc_limit_find(pool, key);

    if (entry) {
        ngx_svc_limit_remove(pool, entry);
    }

    ngx_shmtx_unlock(&pool->mutex);
}


static void
ngx_svc_limit_insert(ngx_rbtree_node_t *root, ngx_rbtree_node_t *node,
    ngx_rbtree_node_t *sentinel)
{
    ngx_int_t            less;
    ngx_rbtree_node_t  **p;

    for ( ;; ) {
        if (node->key != root->key) {
            less = (node->key < root->key);

        } else {
            less = ngx_memcmp(&ngx_svc_limit_by_node(node)->key,
                              &ngx_svc_limit_by_node(root)->key,
                              sizeof(ngx_svc_limit_key_t))
                   < 0;
        }

        p = less ? &root->left : &root->right;

        if (*p == sentinel) {
            break;
        }

        root = *p;
    }

    *p = node;
    node->parent = root;
    node->left = sentinel;
    node->right = sentinel;
    ngx_rbt_red(node);
}


static ngx_uint_t
ngx_svc_limit_hash(const ngx_svc_limit_key_t *key)
{
    return ngx_murmur_hash2((u_char *) key, sizeof(ngx_svc_limit_key_t));
}


/*
 * Returns NULL when the key is not there, or its window has ended, and then the
 * entry is removed.
 */

static ngx_svc_limit_entry_t *
ngx_svc_limit_find(ngx_slab_pool_t *pool, const ngx_svc_limit_key_t *key)
{
    ngx_int_t                rc;
    ngx_uint_t               hash;
    ngx_rbtree_node_t       *node;
    ngx_svc_limit_entry_t   *entry;
    ngx_svc_limit_shared_t  *shared;

    shared = pool->data;
    hash = ngx_svc_limit_hash(key);
    node = shared->keys.root;

    while (node != &shared->sentinel) {
        entry = ngx_svc_limit_by_node(node);

        if (hash != node->key) {
            node = (hash < node->key) ? node->left : node->right;
            continue;
        }

        rc = ngx_memcmp(key, &entry->key, sizeof(ngx_svc_limit_key_t));

        if (rc == 0) {
            if (ngx_svc_limit_left(entry) > 0) {
                return entry;
            }

            ngx_svc_limit_remove(pool, entry);
            return NULL;
        }

        node = (rc < 0) ? node->left : node->right;
    }

    return NULL;
}


static ngx_svc_limit_entry_t *
ngx_svc_limit_create(ngx_slab_pool_t *pool, const ngx_svc_limit_key_t *key,
    ngx_msec_t window)
{
    ngx_svc_limit_entry_t   *entry;
    ngx_svc_limit_shared_t  *shared;

    shared = pool->data;

    do {
        entry = ngx_slab_alloc_locked(pool, sizeof(ngx_svc_limit_entry_t));
    } while (entry == NULL && ngx_svc_limit_evict(pool));

    if (entry == NULL) {
        return NULL;
    }

    entry->node.key = ngx_svc_limit_hash(key);
    entry->ending.key = ngx_current_msec + window;
    entry->window = window;
    entry->count = 0;
    entry->order = key->family;
    entry->key = *key;

    ngx_rbtree_insert(&shared->keys, &entry->node);
    ngx_rbtree_insert(&shared->orders[entry->order], &entry->ending);

    return entry;
}


/* Returns 1 when an entry has been removed. */

static ngx_uint_t
ngx_svc_limit_evict(ngx_slab_pool_t *pool)
{
    ngx_uint_t              i;
    ngx_msec_int_t          age, oldest;
    ngx_svc_limit_entry_t  *entry, *go;

    go = NULL;
    oldest = 0;

    for (i = 0; i < NGX_SVC_LIMIT_ORDERS; i++) {
        entry = ngx_svc_limit_first(pool->data, i);

        if (entry == NULL) {
            continue;
        }

        if (ngx_svc_limit_left(entry) <= 0) {
            go = entry;
            break;
        }

        if (i == NGX_SVC_LIMIT_SPENT) {
            continue;
        }

        age = (ngx_msec_int_t) entry->window - ngx_svc_limit_left(entry);

        if (go == NULL || age > oldest) {
            go = entry;
            oldest = age;
        }
    }

    if (go) {
        ngx_svc_limit_remove(pool, go);
    }

    return go != NULL;
}


/* Returns the entry of an order that ends first. */

static ngx_svc_limit_entry_t *
ngx_svc_limit_first(ngx_svc_limit_shared_t *shared, ngx_uint_t order)
{
    ngx_rbtree_t  *tree;

    tree = &shared->orders[order];

    if (tree->root == tree->sentinel) {
        return NULL;
    }

    return ngx_svc_limit_by_ending(ngx_rbtree_min(tree->root, tree->sentinel));
}


/* Moves an entry to another order; ngx_rbtree_delete() wipes its node. */

static void
ngx_svc_limit_order(ngx_svc_limit_shared_t *shared,
    ngx_svc_limit_entry_t *entry, ngx_uint_t order)
{
    ngx_rbtree_key_t  end;

    if (entry->order == order) {
        return;
    }

    end = entry->ending.key;

    ngx_rbtree_delete(&shared->orders[entry->order], &entry->ending);

    entry->ending.key = end;
    entry->order = order;

    ngx_rbtree_insert(&shared->orders[order], &entry->ending);
}


static void
ngx_svc_limit_remove(ngx_slab_pool_t *pool, ngx_svc_limit_entry_t *entry)
{
    ngx_svc_limit_shared_t  *shared;

    shared = pool->data;

    ngx_rbtree_delete(&shared->keys, &entry->node);
    ngx_rbtree_delete(&shared->orders[entry->order], &entry->ending);

    ngx_slab_free_locked(pool, entry);
}


/* Another worker's clock may be a little ahead of ours. */

static ngx_msec_int_t
ngx_svc_limit_left(ngx_svc_limit_entry_t *entry)
{
    return (ngx_msec_int_t) (entry->ending.key - ngx_current_msec);
}
