/*
 * Keys that clients publish: what fetches and stores them.
 */

#ifndef _NGX_SVC_OAUTH_JWKS_H_INCLUDED_
#define _NGX_SVC_OAUTH_JWKS_H_INCLUDED_


#include "ngx_svc_pg_results.h"
#include "ngx_svc_published.h"


/* By the client's id. */
extern const ngx_svc_published_kind_t  ngx_svc_oauth_jwks_kind;

/*
 * Call these at the start of the worker that looks for keys to fetch, and at
 * the end of any worker.
 */
void ngx_svc_oauth_jwks_init_worker(ngx_cycle_t *cycle);
void ngx_svc_oauth_jwks_exit_worker(void);

/*
 * For a committed hook: tells of the change, and begins the refresh of a client
 * that has got a URI.  No data: there is none.
 */
void ngx_svc_oauth_jwks_committed(const ngx_svc_pg_results_t *results,
    const ngx_str_t *client_id);


#endif /* _NGX_SVC_OAUTH_JWKS_H_INCLUDED_ */
