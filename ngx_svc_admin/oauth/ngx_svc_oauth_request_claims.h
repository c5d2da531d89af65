/*
 * Authorization requests: the claims that a client asks for by their names
 * (OpenID Connect Core 1.0, 5.5).
 */

#ifndef _NGX_SVC_OAUTH_REQUEST_CLAIMS_H_INCLUDED_
#define _NGX_SVC_OAUTH_REQUEST_CLAIMS_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


/*
 * Takes the parameter "claims" into ar->claims, ar->subject and ar->acr.
 * Returns NGX_OK; NGX_DECLINED with ar->error set; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_request_claims(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);


#endif /* _NGX_SVC_OAUTH_REQUEST_CLAIMS_H_INCLUDED_ */
