/*
 * Requests on their way to PostgreSQL, once or more often; and who hears of
 * what they have changed.
 */

#ifndef _NGX_SVC_SUBMIT_H_INCLUDED_
#define _NGX_SVC_SUBMIT_H_INCLUDED_


#include "ngx_svc_request.h"
#include "ngx_svc_redis_pubsub.h"


/* A tenant's id: something was written for it, and its audit log has grown. */
#define NGX_SVC_AUDIT_CHANNEL  "svc.audit"


/*
 * Submits sr->op as of ngx_svc_pg_submit(), in the turn of the token's tenant;
 * its handler may be called with a refusal before it was sent.
 */
ngx_int_t ngx_svc_submit(ngx_svc_request_t *sr);

/* Of each write, unless its prepare has put another one in place: calls it. */
NGX_SVC_API void ngx_svc_request_committed(
    const ngx_svc_pg_results_t *results);

/*
 * For such a function: whose data has changed, or may have; "*" when nobody
 * knows.  It lives as long as the results.  NGX_DECLINED: the credential was
 * refused.
 */
NGX_SVC_API ngx_int_t ngx_svc_committed_tenant(
    const ngx_svc_pg_results_t *results, ngx_str_t *tenant);

/*
 * Who is to hear of the writes of this worker while Redis does not tell of all
 * workers'; NULL: nobody.
 */
NGX_SVC_API void ngx_svc_request_listen(ngx_svc_redis_message_pt handler);

/*
 * One more round trip, from a reply or from an event of the request's own that
 * holds a reference: the credential's statement and what prepare adds, in a
 * transaction of its own; then reply.  Returns what goes to
 * ngx_http_finalize_request().
 */
NGX_SVC_API ngx_int_t ngx_svc_request_again(ngx_svc_request_t *sr,
    ngx_svc_pg_pool_e kind, ngx_int_t (*prepare)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_SUBMIT_H_INCLUDED_ */
