/*
 * The answer to an authorization request, on its way to the client.
 */

#ifndef _NGX_SVC_OAUTH_RESPONSE_H_INCLUDED_
#define _NGX_SVC_OAUTH_RESPONSE_H_INCLUDED_


#include "ngx_svc_oauth_location.h"


/*
 * Sends the browser to the client with ar->code, or with sr->error unless its
 * kind is NGX_SVC_E_NONE, in the mode that the client wants.  slug: the
 * tenant's.  Call it in a prepare or a reply.  Returns what ngx_svc_send()
 * does.
 */
ngx_int_t ngx_svc_oauth_response(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug);


#endif /* _NGX_SVC_OAUTH_RESPONSE_H_INCLUDED_ */
