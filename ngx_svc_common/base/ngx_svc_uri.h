/*
 * The characters of URIs, and one spelling of them (RFC 3986).
 */

#ifndef _NGX_SVC_URI_H_INCLUDED_
#define _NGX_SVC_URI_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * How many bytes from the start on are such as a URI without a fragment has;
 * len: all of them.
 */
NGX_SVC_API size_t ngx_svc_uri_bytes(const u_char *p, size_t len);

/*
 * 6.2.2.1 and 6.2.3: "scheme://host[:port]" in lower case, without the port that
 * "https" or "http" has.  Returns the end of what is written, which is not longer.
 */
NGX_SVC_API u_char *ngx_svc_uri_origin(u_char *dst, u_char *p,
    const u_char *end);

/*
 * 6.2.2.2: what is behind the host, with "~" for "%7E", and "%2F" for "%2f".
 * Returns the end of what is written, which is not longer; NULL: a "%" is not
 * that of a byte, or is that of a control character.
 */
NGX_SVC_API u_char *ngx_svc_uri_path(u_char *dst, const u_char *p,
    const u_char *end);


#endif /* _NGX_SVC_URI_H_INCLUDED_ */
