/*
 * Submits the ops of requests to PostgreSQL, once or more often, and tells
 * other processes of what they have changed.
 */

#ifndef _NGX_SVC_SUBMIT_H_INCLUDED_
#define _NGX_SVC_SUBMIT_H_INCLUDED_


#include "ngx_svc_request.h"
#include "ngx_svc_redis_pubsub.h"


/* A message is the id of a tenant whose audit log has grown. */
#define NGX_SVC_AUDIT_CHANNEL  "svc.audit"


/*
 * Submits sr->op as ngx_svc_pg_submit() does, in the turn of the token's
 * tenant.  When the credential is refused, the op's handler is called without
 * the op having been sent.
 */
ngx_int_t ngx_svc_submit(ngx_svc_request_t *sr);

/*
 * Publishes that a tenant's data have changed.  It is the committed hook of
 * each write; a prepare that sets another hook must see that it calls this one.
 */
NGX_SVC_API void ngx_svc_request_committed(
    const ngx_svc_pg_results_t *results);

/*
 * Tells a committed hook whose data have changed, or may have; "*": it is not
 * known.  *tenant lives as long as the results.  Returns NGX_OK, or
 * NGX_DECLINED when the credential was refused.
 */
NGX_SVC_API ngx_int_t ngx_svc_committed_tenant(
    const ngx_svc_pg_results_t *results, ngx_str_t *tenant);

/*
 * Sets the handler that is told of this worker's writes while Redis does not
 * tell of all workers' writes; NULL: there is none.
 */
NGX_SVC_API void ngx_svc_request_listen(ngx_svc_redis_message_pt handler);

/*
 * Makes one more round trip, with the credential's statements and what prepare
 * adds, in a transaction of its own; then reply is called.  A reply calls this,
 * or an event that holds a reference of the request.  Returns what goes to
 * ngx_http_finalize_request().
 */
NGX_SVC_API ngx_int_t ngx_svc_request_again(ngx_svc_request_t *sr,
    ngx_svc_pg_pool_e kind, ngx_int_t (*prepare)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_SUBMIT_H_INCLUDED_ */
