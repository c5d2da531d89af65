/*
 * Redirect URIs of applications.
 */

#ifndef _NGX_SVC_APPLICATION_REDIRECT_H_INCLUDED_
#define _NGX_SVC_APPLICATION_REDIRECT_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * 1: a code may be sent there.  "https", or "http" of a loopback host; without
 * a user, a fragment, a "*", control characters and segments "..", however they
 * are written.
 */
ngx_uint_t ngx_svc_application_redirect(const ngx_str_t *uri);

/*
 * Of a redirect URI of a loopback host what stands before its port and what
 * stands behind it: two that are the same in both differ in the port alone (RFC
 * 8252, 7.3).  They point into uri.  NGX_OK; NGX_DECLINED: it is none.
 */
ngx_int_t ngx_svc_application_redirect_loopback(const ngx_str_t *uri,
    ngx_str_t *before, ngx_str_t *behind);


#endif /* _NGX_SVC_APPLICATION_REDIRECT_H_INCLUDED_ */
