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


#endif /* _NGX_SVC_APPLICATION_REDIRECT_H_INCLUDED_ */
