/*
 * Parsed policies of this worker: the least recently used one is removed when
 * there are too many policies, or too many bytes.
 */

#include "ngx_svc_access_cache.h"
#include "ngx_svc_access_policy.h"
#include "ngx_svc_zone_set.h"

#include <ngx_event.h>


#define NGX_SVC_ACCESS_CACHED        64
#define NGX_SVC_ACCESS_CACHED_BYTES  (16 * 1024 * 1024)
#define NGX_SVC_ACCESS_TENANT        64     /* bytes of its id */


typedef struct {
    ngx_queue_t               queue;    /* in one of the two queues below */
    ngx_pool_t               *pool;     /* of the entry and its policy */
    ngx_svc_access_policy_t  *policy;
    ngx_str_t                 tenant;
    int64_t                   version;
    uint32_t                  hash;     /* of the text */
    size_t                    len;
    ngx_uint_t                generation;   /* of the zones */
    u_char                    data[NGX_SVC_ACCESS_TENANT];
} ngx_svc_access_entry_t;


static ngx_svc_access_entry_t *ngx_svc_access_find(
    const ngx_svc_zones_t *zones, const ngx_str_t *tenant, int64_t version,
    const ngx_str_t *json);
static ngx_svc_access_entry_t *ngx_svc_access_add(
    const ngx_svc_zones_t *zones, const ngx_str_t *tenant, ngx_str_t *json,
    ngx_log_t *log);
static ngx_int_t ngx_svc_access_read(ngx_svc_access_entry_t *entry,
    const ngx_svc_zones_t *zones, ngx_str_t *json, ngx_log_t *log);
static void ngx_svc_access_remove(ngx_svc_access_entry_t *entry);
static void ngx_svc_access_freeing_handler(ngx_event_t *ev);
static void ngx_svc_access_free(ngx_queue_t *entries);


static ngx_queue_t   ngx_svc_access_used;   /* the last used one first; prev
                                               NULL: not initialized yet */
static ngx_queue_t   ngx_svc_access_old;    /* to be freed; the caller may still
                                               look at them */
static ngx_uint_t    ngx_svc_access_n;
static size_t        ngx_svc_access_bytes;
static ngx_event_t   ngx_svc_access_freeing;


const ngx_svc_access_policy_t *
ngx_svc_access_cached(const ngx_svc_zones_t *zones, const ngx_str_t *tenant,
    int64_t version, ngx_str_t *json, ngx_log_t *log)
{
    ngx_queue_t             *q;
    ngx_svc_access_entry_t  *entry;

    if (ngx_svc_access_used.prev == NULL) {
        ngx_queue_init(&ngx_svc_access_used);
        ngx_queue_init(&ngx_svc_access_old);
        ngx_svc_access_freeing.handler = ngx_svc_access_freeing_handler;
        ngx_svc_access_freeing.data = &ngx_svc_access_freeing;
    }

    ngx_svc_access_freeing.log = ngx_cycle->log;

    entry = ngx_svc_access_find(zones, tenant, version, json);

    if (entry) {
        ngx_queue_remove(&entry->queue);
        ngx_queue_insert_head(&ngx_svc_access_used, &entry->queue);

        return entry->policy;
    }

    entry = ngx_svc_access_add(zones, tenant, json, log);
    if (entry == NULL) {
        return NULL;
    }

    entry->version = version;

    ngx_queue_insert_head(&ngx_svc_access_used, &entry->queue);
    ngx_svc_access_n++;
    ngx_svc_access_bytes += entry->policy->size;

    while (ngx_svc_access_n > NGX_SVC_ACCESS_CACHED
           || ngx_svc_access_bytes > NGX_SVC_ACCESS_CACHED_BYTES)
    {
        q = ngx_queue_last(&ngx_svc_access_used);
        ngx_svc_access_remove(ngx_queue_data(q, ngx_svc_access_entry_t,
                                             queue));
    }

    return entry->policy;
}


void
ngx_svc_access_cache_exit(void)
{
    if (ngx_svc_access_used.prev == NULL) {
        return;
    }

    ngx_svc_access_free(&ngx_svc_access_used);
    ngx_svc_access_free(&ngx_svc_access_old);
}


/*
 * Removes older versions of the tenant's policy, and policies whose zones are
 * gone.  Also removes a version with another text, which a database has that
 * was restored, or changed by hand.
 */

