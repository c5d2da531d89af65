/*
 * What a flow asks of its provider's servers, all within a time.
 */

#ifndef _NGX_SVC_FEDERATION_FETCH_H_INCLUDED_
#define _NGX_SVC_FEDERATION_FETCH_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * Begins flow->fetch, whose "url", "post", "headers" and "body" the caller has
 * set after ngx_svc_federation_fetch_new().  For a reply, or from an event of
 * flow->fetch: returns what done() returns, or what goes to
 * ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_fetch(ngx_svc_federation_flow_t *flow,
    size_t limit, ngx_int_t (*done)(ngx_svc_federation_flow_t *flow));

/*
 * Adds flow->access_token to the headers of flow->fetch.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_fetch_bearer(ngx_svc_federation_flow_t *flow);

/* Makes flow->fetch as good as new. */
void ngx_svc_federation_fetch_new(ngx_svc_federation_flow_t *flow);

/*
 * Looks whether there is an answer.  Returns NGX_OK; NGX_DECLINED with
 * sr->error set, and flow->why: "what" names what was asked for; or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_answered(ngx_svc_federation_flow_t *flow,
    const char *what);

/*
 * Fails with the answer's status, and the code of its error if it has one; json
 * may be NULL.  Returns NGX_DECLINED or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_fetch_status(ngx_svc_federation_flow_t *flow,
    const char *what, const cJSON *json);

/*
 * Reads the JSON of an answer with status 200.  Returns NGX_OK with *json;
 * NGX_DECLINED with sr->error set, and flow->why: "what" names what was asked
 * for; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_fetched(ngx_svc_federation_flow_t *flow,
    const char *what, cJSON **json);


#endif /* _NGX_SVC_FEDERATION_FETCH_H_INCLUDED_ */
