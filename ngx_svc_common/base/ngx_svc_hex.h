/*
 * Hexadecimal digits, of either case, as bytes.
 */

#ifndef _NGX_SVC_HEX_H_INCLUDED_
#define _NGX_SVC_HEX_H_INCLUDED_


#include "ngx_svc_common.h"


/* Reads n bytes, of 2 * n digits; NGX_DECLINED: something else is there. */
NGX_SVC_API ngx_int_t ngx_svc_hex(const u_char *text, size_t n, u_char *out);

/*
 * A bytea as PostgreSQL writes it: "\x", and digits.  *len: how many bytes out
 * has room for, and then how many there are.  NGX_DECLINED: too many, or no
 * bytea.
 */
NGX_SVC_API ngx_int_t ngx_svc_hex_bytea(const ngx_str_t *text, u_char *out,
    size_t *len);


#endif /* _NGX_SVC_HEX_H_INCLUDED_ */
