/*
 * Fixed windows in memory that the workers of a node share.
 */

#ifndef _NGX_SVC_LIMIT_MEMORY_H_INCLUDED_
#define _NGX_SVC_LIMIT_MEMORY_H_INCLUDED_


#include "ngx_svc_limit_key.h"


typedef struct {
    ngx_uint_t   count;                 /* of the window, with this hit */
    ngx_msec_t   end;                   /* of the window; as ngx_current_msec */
    ngx_msec_t   left;                  /* ms until then, at least 1 */
} ngx_svc_limit_hit_t;


/*
 * Called once, with a new pool, whose data it sets.  Returns NGX_OK, or
 * NGX_ERROR when the pool is too small.  All other functions take the pool's
 * lock themselves.
 */
ngx_int_t ngx_svc_limit_memory_init(ngx_slab_pool_t *pool);

/*
 * Counts a hit; the first one begins a window (ms).  A key with max hits is
 * spent.  When the memory is full a window that has ended is removed, or else,
 * of the keys that are not spent, the one whose window began first.  Returns
 * NGX_OK; NGX_DECLINED: all are spent, nothing is counted, and hit->left is the
 * time until there is room again.
 */
ngx_int_t ngx_svc_limit_memory_hit(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key, ngx_uint_t max, ngx_msec_t window,
    ngx_svc_limit_hit_t *hit);

/* Takes a hit back, unless a later window has begun, which ends after end. */
void ngx_svc_limit_memory_give_back(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key, ngx_uint_t max, ngx_msec_t end);

/* Adds the key for ms; if there is no room it is not added. */
void ngx_svc_limit_memory_put(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key, ngx_msec_t ms);

/* Returns how many ms the key will still be there; 0: it is not. */
ngx_msec_t ngx_svc_limit_memory_left(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key);

/* Takes back a number of hits, and all hits over max. */
void ngx_svc_limit_memory_forgive(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key, ngx_uint_t max, ngx_uint_t hits);

/* Removes a key, with its hits. */
void ngx_svc_limit_memory_remove(ngx_slab_pool_t *pool,
    const ngx_svc_limit_key_t *key);


#endif /* _NGX_SVC_LIMIT_MEMORY_H_INCLUDED_ */
