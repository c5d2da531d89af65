/*
 * Public answers, in memory that the workers share.
 *
 * An entry is valid as long as nobody has changed its tenant since its answer
 * was read, on this node or on another one, and for a limited time, which is
 * short while other nodes cannot be heard, and for answers whose changes are
 * not all told.
 */

#ifndef _NGX_SVC_CACHE_H_INCLUDED_
#define _NGX_SVC_CACHE_H_INCLUDED_


#include "ngx_svc_http.h"


typedef enum {
    NGX_SVC_CACHE_BRANDING = 0,
    NGX_SVC_CACHE_LOGO,
    NGX_SVC_CACHE_OPTIONS,
    NGX_SVC_CACHE_METADATA,
    NGX_SVC_CACHE_JWKS,
    NGX_SVC_CACHE_KINDS
} ngx_svc_cache_kind_e;


/*
 * An answer.  When it comes from the cache, content_type, etag and body belong
 * to the request: they are copied, or held until its pool is destroyed.
 */

typedef struct {
    ngx_uint_t             found;       /* 0: known not to exist */
    ngx_str_t              content_type;
    ngx_str_t              etag;        /* with its quotes */
    ngx_str_t              body;
    ngx_msec_t             age;         /* ms since it was read */
} ngx_svc_cache_answer_t;


/* Called while the configuration is read; returns NULL with an error logged. */
ngx_shm_zone_t *ngx_svc_cache_zone(ngx_conf_t *cf, size_t size, void *tag);

/* Called at a worker's start. */
ngx_int_t ngx_svc_cache_init_worker(ngx_shm_zone_t *zone);

/* Called at a worker's end. */
void ngx_svc_cache_exit_worker(void);

/*
 * Returns NGX_OK with the answer; NGX_DECLINED: it is not there, with a ticket
 * for ngx_svc_cache_put(), which must be taken before the database is read;
 * NGX_BUSY: it is being sent so often by this worker that it must not be sent
 * once more; NGX_ERROR.
 */
ngx_int_t ngx_svc_cache_get(ngx_http_request_t *r, ngx_svc_cache_kind_e kind,
    ngx_str_t *name, ngx_svc_cache_answer_t *answer, uint64_t *ticket);

/*
 * Keeps an answer, unless something has changed since the ticket, or there is
 * no room.  tenant: the text of its id; without data: the tenant does not
 * exist.
 */
void ngx_svc_cache_put(ngx_svc_cache_kind_e kind, ngx_str_t *name,
    ngx_str_t *tenant, ngx_svc_cache_answer_t *answer, uint64_t ticket);

/* Tells that a tenant's public data has changed; "*": maybe any tenant's. */
void ngx_svc_cache_change(ngx_str_t *tenant);


#endif /* _NGX_SVC_CACHE_H_INCLUDED_ */
