/*
 * Entries of the cache of public answers.  All of it is under the lock of the
 * shared memory, except for the text of an entry that a worker holds.
 */

#ifndef _NGX_SVC_CACHE_ENTRY_H_INCLUDED_
#define _NGX_SVC_CACHE_ENTRY_H_INCLUDED_


#include "ngx_svc_cache.h"


#define NGX_SVC_CACHE_COUNTERS  1024
#define NGX_SVC_CACHE_WORKERS   64      /* workers that can hold entries */


typedef struct {
    ngx_str_node_t         sn;          /* the name, in text */
    ngx_queue_t            queue;       /* by use; or the removed ones */
    ngx_msec_t             created;
    uint64_t               epoch;
    uint32_t               changes;     /* the counter's value then */
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
    ngx_queue_t            found;       /* last used first */
    ngx_queue_t            none;        /* answers "not found" */
    ngx_queue_t            removed;     /* removed, and still held */
    ngx_uint_t             nnone;
    size_t                 pinned;      /* bytes of the removed entries */
    uint64_t               epoch;       /* older entries are not valid */
    uint64_t               nchanges;    /* changes of all tenants */
    uint32_t               changes[NGX_SVC_CACHE_COUNTERS];
    ngx_pid_t              workers[NGX_SVC_CACHE_WORKERS];
} ngx_svc_cache_shared_t;


extern ngx_slab_pool_t         *ngx_svc_cache_pool;     /* NULL: no cache */
extern ngx_svc_cache_shared_t  *ngx_svc_cache;

/*
 * This worker's number as a holder; NGX_SVC_CACHE_WORKERS: it can hold nothing.
 */
extern ngx_uint_t               ngx_svc_cache_worker;


/* Returns NULL when there is no entry. */
ngx_svc_cache_entry_t *ngx_svc_cache_find(ngx_svc_cache_kind_e kind,
    ngx_str_t *name);

/*
 * Keeps an answer if there is room; owner: a change of it makes the entry
 * stale.
 */
void ngx_svc_cache_store(ngx_svc_cache_kind_e kind, ngx_str_t *name,
    ngx_str_t *owner, ngx_svc_cache_answer_t *answer);

/* Lets go of an entry that this worker holds. */
void ngx_svc_cache_let_go(ngx_svc_cache_entry_t *entry);

/* Lets go of all entries that a worker holds. */
void ngx_svc_cache_forget(ngx_uint_t worker);


#endif /* _NGX_SVC_CACHE_ENTRY_H_INCLUDED_ */
