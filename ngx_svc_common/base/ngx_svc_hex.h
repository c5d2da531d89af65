/*
 * Hexadecimal digits, in upper or lower case, as bytes.
 */

#ifndef _NGX_SVC_HEX_H_INCLUDED_
#define _NGX_SVC_HEX_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * Reads n bytes from 2 * n digits.  Returns NGX_OK, or NGX_DECLINED when a
 * character is no digit.
 */
NGX_SVC_API ngx_int_t ngx_svc_hex(const u_char *text, size_t n, u_char *out);

/*
 * Reads a bytea as PostgreSQL writes it, "\x" and digits.  *len: the room in
 * out, and then the number of bytes.  Returns NGX_OK, or NGX_DECLINED when
 * there are too many bytes, or the text is no bytea.
 */
NGX_SVC_API ngx_int_t ngx_svc_hex_bytea(const ngx_str_t *text, u_char *out,
    size_t *len);


#endif /* _NGX_SVC_HEX_H_INCLUDED_ */
