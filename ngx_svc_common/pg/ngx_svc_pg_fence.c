/*
 * The highest timeline of each cluster, in the memory of all processes.
 */

#include "ngx_svc_log_limit.h"
#include "ngx_svc_pg_fence.h"

#include <ngx_event.h>


#define NGX_SVC_PG_FENCES      8        /* clusters, as long as nginx runs */


typedef struct {
    ngx_svc_pg_fence_t         fences[NGX_SVC_PG_FENCES];
    ngx_msec_t                 last[NGX_SVC_PG_DUES];       /* when a process
                                                               last took one */
} ngx_svc_pg_fences_t;


static ngx_int_t ngx_svc_pg_fence_init_zone(ngx_shm_zone_t *zone, void *data);
static ngx_svc_pg_fence_t *ngx_svc_pg_fence_find(uint64_t system);


#include "ngx_svc_pg_fence.sql.h"


/* Both are NULL when there is no fence. */

static ngx_slab_pool_t      *ngx_svc_pg_fence_pool;
static ngx_svc_pg_fences_t  *ngx_svc_pg_fences;
static ngx_uint_t            ngx_svc_pg_fence_asking;


ngx_shm_zone_t *
ngx_svc_pg_fence_zone(ngx_conf_t *cf, void *tag)
{
    ngx_str_t        name = ngx_string("ngx_svc_timelines");
    ngx_shm_zone_t  *zone;

    zone = ngx_shared_memory_add(cf, &name, 8 * ngx_pagesize, tag);
    if (zone == NULL) {
        return NULL;
    }

    zone->init = ngx_svc_pg_fence_init_zone;
    zone->data = tag;

    return zone;
}


static ngx_int_t
ngx_svc_pg_fence_init_zone(ngx_shm_zone_t *zone, void *data)
{
    ngx_slab_pool_t  *pool;

    if (data || zone->shm.exists) {
        return NGX_OK;
    }

    pool = (ngx_slab_pool_t *) zone->shm.addr;

    pool->data = ngx_slab_calloc(pool, sizeof(ngx_svc_pg_fences_t));

    return pool->data ? NGX_OK : NGX_ERROR;
}


void
ngx_svc_pg_fence_open(ngx_shm_zone_t *zone)
{
    ngx_svc_pg_fence_pool = NULL;
    ngx_svc_pg_fences = NULL;

    if (zone) {
        ngx_svc_pg_fence_pool = (ngx_slab_pool_t *) zone->shm.addr;
        ngx_svc_pg_fences = ngx_svc_pg_fence_pool->data;
    }
}


ngx_svc_pg_timeline_t
ngx_svc_pg_fence_read(const ngx_svc_row_pg_timeline_t *row)
{
    ngx_int_t              timeline;
    ngx_svc_pg_timeline_t  t;

    /* PostgreSQL has no unsigned numbers: it is sent as a bigint */

    t.system = (uint64_t) row->system;

    timeline = ngx_hextoi(row->timeline.data, row->timeline.len);
    t.timeline = (uint32_t) ngx_max(timeline, 0);

    return t;
}


/*
 * Returns the place of the cluster, or a free one, or NULL.  The caller holds
 * the lock.
 */

static ngx_svc_pg_fence_t *
ngx_svc_pg_fence_find(uint64_t system)
{
    ngx_uint_t           i;
    ngx_svc_pg_fence_t  *fence;

    for (i = 0; i < NGX_SVC_PG_FENCES; i++) {
        fence = &ngx_svc_pg_fences->fences[i];

        if (fence->system == system || fence->system == 0) {
            return fence;
        }
    }

    return NULL;
}


void
ngx_svc_pg_fence_note(const ngx_svc_pg_timeline_t *timeline)
{
    ngx_svc_pg_fence_t  *fence;

    static ngx_svc_log_limit_t  full;

    if (ngx_svc_pg_fences == NULL || timeline->system == 0) {
        return;
    }

    ngx_shmtx_lock(&ngx_svc_pg_fence_pool->mutex);

    fence = ngx_svc_pg_fence_find(timeline->system);

    if (fence && fence->system == 0) {
        fence->system = timeline->system;
        fence->generation = 1;
    }

    if (fence && fence->timeline < timeline->timeline) {
        fence->timeline = timeline->timeline;
    }

    ngx_shmtx_unlock(&ngx_svc_pg_fence_pool->mutex);

    if (fence == NULL) {
        ngx_log_error(ngx_svc_log_limit_level(&full, 1, 60000, NGX_LOG_WARN),
                      ngx_cycle->log, 0,
                      "PostgreSQL: more than %d clusters since the start: a "
                      "former primary of this one is not told from the "
                      "present one", NGX_SVC_PG_FENCES);
    }
}


