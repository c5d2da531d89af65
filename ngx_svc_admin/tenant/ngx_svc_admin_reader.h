/*
 * The first request in each worker for an answer that is not in the cache reads
 * it.  Others wait for that request, or for a while.
 */

#ifndef _NGX_SVC_ADMIN_READER_H_INCLUDED_
#define _NGX_SVC_ADMIN_READER_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_cache.h"


/*
 * In the request's pool; the caller sets the first members, the rest is zero.
 */

typedef struct {
    ngx_svc_request_t      *sr;
    ngx_svc_cache_kind_e    kind;
    ngx_str_t               key;        /* in the cache */
    uint64_t                ticket;     /* ngx_svc_cache_get()'s */

    ngx_queue_t             queue;      /* the readers, or a waiting list */
    ngx_queue_t             waiting;    /* requests that wait for it */
    ngx_event_t             event;      /* ends the wait */
    unsigned                reads:1;
    unsigned                waits:1;
} ngx_svc_admin_reader_t;


/*
 * Makes a key of a name and the base URL of the request's location, which is
 * part of the answer.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_reader_key(ngx_svc_request_t *sr, const ngx_str_t *name,
    ngx_str_t *key);

/*
 * Ends the prepare hook of a public route when the cache has no answer that
 * will do; cached: what ngx_svc_cache_get() has returned.  Either the route's
 * statements are added to sr->op, and the reader reads until
 * ngx_svc_admin_reader_end() or the end of its request; or it waits, and the
 * prepare hook is called again when an answer may be there.  Returns what the
 * hook returns.
 */
ngx_int_t ngx_svc_admin_reader_prepare(ngx_svc_admin_reader_t *reader,
    ngx_int_t cached);

/* Ends the reading: the requests that wait look again. */
void ngx_svc_admin_reader_end(ngx_svc_admin_reader_t *reader);


#endif /* _NGX_SVC_ADMIN_READER_H_INCLUDED_ */
