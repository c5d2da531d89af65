/*
 * Base 32, in the alphabets that people type.
 */

#ifndef _NGX_SVC_BASE32_H_INCLUDED_
#define _NGX_SVC_BASE32_H_INCLUDED_


#include "ngx_svc_common.h"


/* RFC 4648, 6, and Crockford's in lower case, which has no i, l, o and u. */
#define NGX_SVC_BASE32_RFC4648    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
#define NGX_SVC_BASE32_CROCKFORD  "0123456789abcdefghjkmnpqrstvwxyz"

#define ngx_svc_base32_len(n)     (((n) * 8 + 4) / 5)


/*
 * Writes ngx_svc_base32_len(len) characters, without padding; returns what
 * follows them.
 */
u_char *ngx_svc_base32(u_char *p, const char *alphabet, const u_char *data,
    size_t len);


#endif /* _NGX_SVC_BASE32_H_INCLUDED_ */
