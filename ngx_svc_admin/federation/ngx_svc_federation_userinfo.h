/*
 * What an identity provider says of a person at its userinfo endpoint (OpenID
 * Connect Core 1.0, 5.3).
 */

#ifndef _NGX_SVC_FEDERATION_USERINFO_H_INCLUDED_
#define _NGX_SVC_FEDERATION_USERINFO_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * From an event: asks for what the ID token has not said of the attributes of
 * the connection's mapping, and then calls done() with NGX_OK, NGX_DECLINED
 * with sr->error set, or NGX_ERROR.  Returns what that returns, or what goes to
 * ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_userinfo(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *url,
    ngx_int_t (*done)(ngx_svc_federation_flow_t *flow, ngx_int_t rc));


#endif /* _NGX_SVC_FEDERATION_USERINFO_H_INCLUDED_ */
