/*
 * base64url without padding (RFC 4648, 5), with one spelling of each value.
 */

#ifndef _NGX_SVC_BASE64_H_INCLUDED_
#define _NGX_SVC_BASE64_H_INCLUDED_


#include "ngx_svc_common.h"


#define ngx_svc_base64url_len(n)  (((n) * 4 + 2) / 3)


/*
 * Decodes a text.  Unlike ngx_decode_base64url() it declines padding, and bits
 * after the last byte that are not 0.  out has room for len * 3 / 4 bytes;
 * *out_len is set.  Returns NGX_OK or NGX_DECLINED.
 */
NGX_SVC_API ngx_int_t ngx_svc_base64url_decode(const u_char *text, size_t len,
    u_char *out, size_t *out_len);

/*
 * Writes ngx_svc_base64url_len(len) characters, and returns what follows them.
 */
NGX_SVC_API u_char *ngx_svc_base64url(u_char *p, const u_char *data,
    size_t len);


#endif /* _NGX_SVC_BASE64_H_INCLUDED_ */
