/*
 * What an authorization request has come to, on its way to the client.
 */

#ifndef _NGX_SVC_OAUTH_RESPONSE_H_INCLUDED_
#define _NGX_SVC_OAUTH_RESPONSE_H_INCLUDED_


#include "ngx_svc_oauth_location.h"


/*
 * For a prepare or a reply: sends the browser to the client with ar->code, or
 * sr->error unless that is NONE, in the way that it wants; slug: the tenant's.
 * As of ngx_svc_send().
 */
ngx_int_t ngx_svc_oauth_response(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug);


#endif /* _NGX_SVC_OAUTH_RESPONSE_H_INCLUDED_ */
