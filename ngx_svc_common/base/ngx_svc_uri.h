/*
 * The characters of URIs, and one spelling of them (RFC 3986).
 */

#ifndef _NGX_SVC_URI_H_INCLUDED_
#define _NGX_SVC_URI_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * Returns how many bytes from the start on may be in a URI without a fragment;
 * len: all of them may.
 */
NGX_SVC_API size_t ngx_svc_uri_bytes(const u_char *p, size_t len);

/*
 * Writes "scheme://host[:port]" in lower case, without the default port of
 * "https" or "http" (6.2.2.1 and 6.2.3).  Returns the end of what is written,
 * which is not longer than what is read.
 */
NGX_SVC_API u_char *ngx_svc_uri_origin(u_char *dst, u_char *p,
    const u_char *end);

/*
 * Writes what follows the host, with "~" for "%7E", and "%2F" for "%2f"
 * (6.2.2.2).  Returns the end of what is written, which is not longer than what
 * is read; NULL: a "%" does not encode a byte, or encodes a control character.
 */
NGX_SVC_API u_char *ngx_svc_uri_path(u_char *dst, const u_char *p,
    const u_char *end);


#endif /* _NGX_SVC_URI_H_INCLUDED_ */
