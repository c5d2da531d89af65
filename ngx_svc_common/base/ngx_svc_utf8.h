/*
 * UTF-8 that is valid for every reader (RFC 3629, 4).  Unlike
 * ngx_utf8_decode() these functions decline continuation bytes without a first
 * byte, surrogates, and what is beyond U+10FFFF.
 */

#ifndef _NGX_SVC_UTF8_H_INCLUDED_
#define _NGX_SVC_UTF8_H_INCLUDED_


#include "ngx_svc_common.h"


/* Checks a text.  Returns NGX_OK or NGX_DECLINED. */
NGX_SVC_API ngx_int_t ngx_svc_utf8(const u_char *text, size_t len);

/*
 * Checks one character beyond ASCII, at *p < end.  Returns NGX_OK with *p after
 * it, or NGX_DECLINED with *p as it was.
 */
NGX_SVC_API ngx_int_t ngx_svc_utf8_char(const u_char **p, const u_char *end);


#endif /* _NGX_SVC_UTF8_H_INCLUDED_ */
