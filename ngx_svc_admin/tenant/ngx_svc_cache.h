/*
 * Public answers, in memory that the workers share.
 *
 * An entry is good as long as nobody has changed its tenant since its answer
 * was read, on this node or on another one, and for a limited time, which is
 * short while other nodes cannot be heard, and where not all changes are told.
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
 * What is kept.  From the cache: content_type, etag and body are the request's,
 * copied or held for it until its pool goes.
 */

typedef struct {
    ngx_uint_t             found;       /* 0: known not to exist */
    ngx_str_t              content_type;
    ngx_str_t              etag;        /* with its quotes */
    ngx_str_t              body;
    ngx_msec_t             age;         /* since it was read */
} ngx_svc_cache_answer_t;


/* While the configuration is read; NULL: what is wrong is in the log. */
ngx_shm_zone_t *ngx_svc_cache_zone(ngx_conf_t *cf, size_t size, void *tag);

/* A worker's start and end. */
ngx_int_t ngx_svc_cache_init_worker(ngx_shm_zone_t *zone);
void ngx_svc_cache_exit_worker(void);

/*
 * NGX_OK with the answer; NGX_DECLINED: not there, with a ticket for
 * ngx_svc_cache_put(), to be had before the database is asked; NGX_BUSY: it is
 * being sent so many times here that it must not be sent once more; NGX_ERROR.
 */
ngx_int_t ngx_svc_cache_get(ngx_http_request_t *r, ngx_svc_cache_kind_e kind,
    ngx_str_t *name, ngx_svc_cache_answer_t *answer, uint64_t *ticket);

/*
 * Keeps an answer, unless something was changed since the ticket, or there is
 * no room.  tenant: the text of its id; no data: there is no such tenant.
 */
void ngx_svc_cache_put(ngx_svc_cache_kind_e kind, ngx_str_t *name,
    ngx_str_t *tenant, ngx_svc_cache_answer_t *answer, uint64_t ticket);

/* A tenant's public resources have changed; "*": maybe any tenant's. */
void ngx_svc_cache_change(ngx_str_t *tenant);


#endif /* _NGX_SVC_CACHE_H_INCLUDED_ */
