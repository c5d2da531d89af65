/*
 * For unit tests of limits: shared memory of a given size, as nginx makes it.
 */

#ifndef _NGX_UNIT_LIMIT_H_INCLUDED_
#define _NGX_UNIT_LIMIT_H_INCLUDED_


#include "ngx_unit.h"
#include "ngx_svc_limit_memory.h"


/* The caller frees it with free(). */

static inline ngx_slab_pool_t *
ngx_unit_limit_memory(size_t size)
{
    u_char           *p;
    ngx_slab_pool_t  *pool;

    p = aligned_alloc(ngx_pagesize, size);
    assert_non_null(p);
    memset(p, 0, size);

    pool = (ngx_slab_pool_t *) p;
    pool->end = p + size;
    pool->min_shift = 3;
    pool->addr = p;

    assert_int_equal(ngx_shmtx_create(&pool->mutex, &pool->lock, NULL),
                     NGX_OK);
    ngx_slab_init(pool);

    assert_int_equal(ngx_svc_limit_memory_init(pool), NGX_OK);

    return pool;
}


#endif /* _NGX_UNIT_LIMIT_H_INCLUDED_ */
