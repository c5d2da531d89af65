/*
 * Characters and JSON strings inside of filters and paths.
 */

#ifndef _NGX_SVC_SCIM_TEXT_H_INCLUDED_
#define _NGX_SVC_SCIM_TEXT_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * Decodes one character of strict UTF-8 (RFC 3629) and moves *pos behind it;
 * *pos must be below end.  Returns 0 when it is not valid, or is a NUL.
 */
uint32_t ngx_svc_scim_decode(const u_char **pos, const u_char *end);

/*
 * Reads a JSON string (RFC 8259, 7) that begins with the quote at *pos, and
 * moves *pos behind its closing quote.  The unescaped text goes to dst, which
 * has room for end - *pos bytes, or is NULL when only the syntax matters.
 *
 * Returns the number of bytes; or NGX_ERROR when there is no quote, the string
 * does not end, or it holds a byte that is not valid, a NUL or a lone
 * surrogate.
 */
ssize_t ngx_svc_scim_string(const u_char **pos, const u_char *end,
    u_char *dst);


#endif /* _NGX_SVC_SCIM_TEXT_H_INCLUDED_ */
