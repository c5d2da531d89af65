/*
 * Who somebody is at GitHub, which has no ID tokens: its API is asked.
 */

#ifndef _NGX_SVC_FEDERATION_GITHUB_H_INCLUDED_
#define _NGX_SVC_FEDERATION_GITHUB_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * From an event: asks who flow->access_token is of, and goes on with
 * ngx_svc_federation_read().  Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_github(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_GITHUB_H_INCLUDED_ */
