/*
 * Flows of a session: one that links an identity to its user, and a step-up.
 */

#ifndef _NGX_SVC_FEDERATION_OWN_H_INCLUDED_
#define _NGX_SVC_FEDERATION_OWN_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * For the prepare of a start, once the limits have answered: adds the session's
 * statement, and those of the route.  Returns what a prepare returns.
 */
ngx_int_t ngx_svc_federation_own_begin(ngx_svc_login_t *login);

/* For its reply: takes the session's tenant. */
void ngx_svc_federation_own_tenant(ngx_svc_federation_flow_t *flow);

/*
 * For the reply that has taken a flow: if it is a session's, has each round
 * trip from now on begin with that session, whose cookie must have come.
 * Returns NGX_OK; NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_own_return(ngx_svc_federation_flow_t *flow);

/*
 * For a reply, or from an event: does with flow->proof what the flow is for.
 * Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_own(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_OWN_H_INCLUDED_ */
