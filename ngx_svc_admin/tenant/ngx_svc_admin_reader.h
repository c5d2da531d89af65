/*
 * Who reads what is not in the cache: in each worker the first request for it.
 * Others wait for that one, or for a while.
 */

#ifndef _NGX_SVC_ADMIN_READER_H_INCLUDED_
#define _NGX_SVC_ADMIN_READER_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_cache.h"


/* Of the request's pool, and zeroed but for what comes first. */

typedef struct {
    ngx_svc_request_t      *sr;
    ngx_svc_cache_kind_e    kind;
    ngx_str_t               key;        /* in the cache */
    uint64_t                ticket;     /* of the cache */

    ngx_queue_t             queue;      /* of who reads; or of who waits */
    ngx_queue_t             waiting;    /* for this one that reads */
    ngx_event_t             event;      /* the end of the wait */
    unsigned                reads:1;
    unsigned                waits:1;
} ngx_svc_admin_reader_t;


/*
 * A key: a name, and the base URL of the request's location, which is part of
 * what is answered.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_reader_key(ngx_svc_request_t *sr, const ngx_str_t *name,
    ngx_str_t *key);

/*
 * For the prepare of a public route, and what that returns, when the answer of
 * the cache will not do; cached: what ngx_svc_cache_get() has returned.  The
 * route's statements are added to sr->op, and the reader is the one that reads,
 * until ngx_svc_admin_reader_end() or the end of its request.  Or it waits, and
 * the prepare is called again when there is something to be found.
 */
ngx_int_t ngx_svc_admin_reader_prepare(ngx_svc_admin_reader_t *reader,
    ngx_int_t cached);

/* It has read: those who wait look for themselves. */
void ngx_svc_admin_reader_end(ngx_svc_admin_reader_t *reader);


#endif /* _NGX_SVC_ADMIN_READER_H_INCLUDED_ */
