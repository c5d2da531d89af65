/*
 * Passwords as they are compared and hashed.
 */

#ifndef _NGX_SVC_PASSWORD_TEXT_H_INCLUDED_
#define _NGX_SVC_PASSWORD_TEXT_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_PASSWORD_LEN   1024     /* bytes, as sent */

/* Bytes in form C, in which a text is at most three times as long. */

#define NGX_SVC_PASSWORD_TEXT  (3 * NGX_SVC_PASSWORD_LEN)


/*
 * Prepares a password as RFC 8265's OpaqueString: Unicode's spaces become
 * U+0020, then the text is brought into form C; letters keep their case, and
 * nothing is trimmed.  Code points that RFC 8264 has not assigned are allowed:
 * which these are changes with the library.
 *
 * in may have 1 to NGX_SVC_PASSWORD_LEN bytes.  Returns NULL: text has
 * *text_len bytes, which are *points code points, and the caller wipes it.
 * Otherwise returns what is wrong, to follow the member's name, such as "must
 * be valid UTF-8"; ngx_svc_password_text_no_memory when that is not the
 * client's fault.
 *
 * May be called in a thread: uses no pool, no log, no locale.
 */
const char *ngx_svc_password_text(const u_char *in, size_t len,
    u_char text[NGX_SVC_PASSWORD_TEXT], size_t *text_len, size_t *points);

extern const char  ngx_svc_password_text_no_memory[];


#endif /* _NGX_SVC_PASSWORD_TEXT_H_INCLUDED_ */