static ngx_svc_access_entry_t *
ngx_svc_access_find(const ngx_svc_zones_t *zones, const ngx_str_t *tenant,
    int64_t version, const ngx_str_t *json)
{
    ngx_queue_t             *q, *next;
    ngx_svc_access_entry_t  *entry;

    for (q = ngx_queue_head(&ngx_svc_access_used);
         q != ngx_queue_sentinel(&ngx_svc_access_used);
         q = next)
    {
        next = ngx_queue_next(q);
        entry = ngx_queue_data(q, ngx_svc_access_entry_t, queue);

        if (entry->generation != zones->generation) {
            ngx_svc_access_remove(entry);
            continue;
        }

        if (entry->tenant.len != tenant->len
            || ngx_memcmp(entry->tenant.data, tenant->data, tenant->len) != 0)
        {
            continue;
        }

        if (entry->version == version
            && entry->len == json->len
            && entry->hash == ngx_murmur_hash2(json->data, json->len))
        {
            return entry;
        }

        if (entry->version <= version) {
            ngx_svc_access_remove(entry);
        }
    }

    return NULL;
}


static ngx_svc_access_entry_t *
ngx_svc_access_add(const ngx_svc_zones_t *zones, const ngx_str_t *tenant,
    ngx_str_t *json, ngx_log_t *log)
{
    ngx_pool_t              *pool;
    ngx_svc_access_entry_t  *entry;

    if (tenant->len > NGX_SVC_ACCESS_TENANT) {
        return NULL;
    }

    pool = ngx_create_pool(4096, log);
    if (pool == NULL) {
        return NULL;
    }

    entry = ngx_pcalloc(pool, sizeof(ngx_svc_access_entry_t));

    if (entry) {
        entry->pool = pool;
        entry->generation = zones->generation;
        entry->tenant.len = tenant->len;
        entry->tenant.data = entry->data;
        ngx_memcpy(entry->data, tenant->data, tenant->len);
        entry->len = json->len;
        entry->hash = ngx_murmur_hash2(json->data, json->len);
    }

    if (entry == NULL
        || ngx_svc_access_read(entry, zones, json, log) != NGX_OK)
    {
        ngx_destroy_pool(pool);
        return NULL;
    }

    /* the pool outlives the request, which may own that log */

    pool->log = ngx_cycle->log;

    return entry;
}


/* The tree is freed at once: it is several times as large as the policy. */

static ngx_int_t
ngx_svc_access_read(ngx_svc_access_entry_t *entry,
    const ngx_svc_zones_t *zones, ngx_str_t *json, ngx_log_t *log)
{
    cJSON            *tree;
    ngx_int_t         rc;
    ngx_pool_t       *pool;
    ngx_svc_error_t   err;

    pool = ngx_create_pool(16384, log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_json_parse(pool, json, &tree, &err);

    if (rc == NGX_OK) {
        rc = ngx_svc_access_parse(entry->pool, zones, tree, "", 0,
                                  &entry->policy, &err);
    }

    if (rc == NGX_DECLINED) {
        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "the stored access policy of tenant %V is not valid: "
                      "%*s", &entry->tenant, err.len, err.detail);
    }

    ngx_destroy_pool(pool);

    return rc;
}


/*
 * The entry is freed later: code that has got its policy in this iteration of
 * the event loop may still look at it.
 */

static void
ngx_svc_access_remove(ngx_svc_access_entry_t *entry)
{
    ngx_svc_access_n--;
    ngx_svc_access_bytes -= entry->policy->size;

    ngx_queue_remove(&entry->queue);
    ngx_queue_insert_tail(&ngx_svc_access_old, &entry->queue);

    ngx_post_event(&ngx_svc_access_freeing, &ngx_posted_events);
}


static void
ngx_svc_access_freeing_handler(ngx_event_t *ev)
{
    ngx_svc_access_free(&ngx_svc_access_old);
}


static void
ngx_svc_access_free(ngx_queue_t *entries)
{
    ngx_queue_t             *q;
    ngx_svc_access_entry_t  *entry;

    while (!ngx_queue_empty(entries)) {
        q = ngx_queue_head(entries);
        ngx_queue_remove(q);

        entry = ngx_queue_data(q, ngx_svc_access_entry_t, queue);
        entry->pool->log = ngx_cycle->log;
        ngx_destroy_pool(entry->pool);
    }
}
