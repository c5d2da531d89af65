/*
 * Keys that clients publish: what fetches and stores them.
 *
 * A refresh is no request's: it goes on when those that wait for it have gone.
 * There is one for each client and minute on all nodes, as PostgreSQL says who
 * may fetch; what is fetched is stored unless the client has another URI by
 * then.
 */

#ifndef _NGX_SVC_OAUTH_JWKS_H_INCLUDED_
#define _NGX_SVC_OAUTH_JWKS_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_pg_results.h"


/* One that waits: the caller's, zeroed, until it is called or forgotten. */

typedef struct {
    ngx_queue_t    queue;
    ngx_uint_t    *nwaiting;                /* NULL: it does not wait */
    void         (*handler)(void *data);    /* whatever came of the refresh */
    void          *data;
} ngx_svc_oauth_jwks_wait_t;


/*
 * Call these at the start of the worker that looks for keys to fetch, and at
 * the end of any worker.
 */
void ngx_svc_oauth_jwks_init_worker(ngx_cycle_t *cycle);
void ngx_svc_oauth_jwks_exit_worker(void);

/*
 * Begins a refresh of a client's keys, unless one is under way in this worker.
 * tenant: the bytes of its id.  Returns NGX_OK; NGX_DECLINED when nothing
 * fetches here, or too much is under way; NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_oauth_jwks_refresh(const u_char *tenant,
    const ngx_str_t *client_id);

/*
 * Waits for the refresh of a client's keys that is under way in this worker.
 * Returns NGX_OK, and the handler is called from an event; NGX_DECLINED: there
 * is none, or too many wait for it.
 */
ngx_int_t ngx_svc_oauth_jwks_wait(const ngx_str_t *client_id,
    ngx_svc_oauth_jwks_wait_t *wait);

/* Does nothing if it does not wait. */
void ngx_svc_oauth_jwks_forget(ngx_svc_oauth_jwks_wait_t *wait);

/*
 * For a committed hook: tells of the change, and begins the refresh of a client
 * that has got a URI.  No data: there is none.
 */
void ngx_svc_oauth_jwks_committed(const ngx_svc_pg_results_t *results,
    const ngx_str_t *client_id);


#endif /* _NGX_SVC_OAUTH_JWKS_H_INCLUDED_ */
