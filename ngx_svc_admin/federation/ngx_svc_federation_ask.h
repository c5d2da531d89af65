/*
 * Where a flow leads: the authorization request (OpenID Connect Core 1.0,
 * 3.1.2.1, with PKCE).
 */

#ifndef _NGX_SVC_FEDERATION_ASK_H_INCLUDED_
#define _NGX_SVC_FEDERATION_ASK_H_INCLUDED_


#include "ngx_svc_federation_flow.h"
#include "ngx_svc_oidc_metadata.h"


/*
 * Makes the URL, from the connection's document.  Returns NGX_OK with *url, of
 * the request's pool, or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_ask(ngx_svc_federation_flow_t *flow,
    ngx_str_t *url);

/*
 * Reads the connection's document, or says what is known without one.  Returns
 * NGX_OK; NGX_DECLINED with m->why; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_document(ngx_svc_federation_flow_t *flow,
    ngx_svc_oidc_metadata_t *m);


#endif /* _NGX_SVC_FEDERATION_ASK_H_INCLUDED_ */
