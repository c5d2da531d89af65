/*
 * Authorization requests: how well a user has to have signed in (OpenID Connect
 * Core 1.0, 3.1.2.1, acr_values; RFC 9470).
 */

#ifndef _NGX_SVC_OAUTH_REQUEST_ACR_H_INCLUDED_
#define _NGX_SVC_OAUTH_REQUEST_ACR_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


/* Of the parameter, with spaces between the classes.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_request_acr(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);

/*
 * One more class, the least wanted so far: into ar->acr.  One that nobody knows
 * makes ar->acr an array, and is not in it.  As above.
 */
ngx_int_t ngx_svc_oauth_request_acr_add(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *name);


#endif /* _NGX_SVC_OAUTH_REQUEST_ACR_H_INCLUDED_ */
