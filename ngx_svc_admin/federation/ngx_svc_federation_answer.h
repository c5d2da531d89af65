/*
 * How a browser that has come back from another site is answered: it is led to
 * a page, whatever has come of its journey.
 */

#ifndef _NGX_SVC_FEDERATION_ANSWER_H_INCLUDED_
#define _NGX_SVC_FEDERATION_ANSWER_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * The "failed" of such a request: sends it to the page that signs people in,
 * with the code of sr->error and the request's id in the fragment, which no log
 * and no Referer has.
 */
ngx_int_t ngx_svc_federation_refuse(ngx_svc_request_t *sr);

/*
 * Sends it there with another fragment, for the flow's tenant, and where it was
 * to lead.
 */
ngx_int_t ngx_svc_federation_page(ngx_svc_request_t *sr,
    const ngx_str_t *fragment);

/* Sends it to where the flow was to lead, or to the user's account. */
ngx_int_t ngx_svc_federation_lead(ngx_svc_login_t *login);

/*
 * For a reply: answers sr->error for NGX_DECLINED, when flow->why, if there is
 * one, is in the audit log, or ends a test; or else 500, and the error log has
 * a line.
 */
ngx_int_t ngx_svc_federation_declined(ngx_svc_request_t *sr, ngx_int_t rc);

/* For a reply: refuses what flow->match refuses, and writes that down. */
ngx_int_t ngx_svc_federation_stop(ngx_svc_federation_flow_t *flow);

/* Sets sr->error to 503: nothing can be fetched.  Returns NGX_DECLINED. */
ngx_int_t ngx_svc_federation_away(ngx_svc_request_t *sr);

/* Sets sr->error to that of a flow that is over.  Returns NGX_DECLINED. */
ngx_int_t ngx_svc_federation_over(ngx_svc_request_t *sr);

/*
 * Sets sr->error to federation_failed, unless there is one, and flow->why, for
 * the audit log; fmt is that of ngx_sprintf().  Returns NGX_DECLINED or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_fail(ngx_svc_federation_flow_t *flow,
    const char *fmt, ...);


#endif /* _NGX_SVC_FEDERATION_ANSWER_H_INCLUDED_ */