uint32_t
ngx_svc_pg_fence_above(const ngx_svc_pg_timeline_t *timeline)
{
    uint32_t             highest;
    ngx_svc_pg_fence_t  *fence;

    if (ngx_svc_pg_fences == NULL || timeline->system == 0
        || timeline->timeline == 0)
    {
        return 0;
    }

    ngx_shmtx_lock(&ngx_svc_pg_fence_pool->mutex);

    fence = ngx_svc_pg_fence_find(timeline->system);
    highest = fence ? fence->timeline : 0;

    ngx_shmtx_unlock(&ngx_svc_pg_fence_pool->mutex);

    return highest > timeline->timeline ? highest : 0;
}


const char *
ngx_svc_pg_fence_text(const ngx_svc_pg_timeline_t *timeline, uint32_t above,
    u_char *buf)
{
    (void) ngx_snprintf(buf, NGX_SVC_PG_FENCE_TEXT,
                        "the server is on timeline %uD, and another one of "
                        "its cluster on %uD%Z", timeline->timeline, above);

    return (char *) buf;
}


ngx_int_t
ngx_svc_pg_fence_get(ngx_uint_t i, ngx_svc_pg_fence_t *fence)
{
    if (ngx_svc_pg_fences == NULL || i >= NGX_SVC_PG_FENCES) {
        return NGX_DECLINED;
    }

    ngx_shmtx_lock(&ngx_svc_pg_fence_pool->mutex);

    *fence = ngx_svc_pg_fences->fences[i];

    ngx_shmtx_unlock(&ngx_svc_pg_fence_pool->mutex);

    return fence->system ? NGX_OK : NGX_DECLINED;
}


void
ngx_svc_pg_fence_merge(const ngx_svc_pg_fence_t *other)
{
    ngx_svc_pg_fence_t  *fence;

    ngx_shmtx_lock(&ngx_svc_pg_fence_pool->mutex);

    fence = ngx_svc_pg_fence_find(other->system);

    if (fence && fence->system) {

        if (fence->generation < other->generation) {
            fence->generation = other->generation;
            fence->timeline = other->timeline;

        } else if (fence->generation == other->generation) {
            fence->timeline = ngx_max(fence->timeline, other->timeline);
        }

        fence->shared = 1;
    }

    ngx_shmtx_unlock(&ngx_svc_pg_fence_pool->mutex);
}


ngx_uint_t
ngx_svc_pg_fence_due(ngx_svc_pg_due_e due, ngx_msec_t period)
{
    ngx_uint_t   mine;
    ngx_msec_t  *last;

    if (ngx_svc_pg_fences == NULL) {
        return 0;
    }

    ngx_shmtx_lock(&ngx_svc_pg_fence_pool->mutex);

    last = &ngx_svc_pg_fences->last[due];

    /* a little less than a period: the processes' timers are not in step */

    mine = (ngx_msec_int_t) (ngx_current_msec - *last)
           >= (ngx_msec_int_t) (period - period / 10);

    if (mine) {
        *last = ngx_current_msec;
    }

    ngx_shmtx_unlock(&ngx_svc_pg_fence_pool->mutex);

    return mine;
}


void
ngx_svc_pg_fence_asks(ngx_uint_t asks)
{
    ngx_svc_pg_fence_asking = asks;
}


ngx_uint_t
ngx_svc_pg_fence_waits(const ngx_svc_pg_timeline_t *timeline)
{
    ngx_uint_t           waits;
    ngx_svc_pg_fence_t  *fence;

    if (ngx_svc_pg_fences == NULL || !ngx_svc_pg_fence_asking
        || timeline->system == 0)
    {
        return 0;
    }

    ngx_shmtx_lock(&ngx_svc_pg_fence_pool->mutex);

    fence = ngx_svc_pg_fence_find(timeline->system);
    waits = fence && fence->system && !fence->shared;

    ngx_shmtx_unlock(&ngx_svc_pg_fence_pool->mutex);

    return waits;
}
