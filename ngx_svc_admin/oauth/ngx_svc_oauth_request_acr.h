/*
 * Authorization requests: how well the user must have signed in (OpenID Connect
 * Core 1.0, 3.1.2.1, acr_values; RFC 9470).
 */

#ifndef _NGX_SVC_OAUTH_REQUEST_ACR_H_INCLUDED_
#define _NGX_SVC_OAUTH_REQUEST_ACR_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


/*
 * Takes the parameter "acr_values", with spaces between the classes, into
 * ar->acr.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_acr(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);

/*
 * Adds a class to ar->acr, behind those that the client wants more.  A class
 * that we do not know is left out, but ar->acr is an array then, too, if an
 * empty one.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_acr_add(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *name);


#endif /* _NGX_SVC_OAUTH_REQUEST_ACR_H_INCLUDED_ */
