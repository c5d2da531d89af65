/*
 * Redirect URIs of applications.
 */

#ifndef _NGX_SVC_APPLICATION_REDIRECT_H_INCLUDED_
#define _NGX_SVC_APPLICATION_REDIRECT_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * Returns 1 if a code may be sent to this URI: it is "https", or "http" with
 * the host 127.0.0.1, [::1] or localhost.  However they are written, it has no
 * user, no fragment, no "*", no control characters, no segment "..", and in
 * its query none of the parameters that an answer adds.
 */
ngx_uint_t ngx_svc_application_redirect(const ngx_str_t *uri);

/*
 * Splits a redirect URI with a loopback host, however that is written.
 * before: the part in front of the port.  behind: the part after it if the
 * host is one of the three that "http" may have, else no data.  Two URIs that
 * agree in both differ in the port alone (RFC 8252, 7.3).  Both point into
 * uri.  Returns NGX_OK, or NGX_DECLINED: the host is no loopback one.
 */
ngx_int_t ngx_svc_application_redirect_loopback(const ngx_str_t *uri,
    ngx_str_t *before, ngx_str_t *behind);


#endif /* _NGX_SVC_APPLICATION_REDIRECT_H_INCLUDED_ */
