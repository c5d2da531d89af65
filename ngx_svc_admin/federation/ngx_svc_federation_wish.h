/*
 * How an application wants somebody to sign in, as the address says that a
 * sign-in leads to: it is asked of the identity provider, too.
 */

#ifndef _NGX_SVC_FEDERATION_WISH_H_INCLUDED_
#define _NGX_SVC_FEDERATION_WISH_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * Takes from flow->return_to whether to sign in again, max_age, acr_values, and
 * login_hint if there is no flow->hint.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_wish(ngx_svc_federation_flow_t *flow);

/* Adds classes, with spaces between them, to flow->acr_values. */
ngx_int_t ngx_svc_federation_wish_acr(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *classes);


#endif /* _NGX_SVC_FEDERATION_WISH_H_INCLUDED_ */
