/*
 * Redirect URIs of applications.
 */

#ifndef _NGX_SVC_APPLICATION_REDIRECT_H_INCLUDED_
#define _NGX_SVC_APPLICATION_REDIRECT_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * 1: a code may be sent there.  "https", or "http" of 127.0.0.1, [::1] or
 * localhost; without a user, a fragment, a "*", control characters, segments
 * "..", and in the query what is added to it, however they are written.
 */
ngx_uint_t ngx_svc_application_redirect(const ngx_str_t *uri);

/*
 * Of a redirect URI of a loopback host, however that is written, what stands
 * before its port; of the three hosts that "http" may have, what stands behind
 * it, too, else NULL: two that are the same in both differ in the port alone
 * (RFC 8252, 7.3).  They point into uri.  NGX_OK; NGX_DECLINED: it is none.
 */
ngx_int_t ngx_svc_application_redirect_loopback(const ngx_str_t *uri,
    ngx_str_t *before, ngx_str_t *behind);


#endif /* _NGX_SVC_APPLICATION_REDIRECT_H_INCLUDED_ */
