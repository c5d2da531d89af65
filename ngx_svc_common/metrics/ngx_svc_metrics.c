/*
 * Counters over all processes of an nginx, and gauges of each of them.
 *
 * A process has a slot for its gauges, and is its only writer.  A process that
 * is killed leaves its slot behind: a slot counts only while its process is
 * alive, and the next process that starts frees it, before another process can
 * have the pid.
 */

#include "ngx_svc_metrics_store.h"


static ngx_int_t ngx_svc_metrics_init_zone(ngx_shm_zone_t *zone, void *data);
static ngx_uint_t ngx_svc_metrics_dead(ngx_pid_t pid);


ngx_svc_metrics_t              *ngx_svc_metrics;

/* the slot of a process without one: it is written, and never read */

static ngx_svc_metrics_slot_t   ngx_svc_metrics_nowhere;
static ngx_svc_metrics_slot_t  *ngx_svc_metrics_slot =
                                    &ngx_svc_metrics_nowhere;


ngx_shm_zone_t *
ngx_svc_metrics_zone(ngx_conf_t *cf, void *tag)
{
    size_t           size;
    ngx_str_t        name = ngx_string("ngx_svc_metrics");
    ngx_shm_zone_t  *zone;

    /* the slab allocator needs room, too, for itself and to describe pages */

    size = ngx_align(sizeof(ngx_svc_metrics_t), ngx_pagesize)
           + 16 * ngx_pagesize;

    zone = ngx_shared_memory_add(cf, &name, size, tag);
    if (zone == NULL) {
        return NULL;
    }

    zone->init = ngx_svc_metrics_init_zone;
    zone->data = tag;

    return zone;
}


static ngx_int_t
ngx_svc_metrics_init_zone(ngx_shm_zone_t *zone, void *data)
{
    ngx_slab_pool_t  *pool;

    if (data || zone->shm.exists) {
        return NGX_OK;
    }

    pool = (ngx_slab_pool_t *) zone->shm.addr;

    pool->data = ngx_slab_calloc(pool, sizeof(ngx_svc_metrics_t));

    return pool->data ? NGX_OK : NGX_ERROR;
}


void
ngx_svc_metrics_open(ngx_shm_zone_t *zone)
{
    ngx_slab_pool_t  *pool;

    ngx_svc_metrics = NULL;

    if (zone) {
        pool = (ngx_slab_pool_t *) zone->shm.addr;
        ngx_svc_metrics = pool->data;
    }
}


void
ngx_svc_metrics_join(ngx_svc_process_e kind, ngx_log_t *log)
{
    ngx_uint_t               i;
    ngx_atomic_uint_t        pid;
    ngx_svc_metrics_slot_t  *slot, *own;

    ngx_svc_metrics_slot = &ngx_svc_metrics_nowhere;

    if (ngx_svc_metrics == NULL) {
        return;
    }

    own = NULL;

    for (i = 0; i < NGX_SVC_METRICS_SLOTS; i++) {
        slot = &ngx_svc_metrics->slots[i];
        pid = slot->pid;

        if (pid && ngx_svc_metrics_dead(pid)
            && ngx_atomic_cmp_set(&slot->pid, pid, 0))
        {
            pid = 0;
        }

        if (own == NULL && pid == 0
            && ngx_atomic_cmp_set(&slot->pid, 0, ngx_pid))
        {
            own = slot;
        }
    }

    if (own == NULL) {
        ngx_log_error(NGX_LOG_WARN, log, 0, "svc_metrics: more than %d "
                      "processes: the gauges of this one are left out",
                      NGX_SVC_METRICS_SLOTS);
        return;
    }

    own->kind = kind;
    ngx_memzero((void *) own->gauges, sizeof(own->gauges));
    ngx_memory_barrier();
    own->live = ngx_pid;

    ngx_svc_metrics_slot = own;
}


void
ngx_svc_metrics_leave(void)
{
    ngx_svc_metrics_slot_t  *slot;

    slot = ngx_svc_metrics_slot;

    if (slot == &ngx_svc_metrics_nowhere) {
        return;
    }

    ngx_svc_metrics_slot = &ngx_svc_metrics_nowhere;

    slot->live = 0;
    ngx_memory_barrier();
    slot->pid = 0;
}


static ngx_uint_t
ngx_svc_metrics_dead(ngx_pid_t pid)
{
    return pid != ngx_pid && kill(pid, 0) == -1 && ngx_errno == NGX_ESRCH;
}


void
ngx_svc_metrics_sum(ngx_svc_process_e kind, ngx_uint_t *processes,
    ngx_uint_t sums[NGX_SVC_G_GAUGES])
{
    ngx_uint_t               i, n;
    ngx_svc_metrics_slot_t  *slot;

    for (i = 0; i < NGX_SVC_METRICS_SLOTS; i++) {
        slot = &ngx_svc_metrics->slots[i];

        if (slot->pid == 0 || slot->live != slot->pid || slot->kind != kind
            || ngx_svc_metrics_dead(slot->pid))
        {
            continue;
        }

        (*processes)++;

        for (n = 0; n < NGX_SVC_G_GAUGES; n++) {

            /* these two are the same for all processes: they are no sum */

            sums[n] = (n == NGX_SVC_G_SCHEMA || n == NGX_SVC_G_KEYS_MISSING)
                      ? ngx_max(sums[n], slot->gauges[n])
                      : sums[n] + slot->gauges[n];
        }
    }
}


void
ngx_svc_metric_add(ngx_svc_metric_e metric, ngx_uint_t n)
{
    if (ngx_svc_metrics) {
        (void) ngx_atomic_fetch_add(&ngx_svc_metrics->counters[metric], n);
    }
}


void
ngx_svc_gauge_set(ngx_svc_gauge_e gauge, ngx_uint_t n)
{
    ngx_svc_metrics_slot->gauges[gauge] = n;
}


void
ngx_svc_gauge_add(ngx_svc_gauge_e gauge, ngx_int_t n)
{
    ngx_svc_metrics_slot->gauges[gauge] += n;
}
